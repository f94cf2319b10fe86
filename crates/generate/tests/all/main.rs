//! The integration tests of this crate, in one program.

mod instances;
mod published_racetrack;
