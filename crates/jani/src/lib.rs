//! JANI text to AST to checked AST to model.
//!
//! [`load_model`] reads a model file; [`Loaded::property`] reads properties over it, from the
//! model or from files of their own. Nothing stops at the first problem: all of them come back as
//! [`Diagnostic`]s with file, line and JSON pointer, those that are against the rules of the
//! format apart from those that are merely not supported.
//!
//! The way of a file: `json` (text with places) → `parse` → `ast` → `check` (names, types,
//! constants) → `lower` → [`policert_model::Model`]. Files are written with [`mod@write`].

#![warn(missing_docs)]

mod ast;
mod check;
mod deep_stack;
pub mod diagnostic;
mod infix;
mod json;
mod load;
mod load_options;
mod lower;
mod names;
mod parse;
pub mod property;
mod selector;
mod source;
mod stop;
mod summary;
pub mod write;

pub use diagnostic::{Diagnostic, DiagnosticKind, Severity};
pub use load::{Loaded, LoadedProperty, OwnProperty, load_bytes, load_model};
pub use load_options::LoadOptions;
pub use selector::{PropertyKey, Selector};
pub use stop::StopCheck;
pub use summary::JaniSummary;
