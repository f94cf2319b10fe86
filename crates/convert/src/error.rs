//! What cannot be converted.

use policert_engine_api::EngineError;
use thiserror::Error;

/// Says why there is no conversion.
#[derive(Clone, PartialEq, Debug, Error)]
#[non_exhaustive]
pub enum ConvertError {
    /// Something that the format or the encoding does not have.
    #[error("unsupported: {0}")]
    Unsupported(String),
    /// The model could not be composed, or built.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

pub(crate) fn unsupported<T>(what: impl Into<String>) -> Result<T, ConvertError> {
    Err(ConvertError::Unsupported(what.into()))
}
