//! What can go wrong with an MDP.

use policert_engine_api::EngineError;
use thiserror::Error;

/// An error about an MDP.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum MdpError {
    /// More choices or transitions than can be numbered.
    #[error("more than 4294967295 transitions")]
    TooLarge,
    /// A transition to a state that there is not.
    #[error("a transition leads to state {0}, which does not exist")]
    NoSuchState(u32),
}

impl From<MdpError> for EngineError {
    fn from(error: MdpError) -> Self {
        match error {
            MdpError::TooLarge => Self::Unsupported(error.to_string()),
            MdpError::NoSuchState(_) => Self::Internal(error.to_string()),
        }
    }
}
