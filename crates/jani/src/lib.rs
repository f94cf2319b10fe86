//! JANI text to AST to checked AST to model
policert-jani = { path = "crates/jani" }.
