//! A policy and what it means; policy file formats.
//!
//! A policy is a neural network whose inputs are state variables and whose outputs are labels of
//! the model ([`Policy`]). Its meaning is fixed in one place, [`semantics`]: the scores are those
//! of the real-valued function that the stored weights define, and what is chosen is decided
//! exactly ([`Chooser`]).
//!
//! - **Networks**: [`Network`], read from NNet text ([`nnet`]) and from ONNX ([`onnx`]).
//! - **Evaluation**: in double precision with a rigorous error bound ([`Evaluator`],
//!   [`ErrorBound`]), exact ([`ExactEvaluator`]), and enclosed at any precision
//!   ([`precise_scores`]).
//! - **Interfaces**: [`interface`] says which variables and labels inputs and outputs are.

#![warn(missing_docs)]

pub mod activation;
mod choice;
mod error;
mod evaluate;
mod exact;
mod format;
mod grain;
pub mod interface;
mod json;
mod load;
mod matrix;
mod meter;
mod network;
mod network_file;
pub mod nnet;
pub mod onnx;
mod policy;
mod policy_file;
mod precise;
mod read;
mod requirement;
mod sampling;
mod scores_file;
pub mod semantics;
mod share;
mod single;
pub mod trees;

pub use activation::{Activation, Smooth};
pub use choice::{Choice, Chooser};
pub use error::PolicyError;
pub use evaluate::{ErrorBound, Evaluator};
pub use exact::{ExactEvaluator, ExactScores};
pub use load::{
    LoadedPolicy, PolicyOptions, is_policy_file, load_computing, load_policy, policy_sizes,
    read_trees,
};
pub use matrix::Matrix;
pub use meter::Meter;
pub use network::{
    Domain, ElementType, Elements, Network, NetworkBuilder, NetworkNode, NodeId, Op, Scaling, Step,
    Written, WrittenElements,
};
pub use network_file::NetworkFile;
pub use policy::{Policy, Scoring};
pub use precise::{PreciseScores, precise_scores, precise_scores_at, precise_scores_within};
pub use requirement::Requirement;
pub use sampling::{Drawn, Law};
pub use scores_file::{read_network, read_network_within};
pub use semantics::{ChoiceRule, Filter, Numbers, PolicySemantics, ScoreComparison, Ties};
pub use share::Share;
pub use single::{NarrowestLead, RoundedScores, SingleErrors, SinglePrecision, SingleTrees};
