//! Runs of the model under the policy and an abstract adversary, from one concrete start state.
//!
//! Where the adversary's abstract transition is one of the concrete state, its operator is taken.
//! Where it is not, the state is a divergence, and all operators that the policy allows are. The
//! states that are met make a small MDP; the probability of reaching an unsafe state in it is one
//! that the model has too, so it is a proved lower bound, and whatever was not looked at counts
//! as safe. Without divergences it is the adversary's abstract probability.

use std::collections::BinaryHeap;

use policert_engine_api::{Budget, EngineError, ValuedState};
use policert_mdp::{Direction, MdpBuilder, Reachability, SolveOptions, StateSet, solve};
use policert_model::{ModelSemantics, Operator, Probability, State};
use policert_numeric::Rational;
use rustc_hash::FxHashMap;

use super::abstract_mdp::AbstractMdp;
use super::distribution::{Target, Transition};
use super::max_prob::Adversary;
use super::valued_pieces::RunValues;
use crate::abstraction::Abstraction;
use crate::cegar::policy_choice::PolicyChoice;
use crate::cegar::state_tree::TreeNodeId;

/// A concrete state in which the adversary's abstract transition does not exist.
#[derive(Clone, Debug)]
pub(crate) struct Divergence {
    /// The concrete states on the way, with the operator and outcome that led to the next.
    pub run: Vec<(State, Option<(u32, usize)>)>,
    /// The abstract transition.
    pub transition: Transition,
    /// The outcome by which it was given up; of several, the one with most at stake.
    pub outcome: usize,
    /// True if the policy's choice is undecided, so that the transition may exist.
    pub is_undecided: bool,
    /// The probability of the run times the abstract value here.
    pub weight: f64,
}

/// Holds what the runs from a start state show.
#[derive(Debug)]
pub(crate) struct ConcreteRuns {
    /// A proved lower bound of the greatest probability from the start state.
    pub lower: Rational,
    /// By falling weight.
    pub divergences: Vec<Divergence>,
    /// True if all states that these runs reach were looked at.
    pub is_complete: bool,
    /// If evidence is wanted: the states with lower bounds that show `lower`.
    pub values: RunValues,
}

/// Holds what runs are followed with.
pub(crate) struct Runner<'r, 'p, 'q> {
    pub abstraction: &'r Abstraction<'r>,
    pub mdp: &'q mut AbstractMdp,
    pub adversary: &'q Adversary,
    pub policy: Option<&'q mut PolicyChoice<'p>>,
    /// The most states that are looked at.
    pub limit: usize,
    /// The way in which the small MDP is solved.
    pub solving: SolveOptions,
}

/// A choice in a concrete state: the states that its outcomes lead to.
type Outcomes = Vec<(u32, Rational)>;

/// The concrete states that were met.
#[derive(Default)]
struct Met {
    states: Vec<State>,
    leaves: Vec<TreeNodeId>,
    numbers: FxHashMap<State, u32>,
    /// By state: the most probable way to it.
    ways: Vec<Way>,
    choices: Vec<Vec<Outcomes>>,
    waiting: BinaryHeap<(Weight, std::cmp::Reverse<u32>)>,
}

/// Says how a state was reached, and how probably.
#[derive(Clone, Copy, Debug)]
struct Way {
    probability: f64,
    from: Option<(u32, u32, usize)>,
    is_done: bool,
}

/// A number that is no NaN, in its order.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Weight(pub f64);

impl Eq for Weight {}

impl Ord for Weight {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Weight {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Runner<'_, '_, '_> {
    /// Follows all runs from a start state, the probable ones first.
    ///
    /// # Errors
    /// A stop of the budget, or a modelling error.
    pub fn run(&mut self, start: &State, budget: &mut Budget) -> Result<ConcreteRuns, EngineError> {
        let mut met = Met::default();
        let mut target = Vec::new();
        let mut divergences: Vec<(u32, Divergence)> = Vec::new();
        self.meet(&mut met, start.clone(), Way { probability: 1.0, from: None, is_done: false });
        let mut looked_at = 0;
        let mut is_complete = true;
        while let Some((_, std::cmp::Reverse(id))) = met.waiting.pop() {
            if std::mem::replace(&mut met.ways[id as usize].is_done, true) {
                continue;
            }
            budget.poll()?;
            if looked_at >= self.limit {
                is_complete = false;
                break;
            }
            looked_at += 1;
            let state = met.states[id as usize].clone();
            if self.abstraction.question.is_unsafe(&state) {
                target.push(id);
            } else {
                self.step(&mut met, id, &state, &mut divergences)?;
            }
        }
        let (lower, values) = self.solve(&met, &target, budget)?;
        let mut found = Vec::with_capacity(divergences.len());
        for (id, mut divergence) in divergences {
            divergence.weight *= met.ways[id as usize].probability;
            divergence.run = met.run_to(id);
            found.push(divergence);
        }
        found.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        Ok(ConcreteRuns { lower, divergences: found, is_complete, values })
    }

