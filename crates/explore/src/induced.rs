//! The Markov decision process that a policy leaves: what it does not decide stays open.
//!
//! Input: a question about reaching a target, perhaps a policy. Output: the states reached, their
//! choices with exact probabilities, and which states are in the target or have failed.
//!
//! The states are those of [`explicit`](crate::explicit), in the same order. A choice is an operator
//! that the policy allows; an outcome that is dropped is lost. A value that an operator chooses
//! freely multiplies the choices: the scheduler sees the outcome first.

mod choices;
mod result;
mod store;

use policert_engine_api::{Budget, Counts, EngineError, Event, Observer, Question};
use policert_mdp::{MdpBuilder, StateSet};
use policert_model::{Condition, OpId, Semantics};
use policert_policy::Policy;

use crate::batch::Batch;
use crate::compiled::{CompiledCondition, DestinationEnds, Kleene, Outcomes};
use crate::config::ExplicitConfig;
use crate::lazy_operators::LazyOperators;
use crate::packing::StatePacking;
use crate::policy_labels::{PolicyLabels, Undecided};
use crate::state_table::{StateId, StateTable};
use crate::stats::{Stats, Stopwatch};
use choices::Probabilities;
use store::Pending;

pub use result::Induced;

/// A question about the probability of reaching a target: the unsafe states of a
/// [`Question`], from its start states.
#[derive(Clone, Debug)]
pub struct ReachQuestion<'m> {
    /// Model, start and target. A terminal state has no choices, unless it is in the target.
    pub question: Question<'m>,
    /// What has to hold until the target is reached; a state where it does not has failed.
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
    let mut search = Search::new(question, policy, config, observer);
    match search.run(budget) {
        Ok(()) => search.result(None),
        Err(EngineError::Stop(reason)) => search.result(Some(reason)),
        Err(error) => Err(error),
    }
}

struct Search<'a> {
    question: &'a Question<'a>,
    config: &'a ExplicitConfig,
    observer: &'a mut dyn Observer,
    semantics: Semantics<'a>,
    packing: StatePacking,
    operators: LazyOperators<'a>,
    labels: PolicyLabels<'a>,
    target_condition: CompiledCondition,
    stay_condition: CompiledCondition,
    terminal_condition: CompiledCondition,
    table: StateTable,
    initial: Vec<u32>,
    /// Whether all start states were found.
    starts_complete: bool,
    target: StateSet,
    avoid: StateSet,
    builder: MdpBuilder,
    probabilities: Probabilities,
    /// The number of states that were taken off the queue.
    taken: u32,
    /// The first state in which the choice of the policy is undecided.
    undecided: Option<StateId>,
    undecided_choices: u64,
    drops: Vec<(OpId, StateId)>,
    counts: Counts,
    stats: Stats,
    batch: Batch,
    pending: Pending,
    ends: DestinationEnds,
    fired: Vec<OpId>,
    point: Vec<i64>,
}

/// How many successors, in words, wait at most to be stored.
const PENDING_WORDS: usize = 1 << 16;

impl<'a> Search<'a> {
    fn new(
        question: &'a ReachQuestion<'a>,
        policy: Option<&'a Policy>,
        config: &'a ExplicitConfig,
        observer: &'a mut dyn Observer,
    ) -> Self {
        let ReachQuestion { question, stay } = question;
        let model = question.model;
        let domains = model.domains();
        let semantics = Semantics { model, rule: question.domain_rule };
        let packing = StatePacking::new(&domains);
        let terminal = question.terminal.as_ref();
        Self {
            operators: LazyOperators::new(semantics),
            labels: PolicyLabels::new(model, policy),
            target_condition: CompiledCondition::new(&question.property.unsafe_condition, &domains),
            stay_condition: CompiledCondition::new(stay, &domains),
            terminal_condition: terminal.map_or(CompiledCondition::Constant(false), |condition| {
                CompiledCondition::new(condition, &domains)
            }),
            table: StateTable::new(packing.words()),
            initial: Vec::new(),
            starts_complete: false,
            target: StateSet::empty(0),
            avoid: StateSet::empty(0),
            builder: MdpBuilder::new(),
            probabilities: Probabilities::default(),
            taken: 0,
            undecided: None,
            undecided_choices: 0,
            drops: Vec::new(),
            counts: Counts::default(),
            stats: Stats::default(),
            batch: Batch::new(&packing),
            pending: Pending::default(),
            ends: Vec::new(),
            fired: Vec::new(),
            point: Vec::new(),
            question,
            config,
            observer,
            semantics,
            packing,
        }
    }

