//! JANI text to AST to checked AST to model.

pub mod ast;
pub mod diagnostic;
pub mod json;
pub mod names;
mod parse;
pub mod source;
