//! The endings of runs as data.

use policert_explore::Ending;
use serde::Serialize;

/// Says how a run ends, as data.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EndingWord {
    /// In an unsafe state.
    Unsafe,
    /// In a state of the goal.
    Goal,
    /// In a terminal state.
    Terminal,
    /// Where nothing may happen.
    Stuck,
    /// With an outcome that is no transition.
    Dropped,
    /// Where the choice of the policy cannot be told.
    Undecided,
    /// Cut off.
    CutOff,
}

impl From<Ending> for EndingWord {
    fn from(ending: Ending) -> Self {
        match ending {
            Ending::Unsafe => Self::Unsafe,
            Ending::Goal => Self::Goal,
            Ending::Terminal => Self::Terminal,
            Ending::Stuck => Self::Stuck,
            Ending::Dropped => Self::Dropped,
            Ending::Undecided => Self::Undecided,
            Ending::CutOff => Self::CutOff,
        }
    }
}
