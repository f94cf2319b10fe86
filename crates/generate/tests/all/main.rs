//! The integration tests of this crate, in one program.

mod instances;
mod planning;
mod published_racetrack;
