//! The most probable path to the target under the best scheduler, for people.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use policert_engine_api::{Budget, StopReason};
use policert_explore::Induced;
use policert_mdp::{Direction, Solution};

/// The most states in which one is looked for.
const MOST_STATES: usize = 500_000;

/// A path to the target.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct ProbablePath {
    pub steps: u32,
    pub probability: f64,
}

/// A state that waits: on a path of this probability and length.
#[derive(PartialEq)]
struct Open {
    probability: f64,
    steps: u32,
    state: u32,
}

impl Eq for Open {}

impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Open {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_probability = self.probability.total_cmp(&other.probability);
        let by_steps = by_probability.then_with(|| other.steps.cmp(&self.steps));
        by_steps.then_with(|| other.state.cmp(&self.state))
    }
}

/// The most probable path from a start state with the greatest lower bound; nothing where nothing is
/// reached, or the MDP is large.
pub(super) fn most_probable(
    induced: &Induced,
    solution: &Solution,
    budget: &mut Budget,
) -> Result<Option<ProbablePath>, StopReason> {
    let mdp = &induced.mdp;
    if mdp.states() > MOST_STATES || solution.stopped.is_some() {
        return Ok(None);
    }
    let bounds = induced.initial.iter().zip(&solution.initial);
    let best = bounds.reduce(|a, b| if b.1.lo > a.1.lo { b } else { a });
    let Some((&start, bounds)) = best else { return Ok(None) };
    if bounds.lo.is_zero() {
        return Ok(None);
    }
    let reachability = induced.problem(Direction::Max);
    let Some(scheduler) = solution.scheduler(&reachability, budget)? else { return Ok(None) };
    let mut settled = vec![false; mdp.states()];
    let mut open = BinaryHeap::from([Open { probability: 1.0, steps: 0, state: start }]);
    while let Some(Open { probability, steps, state }) = open.pop() {
        budget.poll()?;
        if induced.target.contains(state) {
            return Ok(Some(ProbablePath { steps, probability }));
        }
        if std::mem::replace(&mut settled[state as usize], true) {
            continue;
        }
        let Some(choice) = scheduler.choice(state) else { continue };
        for (to, p) in mdp.outcomes(choice).filter(|&(to, _)| !settled[to as usize]) {
            let probability = probability * p.to_f64();
            open.push(Open { probability, steps: steps + 1, state: to });
        }
    }
    Ok(None)
}
