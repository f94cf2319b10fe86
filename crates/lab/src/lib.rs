//! Where policies are made and looked at, without a verdict.
//!
//! - [`train_network()`] trains a network for a control loop, [`learn_policy()`] one that chooses the
//!   labels of a model.
//! - [`train_asnet()`] trains an action schema network for the problems of a domain in PDDL.
//! - [`simulate()`] runs a policy at random.
//! - [`dataset()`] writes states and what a policy chooses in them.
//! - [`convert()`] writes a question for other model checkers.
//!
//! ```
//! use policert_engine_api::{CancelFlag, Silent};
//! use policert_lab::{SimulateRequest, simulate};
//! use policert_problem::ProblemOptions;
//!
//! let model = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/icy_road/model.jani");
//! let mut problem = ProblemOptions::new(model.as_ref());
//! problem.property = Some("careful".to_owned());
//! let request = SimulateRequest { runs: 20, ..SimulateRequest::new(problem) };
//! let outcome = simulate(&request, &CancelFlag::default(), &mut Silent);
//! assert_eq!((outcome.report.runs, outcome.report.endings.unsafe_state.runs), (20, 0));
//! ```

#![warn(missing_docs)]

mod asnet;
mod checkpoint;
mod convert;
mod dataset;
mod learn;
mod simulate;
mod skeleton;
mod train;

pub use policert_convert::PolicyEncoding;
pub use policert_explore::RunEnding;
pub use policert_train::{AsnetConfig, AsnetProgress, DqnConfig, Rewards};

pub use asnet::{
    Architecture, AsnetSizes, AsnetTrainReport, AsnetTrainRequest, Nonlinearity, draw_asnet,
    export_asnet, train_asnet,
};
pub use convert::{ConvertFormat, ConvertReport, ConvertRequest, convert};
pub use dataset::{DatasetReport, DatasetRequest, dataset};
pub use learn::{LearnReport, LearnRequest, LearntFiles, RunsRecord, learn_policy};
pub use simulate::{
    EndingRecord, EndingsRecord, LengthRecord, SimulateReport, SimulateRequest, SimulatedModel,
    SimulatedRun, SimulatedStep, SimulatedVariable, TraceChoice, TraceRecord, TraceStepRecord,
    simulate,
};
pub use skeleton::{SkeletonRequest, WrittenSkeleton, write_skeleton};
pub use train::{HiddenActivation, ObservationChoice, TrainReport, TrainRequest, train_network};
