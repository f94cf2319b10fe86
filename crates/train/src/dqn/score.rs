//! How a network does in random runs.

use std::cmp::Ordering;

use policert_explore::{EpisodeEnd, Random};

use super::environment::Environment;
use super::label_network::LabelNetwork;
use crate::error::TrainError;

/// Says how a network does in random runs from start states.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct TrainingScore {
    pub runs: u32,
    /// Runs that reach the goal, and no unsafe state before.
    pub goal: u32,
    /// Runs that reach an unsafe state before the goal.
    pub unsafe_runs: u32,
    /// Runs that end elsewhere: a label that is not applicable, or nothing that can happen.
    pub stuck: u32,
    /// Runs that were cut off.
    pub cut_off: u32,
    /// Mean sum of rewards, not discounted.
    pub mean_return: f64,
    /// Mean number of the policy's choices.
    pub mean_choices: f64,
}

impl TrainingScore {
    /// Share of runs that reach the goal.
    #[must_use]
    pub fn success(&self) -> f64 {
        f64::from(self.goal) / f64::from(self.runs.max(1))
    }

    /// Returns whether every run reaches the goal.
    #[must_use]
    pub fn is_perfect(&self) -> bool {
        self.goal == self.runs
    }

    /// Returns which is better: a competent one; of two such, that with fewer unsafe runs; then
    /// that with more runs that reach the goal, then with the greater return. Of two that are not
    /// competent, unsafe runs count only after those that reach the goal, or a network that does
    /// nothing would be the best.
    pub(crate) fn compare(&self, other: &Self, competent: f64) -> Ordering {
        let is_competent = |score: &Self| score.success() >= competent;
        let safer = other.unsafe_runs.cmp(&self.unsafe_runs);
        let abler = self.goal.cmp(&other.goal);
        let by_runs = match (is_competent(self), is_competent(other)) {
            (true, true) => safer.then(abler),
            (a, b) => a.cmp(&b).then(abler).then(safer),
        };
        by_runs.then(self.mean_return.total_cmp(&other.mean_return))
    }

    fn count(&mut self, end: EpisodeEnd) {
        self.runs += 1;
        match end {
            EpisodeEnd::Goal => self.goal += 1,
            EpisodeEnd::Unsafe => self.unsafe_runs += 1,
            EpisodeEnd::Stuck => self.stuck += 1,
            EpisodeEnd::CutOff => self.cut_off += 1,
        }
    }
}

/// Runs a network from start states; always the same ones for the same random numbers. Where
/// `go_on` says no, it ends with the runs so far, of which there is at least one.
pub(crate) fn evaluate(
    environment: &mut Environment<'_>,
    network: &mut LabelNetwork,
    mask: bool,
    stuck: f64,
    runs: u32,
    mut random: Random,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<TrainingScore, TrainError> {
    let mut score = TrainingScore::default();
    let mut row = Vec::new();
    let (mut rewards, mut choices) = (0.0, 0.0);
    'runs: while score.runs < runs {
        // Each run has numbers of its own, whatever the network did in those before.
        let mut random = random.fork();
        let mut at_start = None;
        environment.begin(&mut random, &mut |end| {
            at_start = Some(end);
            true
        })?;
        let end = loop {
            if let Some(end) = at_start {
                break end;
            }
            if !go_on() {
                if score.runs > 0 {
                    break 'runs;
                }
                break EpisodeEnd::CutOff;
            }
            row.clear();
            environment.observe(&mut row);
            let applicable = environment.applicable();
            let choice = network.choose(&row, mask.then_some(applicable));
            let Some(output) = choice.filter(|&k| applicable[k]) else {
                rewards += stuck;
                break EpisodeEnd::Stuck;
            };
            choices += 1.0;
            let arrival = environment.act(output, &mut random)?;
            rewards += arrival.reward;
            if let Some(end) = arrival.end {
                break end;
            }
        };
        score.count(end);
        if !go_on() {
            break;
        }
    }
    score.mean_return = rewards / f64::from(score.runs.max(1));
    score.mean_choices = choices / f64::from(score.runs.max(1));
    Ok(score)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doing_nothing_is_not_the_best() {
        let score = |goal, unsafe_runs| TrainingScore {
            runs: 100,
            goal,
            unsafe_runs,
            stuck: 100 - goal - unsafe_runs,
            ..TrainingScore::default()
        };
        let better = |a: TrainingScore, b: TrainingScore| a.compare(&b, 0.9) == Ordering::Greater;
        assert!(better(score(50, 50), score(0, 0)));
        assert!(better(score(92, 0), score(97, 3)));
        assert!(better(score(91, 9), score(89, 0)));
        assert!(better(score(97, 0), score(92, 0)));
    }
}
