//! Exit codes: how a run ended, as a number for scripts (`docs/exit-codes.md`).

use policert_engine_api::{StopReason, UnknownReason};

/// Says how a run ended.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum ExitStatus {
    /// The policy is safe, or a command without verdict succeeded.
    Safe = 0,
    /// The policy is unsafe.
    Unsafe = 10,
    /// No conclusive answer.
    Unknown = 20,
    /// The time limit was reached.
    Time = 30,
    /// The memory limit was reached.
    Memory = 31,
    /// Another limit was reached, such as the one on states.
    OtherBudget = 32,
    /// Interrupted by the user.
    Interrupted = 33,
    /// A model, property or policy breaks the rules of its format, or they do not fit together.
    Invalid = 40,
    /// An input uses a feature that is not supported.
    Unsupported = 41,
    /// The command line is wrong.
    Usage = 42,
    /// A mistake of this program.
    Internal = 50,
    /// Evidence that does not show what it claims.
    Rejected = 51,
}

impl ExitStatus {
    /// All of them, in the order of their codes.
    pub const ALL: [Self; 12] = [
        Self::Safe,
        Self::Unsafe,
        Self::Unknown,
        Self::Time,
        Self::Memory,
        Self::OtherBudget,
        Self::Interrupted,
        Self::Invalid,
        Self::Unsupported,
        Self::Usage,
        Self::Internal,
        Self::Rejected,
    ];

    /// The code.
    #[must_use]
    pub fn code(self) -> u8 {
        self as u8
    }

    /// The status that a run ends with whose answer is not known.
    #[must_use]
    pub fn of_unknown(reason: &UnknownReason) -> Self {
        match reason {
            UnknownReason::Stopped(reason) => Self::of_stop(*reason),
            UnknownReason::StepLimit { .. } => Self::OtherBudget,
            _ => Self::Unknown,
        }
    }

    /// The status that a stop ends with.
    #[must_use]
    pub fn of_stop(reason: StopReason) -> Self {
        match reason {
            StopReason::Time => Self::Time,
            StopReason::Memory => Self::Memory,
            StopReason::Interrupted => Self::Interrupted,
            _ => Self::OtherBudget,
        }
    }
}
