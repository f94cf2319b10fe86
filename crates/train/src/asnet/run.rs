//! Runs of a network.

use std::collections::BTreeSet;

use policert_asnet::{Asnet, Instance};
use policert_engine_api::{Budget, StopReason};
use policert_explore::Random;
use policert_pddl::Task;

use super::pass::{Pass, Weighted};

/// A run from the initial state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AsnetRun {
    /// The states in which an action was taken.
    pub states: Vec<Vec<bool>>,
    /// True if it ends in a goal state.
    pub reaches_goal: bool,
}

/// Runs a network in a problem, for at most `horizon` actions. The run ends where nothing is applicable, and
/// where a state occurs again and nothing is left to chance: it would go round for ever.
///
/// # Errors
/// The reason to stop.
pub fn asnet_run(
    asnet: &Asnet,
    task: &Task,
    instance: &Instance,
    horizon: usize,
    random: &mut Random,
    budget: &mut Budget,
) -> Result<AsnetRun, StopReason> {
    let network = Weighted::new(asnet);
    let is_deterministic = task.actions.iter().all(|action| action.outcomes.len() == 1);
    let mut states = Vec::new();
    let mut seen = BTreeSet::new();
    let mut state = task.initial.clone();
    while states.len() < horizon && !task.is_goal(&state) {
        budget.poll_clock()?;
        if is_deterministic && !seen.insert(state.clone()) {
            break;
        }
        let Some(next) = step(&network, task, instance, &state, random) else { break };
        states.push(std::mem::replace(&mut state, next));
    }
    Ok(AsnetRun { states, reaches_goal: task.is_goal(&state) })
}

/// The state after the applicable action of greatest score, the first of several.
fn step(
    network: &Weighted<'_>,
    task: &Task,
    instance: &Instance,
    state: &[bool],
    random: &mut Random,
) -> Option<Vec<bool>> {
    let applicable: Vec<bool> =
        task.actions.iter().map(|action| action.is_applicable(state)).collect();
    let pass = Pass::new(network, instance, state, &applicable, None);
    let scores = pass.scores();
    let competing = (0..scores.len()).filter(|&action| applicable[action]);
    let best = competing.reduce(|a, b| if scores[b] > scores[a] { b } else { a })?;
    let outcomes = &task.actions[best].outcomes;
    let mut drawn = random.unit();
    let outcome = outcomes.iter().find(|outcome| {
        drawn -= outcome.probability.to_f64();
        drawn < 0.0
    });
    outcome.or(outcomes.last()).map(|outcome| outcome.after(state))
}
