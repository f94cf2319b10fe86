//! Independent check of evidence.
//!
//! [`replay`] checks a trace step by step: with the plain semantics of operators and the exact
//! scores of the policy, never with what an engine computed. [`check_invariant`] checks that boxes
//! of states are an inductive invariant. [`check_probability`] checks bounds of the greatest probability of
//! reaching the unsafe states.
//!
//! **Architecture invariant**: nothing here uses an engine or its bounds. A trace that is wrong
//! in any part is rejected; where a choice of the policy cannot be decided, nothing is accepted.

mod applicable;
mod error;
mod interval_scores;
mod invariant;
mod probability;
mod replay;
mod scores;
mod single;
mod stuck;

pub use policert_engine_api::{OverStarts, ValuedState};

pub use error::ReplayError;
pub use interval_scores::IntervalChoices;
pub use invariant::{ChoicesInBoxes, Competing, InvariantError, NothingRefuted, check_invariant};
pub use probability::{
    CertifiedProbability, ProbabilityClaim, ProbabilityError, WitnessPath, WitnessStep,
    check_probability,
};
pub use replay::{Replayed, ReplayedChoice, ReplayedStep, TraceEnd, replay};
pub use scores::StateScores;
