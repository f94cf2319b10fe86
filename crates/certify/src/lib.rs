//! Independent check of evidence.
//!
//! [`replay`] checks a trace step by step: with the plain semantics of operators and the exact
//! scores of the policy, never with what an engine computed. [`check_invariant`] checks that boxes
//! of states are an inductive invariant, [`check_ranks`] that every run reaches a goal state.
//! [`check_probability`] checks bounds of the greatest probability of reaching the unsafe states by state,
//! [`check_pieces`] upper bounds by box. [`check_refutation`] checks that no input of a network satisfies a
//! property, [`outputs_at`] says what its outputs are at one that is to satisfy it. [`LoopCheck`] checks that boxes
//! contain all states of a control loop, [`check_violation`] that trajectories show that it does not meet its
//! specification.
//!
//! **Architecture invariant**: nothing here uses an engine or its bounds. A trace that is wrong
//! in any part is rejected; where a choice of the policy cannot be decided, nothing is accepted.

mod applicable;
mod box_steps;
mod control_loop;
mod cover;
mod error;
mod interval_scores;
mod invariant;
mod probability;
mod ranks;
mod refutation;
mod replay;
mod scores;
mod shares;
mod single;
mod single_trees;
mod stuck;
mod witness;

pub use policert_engine_api::{OverStarts, ValuedPieces, ValuedState};

pub use control_loop::{
    CellPrecision, LoopBox, LoopCheck, LoopChoices, LoopClaim, LoopError, LoopFlaw, LoopPart,
    LoopRun, LoopViolation, Stretches, ViolationError, check_violation,
};
pub use error::ReplayError;
pub use interval_scores::IntervalChoices;
pub use invariant::{ChoicesInBoxes, Competing, InvariantError, NothingRefuted, check_invariant};
pub use probability::{
    CertifiedProbability, ProbabilityClaim, ProbabilityError, WitnessPath, WitnessStep,
    check_pieces, check_probability,
};
pub use ranks::check_ranks;
pub use refutation::{
    ElementSide, InputPart, MultiplierSum, Plane, RefutationError, RefutationStep, Relaxation,
    check_refutation,
};
pub use replay::{Replayed, ReplayedChoice, ReplayedStep, TraceEnd, replay};
pub use scores::StateScores;
pub use witness::outputs_at;
