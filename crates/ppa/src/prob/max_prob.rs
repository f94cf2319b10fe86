//! MaxProb on the abstract MDP: proved bounds of the greatest abstract probability of reaching an
//! unsafe state, and the adversary that reaches it.
//!
//! Either on the fly (FRET-LRTDP: only what a good adversary visits is expanded), or on the
//! complete reachable fragment, by interval iteration.

use policert_engine_api::{Budget, EngineError, StopReason};
use policert_mdp::{
    Choices, Direction, ImplicitMdp, Mdp, MdpBuilder, MdpError, ProbabilityBounds, Reachability,
    Scheduler, SolveOptions, Standing, StateSet, max_probability, solve,
};
use policert_numeric::Rational;
use serde::{Deserialize, Serialize};

use super::abstract_mdp::{AbstractMdp, Expanding};
use super::distribution::{Target, Transition};

/// Says how the greatest abstract probability is found.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MaxProbMethod {
    /// On the fly: FRET-LRTDP.
    #[default]
    OnTheFly,
    /// On the complete reachable fragment: interval iteration.
    Complete,
}

/// Bounds of the greatest abstract probability.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct MaxProb {
    /// They hold for the abstract MDP; the upper one holds for the model too.
    pub bounds: ProbabilityBounds,
    /// The reason why it ended early; the bounds stand nevertheless.
    pub stopped: Option<StopReason>,
}

/// Bounds the greatest abstract probability as `options` want it.
///
/// # Errors
/// A query that is not decided, or a construct that is not supported.
pub(crate) fn max_prob(
    expanding: &mut Expanding<'_, '_, '_>,
    method: MaxProbMethod,
    options: &SolveOptions,
    budget: &mut Budget,
) -> Result<MaxProb, EngineError> {
    expanding.mdp.begin();
    match method {
        MaxProbMethod::OnTheFly => {
            let found = max_probability(expanding, options.precision, budget)?;
            expanding.mdp.note_upper_bounds(found.values.iter().map(|value| value[1]));
            Ok(MaxProb { bounds: found.bounds, stopped: found.stopped })
        }
        MaxProbMethod::Complete => complete(expanding, options, budget),
    }
}

/// Expands all reachable abstract states, then solves.
fn complete(
    expanding: &mut Expanding<'_, '_, '_>,
    options: &SolveOptions,
    budget: &mut Budget,
) -> Result<MaxProb, EngineError> {
    let stopped = match expand_all(expanding, budget) {
        Ok(()) => None,
        Err(EngineError::Stop(reason)) => Some(reason),
        Err(error) => return Err(error),
    };
    let Some(start) = expanding.mdp.start().map(<[u32]>::to_vec) else {
        return Ok(MaxProb { bounds: ProbabilityBounds::unknown(), stopped });
    };
    let known = Known::new(expanding.mdp, true)?;
    // Where the fragment is not complete, there is still some time for what was built.
    let mut rest = Budget::unlimited();
    let budget = if stopped.is_some() { &mut rest } else { budget };
    let solution = solve(&known.problem(&start), options, budget)?;
    let states = 0..u32::try_from(expanding.mdp.states()).unwrap_or(u32::MAX);
    let bounds = states.map(|state| solution.bounds(state).hi.to_f64_interval().1);
    expanding.mdp.note_upper_bounds(bounds.collect::<Vec<_>>());
    let best = solution.initial.iter().cloned().reduce(|a, b| a.best(b, Direction::Max));
    let mut bounds = best.unwrap_or_else(|| ProbabilityBounds::exact(Rational::ZERO));
    if stopped.is_some() {
        // States that were not expanded counted as unsafe.
        bounds.lo = Rational::ZERO;
    }
    Ok(MaxProb { bounds, stopped: stopped.or(solution.stopped) })
}

fn expand_all(
    expanding: &mut Expanding<'_, '_, '_>,
    budget: &mut Budget,
) -> Result<(), EngineError> {
    expanding.initial_states(budget)?;
    let mut choices = Choices::default();
    let mut at = 0;
    while (at as usize) < expanding.mdp.states() {
        budget.check_states(expanding.mdp.states())?;
        if expanding.standing(at, budget)? == Standing::Open {
            choices.clear();
            expanding.expand(at, &mut choices, budget)?;
        }
        at += 1;
    }
    Ok(())
}

