//! variables, labels, operators, states, properties
policert-model = { path = "crates/model" }.
