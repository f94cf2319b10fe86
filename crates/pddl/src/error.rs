//! What can be wrong with a domain or a problem.

use policert_sexpr::{Fault, FaultKind, Place};

/// Says why a task cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PddlError {
    /// The file cannot be read.
    #[error("{file}: {source}")]
    Io {
        /// The file.
        file: String,
        /// The error of the operating system.
        #[source]
        source: std::io::Error,
    },
    /// The file breaks the rules of the format.
    #[error("{place}: {message}")]
    Invalid {
        /// The place in the file.
        place: Place,
        /// The fault, and what would be right.
        message: String,
    },
    /// The file means something that is not supported.
    #[error("{place}: {message}")]
    Unsupported {
        /// The place in the file.
        place: Place,
        /// The unsupported feature, and what is supported instead.
        message: String,
    },
    /// The task has more ground actions than are supported.
    #[error("{0}")]
    TooLarge(String),
    /// An action costs the value of a function that has none.
    #[error("{0}")]
    NoCost(String),
    /// Grounding was stopped before its end.
    #[error("stopped while the task was grounded")]
    Stopped,
}

impl PddlError {
    /// The error that a fault is in the file of this name with these bytes.
    pub(crate) fn of(fault: Fault, file: &str, bytes: &[u8]) -> Self {
        let place = Place::of(file, bytes, fault.at);
        let message = fault.message;
        match fault.kind {
            FaultKind::Invalid => Self::Invalid { place, message },
            FaultKind::Unsupported => Self::Unsupported { place, message },
        }
    }
}
