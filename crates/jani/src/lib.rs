//! JANI text to AST to checked AST to model.

pub mod json;
pub mod source;
