//! What can go wrong before training starts, or when its result is written.

use policert_engine_api::EngineError;
use policert_policy::PolicyError;

/// Says why there is no trained network.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrainError {
    /// The configuration does not make sense, or does not fit the plant.
    #[error("{0}")]
    Config(String),
    /// A setting that makes no sense.
    #[error("{0}")]
    Setting(String),
    /// A modelling error, or what is not supported.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A checkpoint that cannot be continued from.
    #[error("checkpoint: {0}")]
    Checkpoint(String),
    /// Weights outgrew single precision.
    #[error(transparent)]
    Policy(#[from] PolicyError),
}
