//! The integration tests of this crate, in one program.

mod arch;
mod benchmarks;
mod choices;
mod descent;
mod questions;
mod random_loops;
mod regions;
mod uncertain;
