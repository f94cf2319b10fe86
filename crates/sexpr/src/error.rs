//! What can be wrong with a file of S-expressions, whatever they mean.

use crate::{Fault, FaultKind, Place};

/// Says why a file of S-expressions cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SexprError {
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
}

impl SexprError {
    /// The error that a fault is in the file of this name with these bytes.
    #[must_use]
    pub fn of(fault: Fault, file: &str, bytes: &[u8]) -> Self {
        let place = Place::of(file, bytes, fault.at);
        let message = fault.message;
        match fault.kind {
            FaultKind::Invalid => Self::Invalid { place, message },
            FaultKind::Unsupported => Self::Unsupported { place, message },
        }
    }
}