/// Holds what is known of the abstract MDP in this iteration, as an explicit one.
pub(crate) struct Known {
    mdp: Mdp,
    target: StateSet,
    avoid: StateSet,
}

impl Known {
    /// States that were not expanded count as unsafe if `optimistic`, else as failed.
    ///
    /// # Errors
    /// An MDP that is too large.
    pub fn new(abstract_mdp: &AbstractMdp, optimistic: bool) -> Result<Self, MdpError> {
        let states = abstract_mdp.states();
        let (mut target, mut avoid) = (StateSet::empty(states), StateSet::empty(states));
        let mut builder = MdpBuilder::new();
        for state in 0..u32::try_from(states).unwrap_or(u32::MAX) {
            if abstract_mdp.is_unsafe(state) {
                target.insert(state);
            } else if let Some(all) = abstract_mdp.transitions(state) {
                for transition in all {
                    add_choice(abstract_mdp, transition, &mut builder)?;
                }
            } else if optimistic {
                target.insert(state);
            } else {
                avoid.insert(state);
            }
            builder.end_state()?;
        }
        Ok(Self { mdp: builder.finish()?, target, avoid })
    }

    /// The question about it.
    pub fn problem<'m>(&'m self, initial: &'m [u32]) -> Reachability<'m> {
        Reachability {
            mdp: &self.mdp,
            initial,
            target: &self.target,
            avoid: &self.avoid,
            direction: Direction::Max,
        }
    }
}

fn add_choice(
    abstract_mdp: &AbstractMdp,
    transition: &Transition,
    builder: &mut MdpBuilder,
) -> Result<(), MdpError> {
    let mut outcomes = Vec::with_capacity(transition.targets.len());
    let probabilities = abstract_mdp.operators.probabilities(transition.operator);
    for (target, probability) in transition.targets.iter().zip(probabilities) {
        if let Target::Node(node) = target
            && let Some(to) = abstract_mdp.state(*node)
        {
            outcomes.push((to, builder.probability(probability)));
        }
    }
    builder.choice(&outcomes)
}

/// An abstract adversary A_𝒫: a memoryless one that reaches the bounds.
#[derive(Debug)]
pub(crate) struct Adversary {
    /// By state: which of its transitions is taken.
    choices: Vec<Option<u32>>,
    /// The abstract start state from which it reaches most.
    pub start: u32,
    /// Bounds of its value from there.
    pub bounds: ProbabilityBounds,
    /// By state: its value, about.
    pub values: Vec<f64>,
}

impl Adversary {
    /// The best one for what was expanded; `None` without start states, or after a stop.
    ///
    /// # Errors
    /// An MDP that is too large, or a stop of the budget.
    pub fn new(
        abstract_mdp: &AbstractMdp,
        options: &SolveOptions,
        budget: &mut Budget,
    ) -> Result<Option<Self>, EngineError> {
        let Some(initial) = abstract_mdp.start() else { return Ok(None) };
        let known = Known::new(abstract_mdp, false)?;
        let problem = known.problem(initial);
        let solution = solve(&problem, options, budget)?;
        if let Some(reason) = solution.stopped {
            return Err(reason.into());
        }
        let best = initial
            .iter()
            .zip(&solution.initial)
            .reduce(|best, next| if next.1.lo > best.1.lo { next } else { best });
        let Some((&start, bounds)) = best else { return Ok(None) };
        let Some(scheduler) = solution.scheduler(&problem, budget)? else { return Ok(None) };
        let states = 0..u32::try_from(abstract_mdp.states()).unwrap_or(u32::MAX);
        Ok(Some(Self {
            choices: states.clone().map(|s| local_choice(&known.mdp, &scheduler, s)).collect(),
            start,
            bounds: bounds.clone(),
            values: states.map(|s| solution.bounds(s).lo.to_f64_interval().0).collect(),
        }))
    }

    /// The transition that is taken in a state, if one is.
    pub fn transition<'m>(&self, mdp: &'m AbstractMdp, state: u32) -> Option<&'m Transition> {
        let choice = self.choices[state as usize]?;
        mdp.transitions(state)?.get(choice as usize)
    }
}

fn local_choice(mdp: &Mdp, scheduler: &Scheduler, state: u32) -> Option<u32> {
    Some(scheduler.choice(state)? - mdp.choices_of(state).start)
}
