//! The Markov decision process induced by a policy: what the policy does not decide stays open.
//!
//! Input: a question about reaching a target, perhaps a policy. Output: the states reached, their
//! choices with exact probabilities, and which states are in the target or have failed.
//!
//! The states are those of [`explicit`](crate::explicit), in the same order. A choice is an operator
//! that the policy allows; an outcome that is dropped is lost. A value that an operator chooses
//! freely multiplies the choices: the scheduler sees the outcome first. A policy that draws makes one
//! choice of its labels together.

mod choices;
mod draw;
mod result;
mod store;

use policert_engine_api::{Budget, EngineError, Event, Observer, Question};
use policert_mdp::{MdpBuilder, StateSet};
use policert_model::Condition;
use policert_policy::{ChoiceRule, Law, Policy};

use crate::compiled::{CompiledCondition, DestinationEnds, Outcomes};
use crate::config::ExplicitConfig;
use crate::frontier::{Frontier, Sink, expand};
use crate::policy_labels::Undecided;
use crate::state_table::StateId;
use crate::stats::Stopwatch;
use choices::Probabilities;
use draw::Undrawn;
use store::Pending;

pub use result::Induced;

/// A question about the probability of reaching a target: the unsafe states of a
/// [`Question`], from its start states.
#[derive(Clone, Debug)]
pub struct ReachQuestion<'m> {
    /// Model, start and target. A terminal state has no choices, unless it is in the target.
    pub question: Question<'m>,
    /// The condition that has to hold until the target is reached; a state where it does not has
    /// failed.
    pub stay: Condition,
}

/// Builds the MDP of a question under a policy, or without one.
///
/// # Errors
/// A modelling error in a reachable state, or a feature that is not supported. A stop of the
/// budget is not an error: the result says which states were not expanded.
pub fn induced_mdp(
    question: &ReachQuestion<'_>,
    policy: Option<&Policy>,
    config: &ExplicitConfig,
    budget: &mut Budget,
    observer: &mut dyn Observer,
) -> Result<Induced, EngineError> {
    let frontier = Frontier::new(&question.question, policy, config, observer);
    let is_drawn = policy.is_some_and(|policy| policy.semantics().choice == ChoiceRule::Sample);
    let is_rounded = is_drawn && policy.is_some_and(|policy| policy.law() == Law::Softmax);
    let mut search = InducedSearch::new(frontier, &question.stay);
    search.is_drawn = is_drawn;
    search.above = is_rounded.then(MdpBuilder::new);
    match search.run(budget) {
        Ok(()) => search.result(None),
        Err(EngineError::Stop(reason)) => search.result(Some(reason)),
        Err(error) => Err(error),
    }
}

struct InducedSearch<'a> {
    frontier: Frontier<'a>,
    stay_condition: CompiledCondition,
    initial: Vec<u32>,
    /// True if all start states were found.
    starts_complete: bool,
    target: StateSet,
    avoid: StateSet,
    builder: MdpBuilder,
    /// True if the policy draws its labels.
    is_drawn: bool,
    /// The process from above, where it does so by probabilities that are no fractions.
    above: Option<MdpBuilder>,
    undrawn: Undrawn,
    probabilities: Probabilities,
    /// Those of the process from above.
    probabilities_above: Probabilities,
    /// The first state in which the choice of the policy is undecided.
    undecided: Option<StateId>,
    pending: Pending,
    ends: DestinationEnds,
}

impl<'a> InducedSearch<'a> {
    fn new(frontier: Frontier<'a>, stay: &Condition) -> Self {
        Self {
            stay_condition: CompiledCondition::new(stay, &frontier.question.model.domains()),
            frontier,
            initial: Vec::new(),
            starts_complete: false,
            target: StateSet::empty(0),
            avoid: StateSet::empty(0),
            builder: MdpBuilder::new(),
            above: None,
            is_drawn: false,
            undrawn: Undrawn::default(),
            probabilities: Probabilities::default(),
            probabilities_above: Probabilities::default(),
            undecided: None,
            pending: Pending::default(),
            ends: Vec::new(),
        }
    }

