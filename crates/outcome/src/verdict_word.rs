//! Verdicts in a word.

use policert_engine_api::Verdict;
use serde::Serialize;

use crate::{ExitStatus, Failure};

/// A verdict in a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum VerdictWord {
    /// No unsafe state is reachable.
    Safe,
    /// An unsafe state is reachable.
    Unsafe,
    /// Not known.
    Unknown,
    /// No verdict was asked for but a probability, and it is bounded.
    Probability,
    /// The input is wrong.
    Invalid,
    /// The input uses an unsupported feature.
    Unsupported,
    /// A mistake of this program, or a result that could not be written.
    Error,
}

impl From<&Verdict> for VerdictWord {
    fn from(verdict: &Verdict) -> Self {
        match verdict {
            Verdict::Safe { .. } => Self::Safe,
            Verdict::Unsafe(_) => Self::Unsafe,
            Verdict::Unknown(_) => Self::Unknown,
        }
    }
}

impl From<&Failure> for VerdictWord {
    fn from(failure: &Failure) -> Self {
        match (failure, failure.status()) {
            (Failure::Stopped(_), _) => Self::Unknown,
            (_, ExitStatus::Invalid) => Self::Invalid,
            (_, ExitStatus::Unsupported) => Self::Unsupported,
            _ => Self::Error,
        }
    }
}
