//! What can be wrong with a reachability task.

use policert_engine_api::StopReason;
use policert_policy::PolicyError;
use thiserror::Error;

/// An error of this crate. A stop is one of them, so that it is never taken for an answer.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReachError {
    /// A file cannot be read or written.
    #[error("{file}: {source}")]
    Io {
        /// The file.
        file: String,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The task breaks the rules of its format.
    #[error("{file}:{line}:{column}: {message}")]
    Invalid {
        /// The file.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// The problem in words.
        message: String,
    },
    /// The task asks for something that does not exist.
    #[error("{0}")]
    Usage(String),
    /// Task and network do not fit together.
    #[error("{0}")]
    Mismatch(String),
    /// A feature that is not supported.
    #[error("unsupported: {0}")]
    Unsupported(String),
    /// The network's file is wrong.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// The budget ran out, or the user interrupted.
    #[error(transparent)]
    Stop(#[from] StopReason),
}
