//! Parameters of training.

use crate::error::TrainError;
use crate::noise::NoiseKind;
use crate::perceptron::LayerActivation;

/// Parameters of training.
#[derive(Clone, PartialEq, Debug)]
pub struct DdpgConfig {
    /// Seed of all random numbers. [default: 1]
    pub seed: u64,
    /// Widths of the actor's hidden layers. [default: 20, 20]
    pub hidden: Vec<usize>,
    /// The function that hidden layers of the actor apply; not `Identity`. The output layer applies
    /// tanh. [default: tanh]
    pub activation: LayerActivation,
    /// Widths of the critic's hidden layers, which apply ReLU. [default: 64, 64]
    pub critic_hidden: Vec<usize>,
    /// Length of the actor's steps. [default: 5e-4]
    pub actor_rate: f64,
    /// Length of the critic's steps. [default: 1e-3]
    pub critic_rate: f64,
    /// Weight of the next step's value. [default: 0.99] [range: 0 to 1, exclusive]
    pub discount: f64,
    /// Share by which target networks follow. [default: 0.01] [range: above 0, to 1]
    pub target_share: f64,
    /// Transitions in one batch. [default: 64]
    pub batch: usize,
    /// Transitions that are kept. [default: 100 000]
    pub buffer: usize,
    /// Steps with random actions before learning starts. [default: 1000]
    /// [range: 1 to `buffer`]
    pub warm_up: usize,
    /// Kind of the exploration noise. [default: Ornstein-Uhlenbeck]
    pub noise: NoiseKind,
    /// Deviation of the noise in a step at the beginning and at the end of its decay, in units of
    /// half the action's range. [default: 0.3, 0.05]
    pub deviation: (f64, f64),
    /// Runs over which the noise and the margin of evaluations decay. [default: 200]
    pub decay: u32,
    /// Runs of one attempt. [default: 500]
    pub episodes: u32,
    /// Attempts from new random weights. [default: 20]
    pub attempts: u32,
    /// Runs between evaluations. [default: 5]
    pub evaluate_every: u32,
    /// Start states of an evaluation: corners, the middle, then random ones. [default: 50]
    pub evaluation_starts: usize,
    /// Share of its widths by which the goal is narrower, and the unsafe set wider, than the task
    /// says, at either side. Half of it is the share of the steps that evaluations leave unused.
    /// Learning always aims at this margin; that of evaluations decays to 0, because no network may
    /// keep it. [default: 0.1] [range: 0 to below 0.5]
    pub margin: f64,
}

impl Default for DdpgConfig {
    fn default() -> Self {
        Self {
            seed: 1,
            hidden: vec![20, 20],
            activation: LayerActivation::Tanh,
            critic_hidden: vec![64, 64],
            actor_rate: 5e-4,
            critic_rate: 1e-3,
            discount: 0.99,
            target_share: 0.01,
            batch: 64,
            buffer: 100_000,
            warm_up: 1000,
            noise: NoiseKind::default(),
            deviation: (0.3, 0.05),
            decay: 200,
            episodes: 500,
            attempts: 20,
            evaluate_every: 5,
            evaluation_starts: 50,
            margin: 0.1,
        }
    }
}

impl DdpgConfig {
    /// Returns how far noise and margin have decayed after some runs: from 0 to 1.
    pub(crate) fn decayed(&self, runs: u32) -> f64 {
        (f64::from(runs) / f64::from(self.decay.max(1))).min(1.0)
    }

    /// Checks all ranges.
    ///
    /// # Errors
    /// The first parameter that is out of its range.
    pub fn check(&self) -> Result<(), TrainError> {
        let positive = |x: f64| x.is_finite() && x > 0.0;
        let layers = |widths: &[usize]| {
            !widths.is_empty() && widths.iter().all(|width| (1..=MAX_WIDTH).contains(width))
        };
        let rules = [
            (layers(&self.hidden), "hidden layers have from 1 to 10000 neurons"),
            (layers(&self.critic_hidden), "hidden layers have from 1 to 10000 neurons"),
            (are_small(&self.hidden) && are_small(&self.critic_hidden), TOO_MANY_WEIGHTS),
            (self.activation != LayerActivation::Identity, "hidden layers need an activation"),
            (positive(self.actor_rate) && positive(self.critic_rate), "rates are positive"),
            (positive(self.discount) && self.discount < 1.0, "the discount is between 0 and 1"),
            (
                positive(self.target_share) && self.target_share <= 1.0,
                "the share of target networks is above 0 and at most 1",
            ),
            (self.batch > 0 && self.buffer > 0, "batch and buffer are not empty"),
            (
                (1..=self.buffer).contains(&self.warm_up),
                "the random steps at the beginning are at least one and fit into the buffer",
            ),
            (
                [self.deviation.0, self.deviation.1].iter().all(|d| d.is_finite() && *d >= 0.0),
                "deviations are not negative",
            ),
            (
                self.evaluate_every > 0 && self.evaluation_starts > 0,
                "there is something to evaluate",
            ),
            (self.attempts > 0 && self.episodes > 0, "there is at least one run"),
            ((0.0..0.5).contains(&self.margin), "the margin is from 0 to below 0.5"),
        ];
        match rules.iter().find(|(holds, _)| !holds) {
            None => Ok(()),
            Some((_, rule)) => Err(TrainError::Config(format!("training: {rule}"))),
        }
    }
}

/// Layers wider than this are refused.
pub(crate) const MAX_WIDTH: usize = 10_000;

/// Networks with more weights between hidden layers are refused: one step of learning takes seconds
/// then, in which no limit is looked at.
const MAX_WEIGHTS: usize = 4_000_000;

pub(crate) const TOO_MANY_WEIGHTS: &str =
    "there are at most 4 000 000 weights between hidden layers";

/// Returns whether there are not too many weights between layers of these widths.
pub(crate) fn are_small(widths: &[usize]) -> bool {
    widths.windows(2).map(|pair| pair[0].saturating_mul(pair[1])).sum::<usize>() <= MAX_WEIGHTS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_checked() {
        assert!(DdpgConfig::default().check().is_ok());
        let wrong: [fn(&mut DdpgConfig); 7] = [
            |c| c.hidden = vec![10_000, 10_000],
            |c| c.hidden.clear(),
            |c| c.activation = LayerActivation::Identity,
            |c| c.discount = 1.0,
            |c| c.margin = 0.5,
            |c| c.actor_rate = f64::NAN,
            |c| c.critic_hidden = vec![0],
        ];
        for spoil in wrong {
            let mut config = DdpgConfig::default();
            spoil(&mut config);
            assert!(config.check().is_err(), "{config:?}");
        }
    }
}
