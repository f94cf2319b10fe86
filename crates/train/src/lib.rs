//! Training of network policies: for the labels of models, and for control loops.
//!
//! [`train_dqn`] trains a network that chooses labels by deep Q-learning, in random runs through the
//! compiled model.
//!
//! [`AsnetTraining`] trains an action schema network for the problems of a domain in PDDL, by imitation of
//! a teacher that knows shortest ways to the goal.
//!
//! [`train`] trains a network for a [`Plant`] by deep deterministic policy gradient (DDPG). The
//! network reads the state, or the cell that contains it ([`Observation`]): then all states of a
//! cell get one action, and reachable boxes can be computed without looking into the network. The
//! result is an [`Actor`], which is written as an ONNX file with weights in single precision.
//!
//! Training for a control loop ends when every run of an evaluation reaches the goal and avoids the unsafe set, both
//! with a margin that falls from run to run. That is no proof; `policert reach` proves or refutes.
//!
//! **Reproducible**: one thread, one seed, no order of a hash map; the same plant, configuration
//! and machine give the same bytes. Another machine may round `tanh` differently.
//!
//! **Why no library for tensors**: the networks here have from two layers of 20 to four layers of
//! 200 neurons. The perceptron with its gradients and Adam are some 200 lines that build in seconds
//! and are tested against differences; `candle` takes over four minutes of processor time to build.

mod actor;
mod adam;
mod archive;
mod asnet;
mod config;
mod ddpg;
mod dqn;
mod error;
mod kernel;
mod noise;
mod observation;
mod perceptron;
mod plant;
mod replay_buffer;
mod run;
mod training;

pub use actor::Actor;
pub use adam::Adam;
pub use asnet::{
    AsnetConfig, AsnetObserver, AsnetProgress, AsnetRun, AsnetTrained, AsnetTraining, asnet_run,
};
pub use config::DdpgConfig;
pub use dqn::{
    DqnConfig, DqnEnding, DqnObserver, DqnProgress, DqnTask, DqnTrained, LabelNetwork, Objective,
    Rewards, TrainingScore, train_dqn,
};
pub use error::TrainError;
pub use noise::{Noise, NoiseKind};
pub use observation::{Cells, Observation};
pub use perceptron::{BatchTrace, LayerActivation, Perceptron};
pub use plant::{Plant, PlantRegion, PlantSide};
pub use policert_explore::Random;
pub use replay_buffer::{ReplayBuffer, StoredTransition};
pub use run::TrainingEvaluation;
pub use training::{Trained, TrainingEnding, TrainingProgress, train};
