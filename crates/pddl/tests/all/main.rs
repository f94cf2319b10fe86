//! Tests of the crate from outside.

mod diagnostics;
mod grounding;
mod interpreter;
