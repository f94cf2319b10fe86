//! The integration tests of this crate, in one program.

mod collection;
mod diagnostics;
mod lowering;
mod properties;
mod readings;
mod robustness;
