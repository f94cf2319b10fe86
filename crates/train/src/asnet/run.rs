//! Runs of a network.

use std::collections::BTreeSet;

use policert_asnet::{Asnet, Instance};
use policert_engine_api::{Budget, StopReason};
use policert_explore::Random;
use policert_pddl::Task;

use super::pass::{Pass, Weighted};

/// A run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AsnetRun {
    /// The states in which an action was taken.
    pub states: Vec<Vec<bool>>,
    /// The actions that were taken there.
    pub actions: Vec<usize>,
    /// True if it ends in a goal state.
    pub reaches_goal: bool,
    /// Of a run that would go round for ever, the place of the state where the round begins.
    pub round_from: Option<usize>,
}

/// Runs a network in a problem from its initial state, for at most `horizon` actions. The run ends where
/// nothing is applicable, and where a state occurs again and nothing is left to chance: it would go round for
/// ever.
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
    Runner::new(asnet, task, instance, horizon).run(&task.initial, random, budget)
}

/// A network that runs in a problem.
#[derive(Debug)]
pub(crate) struct Runner<'a> {
    network: Weighted<'a>,
    pub task: &'a Task,
    instance: &'a Instance,
    horizon: usize,
    is_deterministic: bool,
}

impl<'a> Runner<'a> {
    /// For runs of at most `horizon` actions.
    pub fn new(asnet: &'a Asnet, task: &'a Task, instance: &'a Instance, horizon: usize) -> Self {
        let is_deterministic = task.actions.iter().all(|action| action.outcomes.len() == 1);
        Self { network: Weighted::new(asnet), task, instance, horizon, is_deterministic }
    }

    /// A run from a state.
    ///
    /// # Errors
    /// The reason to stop.
    pub fn run(
        &self,
        from: &[bool],
        random: &mut Random,
        budget: &mut Budget,
    ) -> Result<AsnetRun, StopReason> {
        let mut run = AsnetRun {
            states: Vec::new(),
            actions: Vec::new(),
            reaches_goal: false,
            round_from: None,
        };
        let mut seen = BTreeSet::new();
        let mut state = from.to_vec();
        while run.states.len() < self.horizon && !self.task.is_goal(&state) {
            budget.poll_clock()?;
            if self.is_deterministic && !seen.insert(state.clone()) {
                run.round_from = run.states.iter().position(|earlier| *earlier == state);
                break;
            }
            let Some((action, next)) = self.step(&state, random) else { break };
            run.actions.push(action);
            run.states.push(std::mem::replace(&mut state, next));
        }
        run.reaches_goal = self.task.is_goal(&state);
        Ok(run)
    }

    /// The applicable action of greatest score, the first of several, and the state after it.
    fn step(&self, state: &[bool], random: &mut Random) -> Option<(usize, Vec<bool>)> {
        let actions = self.task.actions.iter();
        let applicable: Vec<bool> = actions.map(|action| action.is_applicable(state)).collect();
        let pass = Pass::new(&self.network, self.instance, state, &applicable, None);
        let scores = pass.scores();
        let competing = (0..scores.len()).filter(|&action| applicable[action]);
        let best = competing.reduce(|a, b| if scores[b] > scores[a] { b } else { a })?;
        let outcomes = &self.task.actions[best].outcomes;
        let mut drawn = random.unit();
        let outcome = outcomes.iter().find(|outcome| {
            drawn -= outcome.probability.to_f64();
            drawn < 0.0
        });
        let next = outcome.or(outcomes.last())?.after(state);
        Some((best, next))
    }
}