    /// Takes the adversary's operator, or all that are allowed where that is not possible.
    fn step(
        &mut self,
        met: &mut Met,
        id: u32,
        state: &State,
        divergences: &mut Vec<(u32, Divergence)>,
    ) -> Result<(), EngineError> {
        let is_terminal = self.abstraction.question.is_terminal(state);
        let choice = match &mut self.policy {
            Some(policy) => Some(policy.choice(self.abstraction, state)?),
            None => None,
        };
        // Whether the policy allows an operator; `None` if that is undecided.
        let allows =
            |operator: usize| match (&choice, self.abstraction.operators.output_of(operator)) {
                (Some(choice), Some(output)) => choice.contains(output),
                _ => Some(true),
            };
        let number = self.mdp.state(met.leaves[id as usize]);
        let value = number.map_or(0.0, |n| self.adversary.values[n as usize]);
        let transition = number.and_then(|n| self.adversary.transition(self.mdp, n)).cloned();
        if let Some(transition) = transition {
            let o = transition.operator as usize;
            let operator = &self.abstraction.operators.all()[o];
            let semantics = self.semantics();
            let is_enabled = !is_terminal && semantics.is_enabled(operator, state)?;
            let allowed = if is_enabled { allows(o) } else { Some(false) };
            let mut broken = None;
            if allowed == Some(true) {
                let (outcomes, missed) = self.outcomes(met, id, o, state, Some(&transition))?;
                met.choices[id as usize].push(outcomes);
                broken = missed;
                if broken.is_none() {
                    return Ok(());
                }
            }
            let outcome = broken.unwrap_or_else(|| self.greatest_outcome(&transition));
            let divergence = Divergence {
                run: Vec::new(),
                transition,
                outcome,
                is_undecided: allowed.is_none(),
                weight: value,
            };
            if value > 0.0 {
                divergences.push((id, divergence));
            }
        } else if number.is_some() && value <= 0.0 {
            // Nothing is to be gained here.
            return Ok(());
        }
        if is_terminal {
            return Ok(());
        }
        for o in 0..self.abstraction.operators.all().len() {
            let operator = &self.abstraction.operators.all()[o];
            if self.semantics().is_enabled(operator, state)? && allows(o) == Some(true) {
                let (outcomes, _) = self.outcomes(met, id, o, state, None)?;
                met.choices[id as usize].push(outcomes);
            }
        }
        Ok(())
    }

    /// The states that an operator leads to, in the abstract states of `wanted` where there are
    /// some; and an outcome for which there are none.
    fn outcomes(
        &mut self,
        met: &mut Met,
        id: u32,
        o: usize,
        state: &State,
        wanted: Option<&Transition>,
    ) -> Result<(Outcomes, Option<usize>), EngineError> {
        let operator = &self.abstraction.operators.all()[o];
        let successors = self.semantics().successors(operator, state)?;
        let mut outcomes = Vec::with_capacity(operator.destinations.len());
        let mut missed: Option<(f64, usize)> = None;
        let mut rest = successors.list.into_iter().peekable();
        for (d, probability) in probabilities(operator).enumerate() {
            let mut best: Option<(f64, State)> = None;
            let wanted = wanted.map(|transition| transition.targets[d]);
            let mut is_met = false;
            while let Some(successor) = rest.next_if(|s| s.destination == d) {
                let leaf = self.mdp.tree.leaf_of(&successor.state);
                let as_wanted = wanted == Some(Target::Node(leaf));
                let value = if as_wanted { 2.0 } else { self.value(leaf) };
                is_met |= as_wanted;
                if best.as_ref().is_none_or(|(most, _)| value > *most) {
                    best = Some((value, successor.state));
                }
            }
            is_met |= wanted == Some(Target::Lost) && best.is_none();
            if let Some(target) = wanted
                && !is_met
            {
                let at_stake = match target {
                    Target::Node(node) => self.value(node),
                    _ => 0.0,
                };
                if missed.is_none_or(|(most, _)| at_stake > most) {
                    missed = Some((at_stake, d));
                }
            }
            let Some((_, next)) = best else { continue };
            let before = met.ways[id as usize].probability;
            let operator = u32::try_from(o).unwrap_or(u32::MAX);
            let way = Way {
                probability: before * probability.to_f64_interval().0,
                from: Some((id, operator, d)),
                is_done: false,
            };
            outcomes.push((self.meet(met, next, way), probability.clone()));
        }
        Ok((outcomes, missed.map(|(_, d)| d)))
    }