    fn run(&mut self, budget: &mut Budget) -> Result<(), EngineError> {
        self.frontier.observer.event(Event::Phase("start states"));
        let mut watch = Stopwatch::start();
        let question = self.frontier.question;
        question.for_each_start_state(budget, &mut |state| self.add_start(state))?;
        self.starts_complete = true;
        watch.lap(&mut self.frontier.stats.times.start_states);
        self.frontier.observer.event(Event::Phase("search"));
        budget.check_states(self.frontier.table.len())?;
        expand(self, &[], budget)?;
        self.end_states(self.frontier.taken)
    }
}

impl<'a> Sink<'a> for InducedSearch<'a> {
    fn frontier(&mut self) -> &mut Frontier<'a> {
        &mut self.frontier
    }

    /// States whose value is known are expanded only to build everything.
    #[inline]
    fn load(&mut self, id: StateId) {
        let known = self.target.contains(id.0) || self.avoid.contains(id.0);
        let Frontier { question, batch, table, packing, .. } = &mut self.frontier;
        if !known || question.build_all {
            batch.load(id, table, packing, |_| true);
        }
    }

    fn undecided(&self) -> Undecided {
        Undecided::Included
    }

    /// Choice by choice.
    #[inline]
    fn add_successors(&mut self, row: usize, budget: &mut Budget) -> Result<(), EngineError> {
        budget.poll()?;
        let start = self.pending.packed.len();
        let added = self.add_choices(row, budget);
        if added.is_err() {
            self.pending.abandon(start);
        }
        added
    }

    fn waiting_words(&self) -> usize {
        self.pending.packed.len()
    }

    fn store(&mut self, budget: &Budget) -> Result<(), EngineError> {
        let mut pending = std::mem::take(&mut self.pending);
        let stored = self.store_all(&mut pending, budget);
        pending.clear();
        self.pending = pending;
        stored
    }
}

impl InducedSearch<'_> {
    fn add_choices(&mut self, row: usize, budget: &mut Budget) -> Result<(), EngineError> {
        let frontier = &mut self.frontier;
        let id = frontier.fire(row)?;
        if frontier.labels.is_undecided(row) {
            self.undecided = self.undecided.or(Some(id));
            frontier.stats.undecided_choices += 1;
        }
        let drawn = frontier.labels.drawn(row);
        self.undrawn.clear();
        let words = frontier.packing.words();
        let packed = frontier.table.packed(id);
        let mut outcomes = Outcomes {
            packing: &frontier.packing,
            semantics: frontier.semantics,
            budget,
            packed: &mut self.pending.packed,
            dropped: 0,
        };
        for &op in &frontier.fired {
            let (operator, compiled) = frontier.operators.compiled(op);
            let (before, first) = (outcomes.dropped, outcomes.packed.len() / words);
            let (point, ends) = (&mut frontier.point, &mut self.ends);
            compiled.apply_by_outcome(operator, point, packed, &mut outcomes, ends)?;
            let dropped = outcomes.dropped > before;
            let builder = &mut self.builder;
            let shape = self.probabilities.shape(op, operator, &frontier.point, builder)?;
            match operator.label.filter(|&label| drawn.is_some() && frontier.labels.learn(label)) {
                Some(label) => {
                    self.undrawn.choices.push(first, shape, &self.ends)?;
                    self.undrawn.label_last(label);
                }
                None => {
                    self.pending.choices.push(first, shape, &self.ends)?;
                    if let Some(above) = &mut self.above {
                        let shape =
                            self.probabilities_above.shape(op, operator, &frontier.point, above)?;
                        self.pending.above.push(first, shape, &self.ends)?;
                    }
                }
            }
            if dropped {
                self.pending.drops.push(op);
            }
        }
        let dropped = outcomes.dropped;
        if let Some(drawn) = &drawn {
            let Self { undrawn, builder, above, pending, .. } = self;
            undrawn.draw(drawn, builder, above.as_mut(), pending)?;
        }
        self.pending.finish(id, dropped);
        Ok(())
    }
}
