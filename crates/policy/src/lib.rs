//! a policy and what it means; policy file formats
policert-policy = { path = "crates/policy" }.
