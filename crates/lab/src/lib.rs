//! Where policies are made and looked at, without a verdict.
//!
//! - [`train_network()`] trains a network for a control loop, [`learn_policy()`] one that chooses the
//!   labels of a model.
//! - [`simulate()`] runs a policy at random.
//! - [`dataset()`] writes states and what a policy chooses in them.
//! - [`convert()`] writes a question for other model checkers.

mod convert;
mod dataset;
mod learn;
mod simulate;
mod train;

pub use policert_convert::PolicyEncoding;
pub use policert_explore::Ending;
pub use policert_train::{DqnConfig, Rewards};

pub use convert::{ConvertFormat, ConvertReport, ConvertRequest, convert};
pub use dataset::{DatasetReport, DatasetRequest, dataset};
pub use learn::{LearnReport, LearnRequest, LearntFiles, RunsRecord, learn_policy};
pub use simulate::{
    EndingRecord, EndingWord, EndingsRecord, LengthRecord, SimulateReport, SimulateRequest,
    SimulatedModel, SimulatedRun, SimulatedStep, SimulatedVariable, TraceChoice, TraceRecord,
    TraceStepRecord, simulate,
};
pub use train::{HiddenActivation, ObservationChoice, TrainReport, TrainRequest, train_network};
