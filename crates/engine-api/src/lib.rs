//! verdict, evidence, budget, events
policert-engine-api = { path = "crates/engine-api" }.
