//! Why an engine gives no answer at all.

use policert_model::{ComposeError, ModellingError, SolutionsError};
use thiserror::Error;

use crate::StopReason;

/// An error of an engine. A stop is one of them, so that `?` carries it past every place that
/// could take it for an answer.
#[derive(Clone, PartialEq, Debug, Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The budget ran out, or the user interrupted.
    #[error(transparent)]
    Stop(#[from] StopReason),
    /// The model breaks its own rules in a reachable state.
    #[error("modelling error: {0}")]
    Modelling(Box<ModellingError>),
    /// The engine cannot take this model or policy; the text names the feature.
    #[error("unsupported: {0}")]
    Unsupported(String),
    /// A solver gave up on a query that has to be decided; the verdict is unknown.
    #[error("not decided: {0}")]
    Undecided(String),
    /// An evidence that does not replay or another contradiction: our own mistake.
    #[error("internal error: {0}")]
    Internal(String),
}

impl From<ModellingError> for EngineError {
    fn from(error: ModellingError) -> Self {
        Self::Modelling(Box::new(error))
    }
}

impl From<ComposeError> for EngineError {
    fn from(error: ComposeError) -> Self {
        Self::Unsupported(error.to_string())
    }
}

impl From<SolutionsError> for EngineError {
    fn from(error: SolutionsError) -> Self {
        Self::Unsupported(format!("start condition: {error}"))
    }
}
