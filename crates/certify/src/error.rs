//! Why a trace is rejected.

use policert_model::{ComposeError, ModellingError};
use thiserror::Error;

/// Says why a trace is no evidence. Steps count from 0; states and operators are written as for a
/// person.
#[derive(Clone, PartialEq, Debug, Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The first state is none of the model.
    #[error("the first state has values that the model's variables do not take: {0}")]
    NoState(String),
    /// The first state is no start state.
    #[error("the first state is no start state: {0}")]
    NoStart(String),
    /// A step leaves a terminal state.
    #[error("step {step} leaves a terminal state: {state}")]
    LeavesTerminal { step: usize, state: String },
    /// An operator that the model does not have.
    #[error("step {step}: {error}")]
    NoOperator {
        step: usize,
        /// The problem with it.
        error: ComposeError,
    },
    /// The operator has another label.
    #[error("step {step}: the operator's label is {actual}, not {claimed}")]
    WrongLabel {
        step: usize,
        /// The label in the trace.
        claimed: String,
        /// The label in the model.
        actual: String,
    },
    /// The operator's guard does not hold.
    #[error("step {step}: {operator} is not enabled in state {state}")]
    NotEnabled { step: usize, operator: String, state: String },
    /// The policy does not choose the label.
    #[error("step {step}: the policy does not choose {label} in state {state}: {reason}")]
    NotChosen {
        step: usize,
        label: String,
        state: String,
        /// The label that has the better claim, in words.
        reason: String,
    },
    /// The policy's choice cannot be decided at the highest precision.
    #[error("step {step}: the policy's choice cannot be decided in state {state}")]
    UndecidedChoice { step: usize, state: String },
    /// The operator has no such outcome in the state.
    #[error("step {step}: {operator} does not lead to the state claimed from state {state}")]
    NoOutcome { step: usize, operator: String, state: String },
    /// The model breaks its own rules on the way.
    #[error("step {step}: {error}")]
    Modelling {
        step: usize,
        /// The problem in words.
        error: Box<ModellingError>,
    },
    /// A run goes on in the state in which it is to be stuck.
    #[error("the run is not stuck at its end: {operator} leads on from state {state}")]
    GoesOn { operator: String, state: String },
    /// A run that is to miss the goal meets it.
    #[error("step {step} leads to a goal state: {state}")]
    MeetsGoal {
        /// The step; 0 for the start state.
        step: usize,
        state: String,
    },
    /// A step of a loop that depends on chance.
    #[error("step {step} of the loop depends on chance: {operator} in state {state}")]
    Chance { step: usize, operator: String, state: String },
    /// The last state is not unsafe.
    #[error("the last state is not unsafe: {0}")]
    NotUnsafe(String),
    /// A meaning of the policy's numbers that exact scores do not have.
    #[error("unsupported: {0}")]
    Unsupported(String),
}
