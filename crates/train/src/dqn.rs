//! Deep Q-learning of a network that chooses labels (Mnih et al. 2015).
//!
//! Input: a question about a model with a goal, what the network reads and chooses, and parameters.
//! Output: the best network that evaluations found, with its score in runs of its own.
//!
//! 1. Runs through the model with a falling share of random labels, always applicable ones; steps
//!    go into a ring ([`experience`]).
//! 2. Every few steps one step of learning on a random batch ([`learner`]).
//! 3. Every few thousand steps an evaluation of the network as it would be written ([`score`]), and
//!    a checkpoint: training that is continued from it gives the same bytes as one that was never
//!    stopped.

mod config;
mod environment;
mod experience;
mod label_network;
mod learner;
mod masks;
mod score;
mod session;

#[cfg(test)]
mod tests;

use policert_engine_api::{Budget, Question, StopReason};
use policert_explore::StartSampler;

use crate::error::TrainError;
use session::Session;

pub use config::{DqnConfig, Rewards};
pub use environment::Objective;
pub use label_network::LabelNetwork;
pub use score::TrainingScore;

/// Says how training ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DqnEnding {
    /// All steps were made, or an evaluation and the last one were perfect.
    Done,
    /// The budget said stop.
    Stopped(StopReason),
}

/// The result of training.
#[derive(Clone, Debug)]
pub struct DqnTrained {
    /// The best network of all evaluations.
    pub network: LabelNetwork,
    /// The seed that it comes from.
    pub seed: u64,
    /// Its score in runs other than those of the evaluations.
    pub score: TrainingScore,
    /// The way in which training ended.
    pub ending: DqnEnding,
    /// Steps of the policy in the model over all seeds, without evaluations.
    pub steps: u64,
    /// Steps of learning over all seeds.
    pub updates: u64,
}

/// Says where training stands, after each evaluation.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DqnProgress {
    pub seed: u64,
    /// Steps with this seed.
    pub step: u64,
    /// Steps of learning with this seed.
    pub updates: u64,
    /// The evaluation.
    pub score: TrainingScore,
    /// The best evaluation of all.
    pub best: TrainingScore,
}

/// Receives what training tells while it runs.
pub trait DqnObserver {
    /// Called after each evaluation.
    fn progress(&mut self, progress: &DqnProgress);

    /// Returns whether [`checkpoint`](Self::checkpoint) is to be called.
    fn wants_checkpoints(&self) -> bool {
        false
    }

    /// Called after each evaluation with the bytes from which training can be continued.
    ///
    /// # Errors
    /// The reason for which training must end.
    fn checkpoint(&mut self, _bytes: Vec<u8>) -> Result<(), TrainError> {
        Ok(())
    }
}

impl<F: FnMut(&DqnProgress)> DqnObserver for F {
    fn progress(&mut self, progress: &DqnProgress) {
        self(progress);
    }
}

/// Holds what is trained for: a question with a goal, and what the network sees and does.
#[derive(Clone, Copy, Debug)]
pub struct DqnTask<'m> {
    /// The question; its property has a goal.
    pub question: &'m Question<'m>,
    /// The inputs and outputs of the network, and the rewards besides the goal.
    pub objective: &'m Objective,
    /// The states in which runs begin.
    pub starts: &'m StartSampler,
    /// Names the inputs: a checkpoint of another one is refused.
    pub fingerprint: &'m str,
}

/// Trains a network. The same arguments give the same network, whatever the observer does, unless
/// the budget ends it. `checkpoint` is what an earlier run of the same task and parameters wrote.
///
/// # Errors
/// Parameters out of their range, a task without goal, labels or inputs, a modelling error, or a
/// checkpoint of something else.
pub fn train_dqn(
    task: DqnTask<'_>,
    config: &DqnConfig,
    checkpoint: Option<&[u8]>,
    budget: &mut Budget,
    observer: &mut dyn DqnObserver,
) -> Result<DqnTrained, TrainError> {
    config.check()?;
    let missing = |what: &str| Err(TrainError::Config(format!("training: {what}")));
    if task.question.property.goal.is_none() {
        return missing("the property has no objective with a goal");
    }
    if task.objective.outputs.is_empty() {
        return missing("the network has no labels to choose from");
    }
    if task.objective.inputs.is_empty() {
        return missing("the network has no variables to read");
    }
    let mut session = Session::new(task, config)?;
    if let Some(bytes) = checkpoint {
        session.restore(bytes)?;
    }
    session.run(budget, observer)
}