    fn run(&mut self, budget: &mut Budget) -> Result<(), EngineError> {
        self.observer.event(Event::Phase("start states"));
        let mut watch = Stopwatch::start();
        let question = self.question;
        question.for_each_start_state(budget, &mut |state| self.add_start(state))?;
        self.starts_complete = true;
        watch.lap(&mut self.stats.times.start_states);
        self.observer.event(Event::Phase("search"));
        budget.check_states(self.table.len())?;
        loop {
            budget.poll_clock()?;
            self.batch.clear();
            while self.batch.len() < self.config.batch.get() {
                let Some(id) = self.take() else { break };
                self.load(id);
            }
            if self.batch.len() == 0 {
                return self.end_states(self.taken);
            }
            self.expand_batch(budget)?;
            self.report();
        }
    }

    /// The next state that waits.
    fn take(&mut self) -> Option<StateId> {
        let id = StateId(self.taken);
        (id.index() < self.table.len()).then(|| {
            self.taken += 1;
            id
        })
    }

    /// Puts a state into the batch. Those whose value is known are expanded only to build
    /// everything.
    fn load(&mut self, id: StateId) {
        let known = self.target.contains(id.0) || self.avoid.contains(id.0);
        if !known || self.question.build_all {
            self.batch.load(id, &self.table, &self.packing, |_| true);
        }
    }

    fn expand_batch(&mut self, budget: &mut Budget) -> Result<(), EngineError> {
        let mut watch = Stopwatch::start();
        self.stats.batches += 1;
        self.batch.find_edges(&mut self.operators)?;
        watch.lap(&mut self.stats.times.guards);
        self.choose();
        watch.lap(&mut self.stats.times.policy);
        for row in 0..self.batch.len() {
            self.add_successors(row, budget)?;
            if self.pending.words() > PENDING_WORDS {
                watch.lap(&mut self.stats.times.successors);
                self.store(budget)?;
                watch.lap(&mut self.stats.times.store);
            }
        }
        watch.lap(&mut self.stats.times.successors);
        self.store(budget)?;
        watch.lap(&mut self.stats.times.store);
        Ok(())
    }

    fn choose(&mut self) {
        if !self.labels.restrict() {
            return;
        }
        self.labels.clear();
        for row in 0..self.batch.len() {
            let (state, edges) = (self.batch.state(row), self.batch.edges(row));
            self.labels.add(state, edges, &mut self.operators);
        }
        self.labels.choose(Undecided::Included);
        self.stats.policy_evaluations += self.batch.len() as u64;
    }

    /// Computes the successors of a state of the batch, choice by choice.
    fn add_successors(&mut self, row: usize, budget: &mut Budget) -> Result<(), EngineError> {
        budget.poll()?;
        self.point.clear();
        self.point.extend_from_slice(self.batch.state(row));
        let allowed = self.labels.allowed(row);
        self.operators.operators(self.batch.edges(row), allowed, &mut self.fired)?;
        let id = self.batch.id(row);
        if self.labels.is_undecided(row) {
            self.undecided = self.undecided.or(Some(id));
            self.undecided_choices += 1;
        }
        let packed = self.table.packed(id);
        let mut outcomes = Outcomes {
            packing: &self.packing,
            semantics: self.semantics,
            budget,
            packed: &mut self.pending.packed,
            dropped: 0,
        };
        for &op in &self.fired {
            let (operator, compiled) = self.operators.compiled(op);
            let before = outcomes.dropped;
            let (point, ends) = (&mut self.point, &mut self.ends);
            compiled.apply_by_outcome(operator, point, packed, &mut outcomes, ends)?;
            let dropped = outcomes.dropped > before;
            let shape = self.probabilities.shape(op, operator, &self.point, &mut self.builder)?;
            self.pending.choices.push(shape, &self.ends)?;
            if dropped {
                self.pending.drops.push(op);
            }
        }
        let dropped = outcomes.dropped;
        self.pending.finish(id, dropped);
        Ok(())
    }

    fn report(&mut self) {
        let waiting = self.table.len() as u64 - u64::from(self.taken);
        self.stats.peak_frontier = self.stats.peak_frontier.max(waiting);
        self.observer.event(Event::Progress {
            expanded: self.counts.expanded_states,
            reached: self.table.len() as u64,
            waiting,
            transitions: self.counts.transitions,
        });
    }

    /// Whether a condition holds in a state; one without truth value does not.
    fn holds(condition: &CompiledCondition, state: &[i64]) -> bool {
        condition.truth(state) == Kleene::True
    }
}
