//! JANI text to AST to checked AST to model.

pub mod ast;
mod check;
pub mod diagnostic;
pub mod json;
mod lower;
pub mod names;
mod parse;
pub mod source;
