//! The integration tests of this crate, in one program.

mod collection;
mod diagnostics;
mod lowering;
#[cfg(target_os = "linux")]
mod memory;
mod properties;
mod readings;
mod robustness;
