//! Parameters of deep Q-learning.

use crate::config::{MAX_WIDTH, TOO_MANY_WEIGHTS, are_small};
use crate::error::TrainError;

/// Says what is rewarded. Values are of the order of 1.
#[derive(Clone, PartialEq, Debug)]
pub struct Rewards {
    /// Reaching the goal, which ends a run. [default: 1]
    pub goal: f64,
    /// Reaching an unsafe state, which ends a run. [default: -1]
    pub unsafe_state: f64,
    /// A label that is not applicable, or a state in which nothing can happen: it ends a run.
    /// [default: -1]
    pub stuck: f64,
    /// Each step. [default: -0.01]
    pub step: f64,
    /// Weight of the objective's goal potential, which is scaled to a width of 1: its rise is
    /// rewarded, its fall costs as much. It is not discounted from one state to the next (Ng, Harada
    /// and Russell 1999 do): far from the goal that would be more than what is to be learnt, and
    /// steps cost more than a cycle could gain if weight · (1 − discount) is below two of them.
    /// [default: 5]
    pub potential: f64,
    /// Weight of the size of the objective's step reward, which costs. [default: 0]
    pub step_cost: f64,
}

impl Default for Rewards {
    fn default() -> Self {
        let (potential, step_cost) = (5.0, 0.0);
        Self { goal: 1.0, unsafe_state: -1.0, stuck: -1.0, step: -0.01, potential, step_cost }
    }
}

/// Parameters of deep Q-learning.
#[derive(Clone, PartialEq, Debug)]
pub struct DqnConfig {
    /// Seed of all random numbers. [default: 1]
    pub seed: u64,
    /// The number of networks that are trained, from this seed and those after it; the best is
    /// kept. [default: 1]
    pub seeds: u32,
    /// Widths of the hidden layers, which apply ReLU. [default: 64, 64]
    pub hidden: Vec<usize>,
    /// Rewards.
    pub rewards: Rewards,
    /// True if only applicable labels compete. [default: false]
    pub mask: bool,
    /// Steps in the model for each network, besides evaluations. [default: 1 000 000]
    pub steps: u64,
    /// After how many steps a run is cut off. [default: 200]
    pub horizon: u32,
    /// Weight of the next step's value. [default: 0.95] [range: 0 to 1, exclusive]
    pub discount: f64,
    /// True if the network itself chooses the label whose value the target network gives (van
    /// Hasselt, Guez and Silver 2016). [default: true]
    pub double: bool,
    /// Length of steps at the beginning; falls linearly to a twentieth. [default: 1e-3]
    pub rate: f64,
    /// Transitions in one batch. [default: 64]
    pub batch: usize,
    /// Transitions that are kept. [default: 100 000]
    pub buffer: usize,
    /// Steps with random labels before learning starts; they also say how inputs are scaled.
    /// [default: 2000] [range: `batch` to `buffer`]
    pub warm_up: usize,
    /// Steps in the model for each step of learning. [default: 4]
    pub learn_every: u64,
    /// Steps of learning between copies of the network to the target network. [default: 500]
    pub target_every: u64,
    /// Share of random labels at the beginning and at the end of its decay. [default: 1, 0.05]
    pub exploration: (f64, f64),
    /// Share of all steps over which it decays. [default: 0.3]
    pub exploration_decay: f64,
    /// Steps between evaluations. [default: 20 000]
    pub evaluate_every: u64,
    /// Runs of an evaluation. [default: 200]
    pub evaluation_runs: u32,
    /// Runs of the last evaluation, of the network that is kept. [default: 1000]
    pub final_runs: u32,
    /// Share of runs of an evaluation that reach the goal from which networks count as competent:
    /// among these, fewer unsafe runs decide first. [default: 0.9] [range: 0 to 1]
    pub competent: f64,
}

impl Default for DqnConfig {
    fn default() -> Self {
        Self {
            seed: 1,
            seeds: 1,
            hidden: vec![64, 64],
            rewards: Rewards::default(),
            mask: false,
            steps: 1_000_000,
            horizon: 200,
            discount: 0.95,
            double: true,
            rate: 1e-3,
            batch: 64,
            buffer: 100_000,
            warm_up: 2000,
            learn_every: 4,
            target_every: 500,
            exploration: (1.0, 0.05),
            exploration_decay: 0.3,
            evaluate_every: 20_000,
            evaluation_runs: 200,
            final_runs: 1000,
            competent: 0.9,
        }
    }
}

