//! The integration tests of this crate, in one program.

mod prop_expressions;
mod prop_networks;
