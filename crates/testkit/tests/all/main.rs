//! The integration tests of this crate, in one program.

mod agreement;
mod examples;
mod generators;
mod jani_round_trip;
