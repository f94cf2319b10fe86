//! Actions that do though no shortest way begins with them: a small network need not know shortest ways to
//! reach the goal.
//!
//! Where the network reaches the goal, what it does is as good as what the teacher does. Where it goes round,
//! so is what leads to a state from which it reaches the goal.

use policert_engine_api::{Budget, StopReason};
use policert_explore::Random;

use super::run::{AsnetRun, Runner};

/// The most states of a round from which ways out are looked for.
const MOST: usize = 8;

/// For states of a run, by their places, the actions that do.
pub(crate) fn actions_that_do(
    runner: &Runner<'_>,
    run: &AsnetRun,
    random: &mut Random,
    budget: &mut Budget,
) -> Result<Vec<(usize, Vec<usize>)>, StopReason> {
    if run.reaches_goal {
        return Ok(run.actions.iter().map(|&action| vec![action]).enumerate().collect());
    }
    let Some(first) = run.round_from else { return Ok(Vec::new()) };
    let round = &run.states[first..];
    let mut found = Vec::new();
    for (place, state) in round.iter().enumerate().take(MOST) {
        let mut out = Vec::new();
        for (position, action) in runner.task.actions.iter().enumerate() {
            if position == run.actions[first + place] || !action.is_applicable(state) {
                continue;
            }
            let [outcome] = &action.outcomes[..] else { continue };
            let next = outcome.after(state);
            if !round.contains(&next) && runner.run(&next, random, budget)?.reaches_goal {
                out.push(position);
            }
        }
        found.push((first + place, out));
    }
    Ok(found)
}
