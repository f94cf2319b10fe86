//! What can be wrong with a domain or a problem.

use policert_sexpr::SexprError;

/// Says why a task cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PddlError {
    /// A file cannot be read, or something in it is wrong or not supported.
    #[error(transparent)]
    File(#[from] SexprError),
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
