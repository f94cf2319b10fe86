//! Models of the papers' domains, written from sizes, options and a seed.
//!
//! A domain's options give an [`DomainInstance`]; [`DomainInstance::files`] are its files, in memory: model,
//! start states, unsafe states, objective, sets of predicates, properties, and the interface of a
//! policy to be trained. The same options give the same bytes.

mod beluga;
mod blocksworld;
mod error;
mod failing;
mod instance;
mod npuzzle;
mod planning;
mod probability;
mod race;
mod racetrack;
mod random;
mod random_model;
mod render;
mod splits;
mod track;
mod transport;
mod variable;

use policert_jani::write as jani;

pub use beluga::{Beluga, MAX_CARGO, MAX_RACKS};
pub use blocksworld::{Blocksworld, MAX_BLOCKS};
pub use error::GenerateError;
pub use failing::Failing;
pub use instance::{DomainInstance, InstanceFile, PolicyShape, Sizes};
pub use npuzzle::{MAX_POSITIONS, NPuzzle};
pub use probability::DecimalProbability;
pub use race::WallCheck;
pub use racetrack::{MAX_STARTS, Racetrack};
pub use random_model::{MAX_RANDOM, RandomModel};
pub use render::StatePicture;
pub use track::{Cell, Track};
pub use transport::{MAX_LOCATIONS, MAX_PACKAGES, Transport};