impl DqnConfig {
    /// Returns how much of `span` of all steps is over: from 0 to 1.
    fn over(&self, step: u64, span: f64) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "a share")]
        let share = step as f64 / self.steps.max(1) as f64;
        if span > 0.0 { (share / span).min(1.0) } else { 1.0 }
    }

    /// Share of random labels at a step.
    pub(crate) fn exploration_at(&self, step: u64) -> f64 {
        let (first, last) = self.exploration;
        first + (last - first) * self.over(step, self.exploration_decay)
    }

    /// Length of learning steps at a step.
    pub(crate) fn rate_at(&self, step: u64) -> f64 {
        self.rate * (1.0 - 0.95 * self.over(step, 1.0))
    }

    /// Checks all ranges.
    ///
    /// # Errors
    /// The first parameter that is out of its range.
    pub fn check(&self) -> Result<(), TrainError> {
        let share = |x: f64| (0.0..=1.0).contains(&x);
        let rewards = &self.rewards;
        let numbers = [
            rewards.goal,
            rewards.unsafe_state,
            rewards.stuck,
            rewards.step,
            rewards.potential,
            rewards.step_cost,
        ];
        let rules = [
            (
                !self.hidden.is_empty() && self.hidden.iter().all(|w| (1..=MAX_WIDTH).contains(w)),
                "--hidden: layers have from 1 to 10000 neurons",
            ),
            (are_small(&self.hidden), TOO_MANY_WEIGHTS),
            (numbers.iter().all(|x| x.is_finite()), "--reward-*: rewards are finite"),
            (self.seeds > 0 && self.steps > 0, "--seeds, --steps: there is at least one of each"),
            (self.horizon > 0, "--horizon: runs have at least one step"),
            (self.discount > 0.0 && self.discount < 1.0, "--discount: it is between 0 and 1"),
            (self.rate.is_finite() && self.rate > 0.0, "--rate: it is positive"),
            (
                self.batch > 0 && (self.batch..=self.buffer).contains(&self.warm_up),
                "--batch, --buffer: the random steps at the beginning fill a batch and fit into the buffer",
            ),
            (
                self.learn_every > 0 && self.target_every > 0,
                "there is at least one step between two of learning, and between two copies",
            ),
            (
                share(self.exploration.0) && share(self.exploration.1),
                "shares of random labels are from 0 to 1",
            ),
            (
                share(self.exploration_decay) && share(self.competent),
                "--competent: the share of competent runs is from 0 to 1, as that of the decay",
            ),
            (
                self.evaluate_every > 0 && self.evaluation_runs > 0 && self.final_runs > 0,
                "there is something to evaluate",
            ),
        ];
        match rules.iter().find(|(holds, _)| !holds) {
            None => Ok(()),
            Some((_, rule)) => Err(TrainError::Setting((*rule).to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_checked() {
        assert!(DqnConfig::default().check().is_ok());
        let wrong: [fn(&mut DqnConfig); 8] = [
            |c| c.hidden = vec![10_000, 10_000],
            |c| c.hidden.clear(),
            |c| c.discount = 1.0,
            |c| c.rate = f64::NAN,
            |c| c.warm_up = c.batch - 1,
            |c| c.buffer = c.warm_up - 1,
            |c| c.exploration.1 = -0.1,
            |c| c.rewards.goal = f64::INFINITY,
        ];
        for spoil in wrong {
            let mut config = DqnConfig::default();
            spoil(&mut config);
            assert!(config.check().is_err(), "{config:?}");
        }
    }

    #[test]
    fn shares_decay() {
        let config = DqnConfig { steps: 1000, ..DqnConfig::default() };
        assert!((config.exploration_at(0) - 1.0).abs() < 1e-12);
        assert!((config.exploration_at(150) - 0.525).abs() < 1e-12);
        assert!((config.exploration_at(900) - 0.05).abs() < 1e-12);
        assert!((config.rate_at(1000) - 5e-5).abs() < 1e-12);
    }
}