    fn semantics(&self) -> ModelSemantics<'_> {
        let question = self.abstraction.question;
        ModelSemantics { model: question.model, rule: question.domain_rule }
    }

    /// The abstract value of a leaf, about; 1 where it is not known.
    fn value(&self, leaf: TreeNodeId) -> f64 {
        match self.mdp.state(leaf) {
            Some(state) if self.mdp.is_unsafe(state) => 1.0,
            Some(state) => self.adversary.values[state as usize].min(self.mdp.upper(state)),
            None => 1.0,
        }
    }

    /// The outcome of a transition that contributes most to its value.
    fn greatest_outcome(&self, transition: &Transition) -> usize {
        let mut best = (0, -1.0);
        let probabilities = self.mdp.operators.probabilities(transition.operator);
        for (d, (target, p)) in transition.targets.iter().zip(probabilities).enumerate() {
            if let Target::Node(node) = target {
                let share = p.to_f64_interval().0 * self.value(*node);
                if share > best.1 {
                    best = (d, share);
                }
            }
        }
        best.0
    }

    /// The number of a state; notes the way to it if it is the most probable one.
    fn meet(&mut self, met: &mut Met, state: State, way: Way) -> u32 {
        let id = match met.numbers.get(&state) {
            Some(&id) => {
                let known = &mut met.ways[id as usize];
                if known.is_done || known.probability >= way.probability {
                    return id;
                }
                *known = way;
                id
            }
            None => {
                let id = u32::try_from(met.states.len()).unwrap_or(u32::MAX);
                met.numbers.insert(state.clone(), id);
                met.leaves.push(self.mdp.tree.leaf_of(&state));
                met.states.push(state);
                met.ways.push(way);
                met.choices.push(Vec::new());
                id
            }
        };
        met.waiting.push((Weight(way.probability), std::cmp::Reverse(id)));
        id
    }

    fn solve(
        &self,
        met: &Met,
        target: &[u32],
        budget: &mut Budget,
    ) -> Result<(Rational, RunValues), EngineError> {
        let mut builder = MdpBuilder::new();
        for choices in &met.choices {
            for outcomes in choices {
                let outcomes: Vec<_> =
                    outcomes.iter().map(|(to, p)| (*to, builder.probability(p))).collect();
                builder.choice(&outcomes)?;
            }
            builder.end_state()?;
        }
        let mdp = builder.finish()?;
        let is_target = |id: u32| target.contains(&id);
        let goal = StateSet::of(met.states.len(), target.iter().copied());
        let avoid = StateSet::empty(met.states.len());
        let direction = Direction::Max;
        let problem =
            Reachability { mdp: &mdp, initial: &[0], target: &goal, avoid: &avoid, direction };
        let solution = solve(&problem, &self.solving, budget)?;
        if let Some(reason) = solution.stopped {
            return Err(reason.into());
        }
        let lower = solution.initial[0].lo.clone();
        if !self.abstraction.question.evidence {
            return Ok((lower, RunValues::default()));
        }
        // Of the target, the start state alone says something.
        let listed = (0u32..).zip(&met.states).filter(|(id, _)| *id == 0 || !is_target(*id));
        let valued = listed.map(|(id, state)| (solution.float_bounds(id)[0], state.clone()));
        let states = valued.filter(|(lo, _)| *lo > 0.0);
        let states = states.map(|(lo, state)| ValuedState { state, bounds: [lo, 1.0] }).collect();
        let rounded = solution.statistics.exact_components > 0;
        Ok((lower, RunValues { states, rounded }))
    }
}

impl Met {
    /// The most probable run to a state.
    fn run_to(&self, id: u32) -> Vec<(State, Option<(u32, usize)>)> {
        let mut run = vec![(self.states[id as usize].clone(), None)];
        let mut at = id;
        while let Some((from, operator, d)) = self.ways[at as usize].from {
            run.push((self.states[from as usize].clone(), Some((operator, d))));
            at = from;
        }
        run.reverse();
        run
    }
}

/// The probabilities of the outcomes of an operator; those that depend on the state were refused
/// before.
fn probabilities(operator: &Operator) -> impl Iterator<Item = &Rational> {
    operator.destinations.iter().filter_map(|destination| match &destination.probability {
        Probability::Constant(p) => Some(p),
        Probability::Expr(_) => None,
    })
}
