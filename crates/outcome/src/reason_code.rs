//! Why there is no conclusive answer, for programs.

use policert_engine_api::{StopReason, UnknownReason};
use serde::Serialize;

use crate::{ExitStatus, Failure};

/// Says why there is no conclusive answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ReasonCode {
    /// The time limit.
    Time,
    /// The memory limit.
    Memory,
    /// The limit on states.
    States,
    /// The limit on the length of paths.
    Steps,
    /// The user interrupted it.
    Interrupted,
    /// An abstract path to an unsafe state, spurious or not decided.
    AbstractPath,
    /// A choice of the policy that is not decided.
    UndecidedChoice,
    /// A run misses the goal only if chance goes against it for ever.
    Chance,
    /// A solver gave up on a query that has to be decided.
    SolverGaveUp,
    /// An input of a network that is not bounded.
    UnboundedInput,
    /// A network that is not made of linear pieces.
    NotPiecewiseLinear,
    /// Something else.
    Other,
    /// The input is wrong.
    Invalid,
    /// The input uses an unsupported feature.
    Unsupported,
    /// The command line is wrong.
    Usage,
    /// Evidence that does not show what it claims.
    Rejected,
    /// A mistake of this program.
    Internal,
}

impl From<StopReason> for ReasonCode {
    fn from(reason: StopReason) -> Self {
        match reason {
            StopReason::Time => Self::Time,
            StopReason::Memory => Self::Memory,
            StopReason::States(_) => Self::States,
            StopReason::Interrupted => Self::Interrupted,
            _ => Self::Other,
        }
    }
}

impl From<&UnknownReason> for ReasonCode {
    fn from(reason: &UnknownReason) -> Self {
        match reason {
            UnknownReason::Stopped(reason) => Self::from(*reason),
            UnknownReason::AbstractPath { .. } => Self::AbstractPath,
            UnknownReason::UndecidedChoice { .. }
            | UnknownReason::NoScores { .. }
            | UnknownReason::CloseScores { .. } => Self::UndecidedChoice,
            UnknownReason::ChanceForEver { .. } => Self::Chance,
            UnknownReason::StepLimit { .. } => Self::Steps,
            UnknownReason::SolverGaveUp(_) => Self::SolverGaveUp,
            _ => Self::Other,
        }
    }
}

impl From<&Failure> for ReasonCode {
    fn from(failure: &Failure) -> Self {
        match (failure, failure.status()) {
            (Failure::Stopped(reason), _) => Self::from(*reason),
            (_, ExitStatus::Invalid) => Self::Invalid,
            (_, ExitStatus::Unsupported) => Self::Unsupported,
            (_, ExitStatus::Usage) => Self::Usage,
            (_, ExitStatus::Rejected) => Self::Rejected,
            _ => Self::Internal,
        }
    }
}
