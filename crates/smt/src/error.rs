//! Why there is no answer.

use std::time::Duration;

use policert_engine_api::{EngineError, StopReason};
use thiserror::Error;

/// Says why a question has no answer. None of these says anything about satisfiability.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum SmtError {
    /// The time limit of the check passed.
    #[error("the SMT solver did not answer within {0:?}")]
    TimeLimit(Duration),
    /// [`SolverLimits::stop`](crate::SolverLimits::stop) asked for the end.
    #[error("the SMT solver was interrupted")]
    Interrupted,
    /// The solver gave up by itself.
    #[error("the SMT solver gave up: {0}")]
    Unknown(String),
    /// The question is outside the language of [`Term`](crate::Term).
    #[error("no SMT encoding: {0}")]
    Unsupported(String),
    /// The solver's model does not satisfy what was asserted: a defect of the solver or of the
    /// translation to its terms.
    #[error("the SMT solver's model does not satisfy the assertion {0}")]
    WrongModel(String),
}

/// No definite answer is an error, never an answer.
impl From<SmtError> for EngineError {
    fn from(error: SmtError) -> Self {
        match error {
            SmtError::TimeLimit(_) => StopReason::Time.into(),
            SmtError::Interrupted => StopReason::Interrupted.into(),
            SmtError::Unknown(_) => Self::Undecided(error.to_string()),
            SmtError::Unsupported(text) => Self::Unsupported(text),
            SmtError::WrongModel(_) => Self::Internal(error.to_string()),
        }
    }
}
