//! Breadth-first search of the states that the policy reaches (BRFS in the papers).
//!
//! Input: a question, perhaps a policy. Output: a verdict with a shortest counterexample.
//!
//! The search has three stages:
//! 1. what is reached by decided choices of the policy, in the order of distance: the first
//!    unsafe state gives a shortest counterexample;
//! 2. what is reached besides where an undecided choice may be any label that competes: an
//!    unsafe state among it leaves the answer open;
//! 3. only to build everything: what lies behind terminal states. It has no say in the verdict.
//!
//! Where stuck states are unsafe, a state turns out to be one when it is expanded. So the search goes on
//! until no nearer one can come.
//!
//! Frontier states go through in batches: unpack, guards, policy, successors, store. The batch
//! size changes neither the order of states nor the answer.

mod result;
mod store;

use policert_engine_api::{
    Budget, Counts, EngineError, Event, Limits, Observer, Question, StopReason, StuckRule,
};
use policert_model::{LabelId, OpId, Semantics};
use policert_policy::Policy;

use crate::batch::Batch;
use crate::compiled::{CompiledCondition, Kleene, Outcomes};
use crate::config::ExplicitConfig;
use crate::lazy_operators::LazyOperators;
use crate::packing::StatePacking;
use crate::policy_labels::{PolicyLabels, Undecided};
use crate::state_table::{StateId, StateTable};
use crate::stats::{Stats, Stopwatch};
use store::Pending;

pub use result::{DroppedOutcome, Explored};

/// Searches the states that are reachable under the policy, or without one.
///
/// # Errors
/// A modelling error in a reachable state, or a feature that is not supported. A stop of the
/// budget is not an error: the result says how far the search got.
pub fn explicit(
    question: &Question<'_>,
    policy: Option<&Policy>,
    config: &ExplicitConfig,
    budget: &mut Budget,
    observer: &mut dyn Observer,
) -> Result<Explored, EngineError> {
    let mut search = Search::new(question, policy, config, observer);
    match search.run(budget) {
        Ok(()) => search.result(None),
        Err(EngineError::Stop(reason)) => search.result(Some(reason)),
        Err(error) => Err(error),
    }
}

/// Which transitions the search follows, see the [module](self).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Decided,
    Undecided,
    BehindTerminal,
}

/// A state that is expanded once more in a later stage, with what its earlier expansion counted.
#[derive(Clone, Copy, Debug)]
struct UndecidedState {
    id: StateId,
    transitions: u64,
    dropped: u64,
}

struct Search<'a> {
    question: &'a Question<'a>,
    config: &'a ExplicitConfig,
    observer: &'a mut dyn Observer,
    semantics: Semantics<'a>,
    packing: StatePacking,
    operators: LazyOperators<'a>,
    labels: PolicyLabels<'a>,
    unsafe_condition: CompiledCondition,
    terminal_condition: CompiledCondition,
    table: StateTable,
    /// By state: the state from which it was found; [`NO_PARENT`] for start states.
    parents: Vec<u32>,
    /// The number of states that were taken off the queue.
    taken: u32,
    stage: Stage,
    /// Terminal states, in the order in which they were taken.
    terminal: Vec<StateId>,
    undecided: Vec<UndecidedState>,
    /// The first unsafe state reached by decided choices.
    counterexample: Option<StateId>,
    /// The first unsafe state reached by an undecided choice.
    undecided_unsafe: Option<StateId>,
    /// Whether the model breaks its own rules where only an undecided choice leads.
    undecided_error: bool,
    /// Operators that dropped an outcome, with the first state.
    drops: Vec<(OpId, StateId)>,
    counts: Counts,
    stats: Stats,
    batch: Batch,
    pending: Pending,
    fired: Vec<OpId>,
    /// The labels of the operators that have a successor in the state that is expanded.
    served: Vec<Option<LabelId>>,
    point: Vec<i64>,
}

const NO_PARENT: u32 = u32::MAX;
/// How many successors, in words, wait at most to be stored.
const PENDING_WORDS: usize = 1 << 16;

impl<'a> Search<'a> {
    fn new(
        question: &'a Question<'a>,
        policy: Option<&'a Policy>,
        config: &'a ExplicitConfig,
        observer: &'a mut dyn Observer,
    ) -> Self {
        let model = question.model;
        let domains = model.domains();
        let semantics = Semantics { model, rule: question.domain_rule };
        let packing = StatePacking::new(&domains);
        let terminal = question.terminal.as_ref();
        Self {
            operators: LazyOperators::new(semantics),
            labels: PolicyLabels::new(model, policy),
            unsafe_condition: CompiledCondition::new(&question.property.unsafe_condition, &domains),
            terminal_condition: terminal.map_or(CompiledCondition::Constant(false), |condition| {
                CompiledCondition::new(condition, &domains)
            }),
            table: StateTable::new(packing.words()),
            parents: Vec::new(),
            taken: 0,
            stage: Stage::Decided,
            terminal: Vec::new(),
            undecided: Vec::new(),
            counterexample: None,
            undecided_unsafe: None,
            undecided_error: false,
            drops: Vec::new(),
            counts: Counts::default(),
            stats: Stats::default(),
            batch: Batch::new(&packing),
            pending: Pending::default(),
            fired: Vec::new(),
            served: Vec::new(),
            point: Vec::new(),
            question,
            config,
            observer,
            semantics,
            packing,
        }
    }

    fn run(&mut self, budget: &mut Budget) -> Result<(), EngineError> {
        self.add_start_states(budget)?;
        self.observer.event(Event::Phase("search"));
        if !self.is_answered() {
            self.expand(&[], budget)?;
        }
        if !self.is_answered() && !self.undecided.is_empty() {
            self.stage = Stage::Undecided;
            match self.expand_undecided(budget) {
                // Perhaps no reachable state has the error.
                Err(EngineError::Modelling(_)) => self.undecided_error = true,
                result => result?,
            }
        }
        if self.question.build_all && !self.terminal.is_empty() && !self.undecided_error {
            self.stage = Stage::BehindTerminal;
            let terminal = std::mem::take(&mut self.terminal);
            self.expand(&terminal, budget)?;
        }
        Ok(())
    }

    /// Whether the search ends here.
    fn is_answered(&self) -> bool {
        let open = self.counterexample.is_none() && self.undecided_unsafe.is_none();
        !open && !self.question.build_all && !self.question.keep_going && !self.may_be_shorter()
    }

    /// Whether a state that is not expanded yet may turn out to be stuck, nearer than the
    /// counterexample.
    fn may_be_shorter(&self) -> bool {
        let waits = |id: StateId| self.taken < id.0 && self.parents[id.index()] != NO_PARENT;
        self.question.stuck == StuckRule::Unsafe && self.counterexample.is_some_and(waits)
    }

    fn add_start_states(&mut self, budget: &mut Budget) -> Result<(), EngineError> {
        self.observer.event(Event::Phase("start states"));
        let mut watch = Stopwatch::start();
        let question = self.question;
        let limit = budget.limits().states;
        let limits = Limits { time: budget.remaining(), ..budget.limits().clone() };
        let mut between = Budget::new(limits, budget.cancel_flag().clone());
        let added = question.for_each_start_state(budget, &mut |state| {
            self.add_start(state)?;
            let waiting = self.table.len() - StateId(self.taken).index();
            if self.config.start_batch.is_some_and(|most| waiting >= most.get()) {
                self.expand(&[], &mut between)?;
            }
            match limit {
                // Stops the enumeration; the search has its answer.
                _ if self.is_answered() => Err(StopReason::Interrupted.into()),
                Some(limit) if self.table.len() as u64 > limit => {
                    Err(StopReason::States(limit).into())
                }
                _ => Ok(()),
            }
        });
        watch.lap(&mut self.stats.times.start_states);
        if self.is_answered() { Ok(()) } else { added }
    }

    /// Expands the states in whose choice the policy is undecided once more, with every label
    /// that competes, and then what that reaches.
    fn expand_undecided(&mut self, budget: &mut Budget) -> Result<(), EngineError> {
        let mut ids = Vec::new();
        for state in &self.undecided {
            self.counts.expanded_states -= 1;
            self.counts.transitions -= state.transitions;
            self.counts.dropped_outcomes -= state.dropped;
            ids.push(state.id);
        }
        self.expand(&ids, budget)
    }

    /// Expands these states and all that wait or are found.
    fn expand(&mut self, again: &[StateId], budget: &mut Budget) -> Result<(), EngineError> {
        let mut again = again.iter().copied();
        while !self.is_answered() {
            budget.poll_clock()?;
            self.batch.clear();
            while self.batch.len() < self.config.batch.get() {
                let Some(id) = again.next().or_else(|| self.take()) else { break };
                self.load(id);
            }
            if self.batch.len() == 0 {
                break;
            }
            self.expand_batch(budget)?;
            self.report();
        }
        Ok(())
    }

    /// The next state that waits.
    fn take(&mut self) -> Option<StateId> {
        let id = StateId(self.taken);
        (id.index() < self.table.len()).then(|| {
            self.taken += 1;
            id
        })
    }

    /// Puts a state into the batch, or aside if it is terminal. An unsafe one is expanded only to
    /// build everything.
    fn load(&mut self, id: StateId) {
        let behind = self.stage == Stage::BehindTerminal;
        let (condition, terminal) = (&self.terminal_condition, &mut self.terminal);
        // Else the search has ended at the first unsafe state.
        let goes_on = self.question.keep_going || self.question.stuck == StuckRule::Unsafe;
        let unsafe_waits = goes_on && !self.question.build_all;
        self.batch.load(id, &self.table, &self.packing, |state| {
            if unsafe_waits && self.unsafe_condition.truth(state) == Kleene::True {
                return false;
            }
            let expanded = behind || condition.truth(state) != Kleene::True;
            if !expanded {
                terminal.push(id);
            }
            expanded
        });
    }

    fn expand_batch(&mut self, budget: &mut Budget) -> Result<(), EngineError> {
        let mut watch = Stopwatch::start();
        self.stats.batches += 1;
        let mut outcome = self.batch.find_edges(&mut self.operators);
        watch.lap(&mut self.stats.times.guards);
        self.choose();
        watch.lap(&mut self.stats.times.policy);
        for row in 0..self.batch.len() {
            if let Err(error) = self.add_successors(row, budget) {
                outcome = Err(error);
                break;
            }
            if self.pending.words() > PENDING_WORDS {
                watch.lap(&mut self.stats.times.successors);
                self.store(budget)?;
                watch.lap(&mut self.stats.times.store);
                if self.is_answered() {
                    return Ok(());
                }
            }
        }
        watch.lap(&mut self.stats.times.successors);
        self.store(budget)?;
        watch.lap(&mut self.stats.times.store);
        // An unsafe state that comes before an error in the order of states counts.
        if self.is_answered() || self.may_be_shorter() { Ok(()) } else { outcome }
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
        self.labels.choose(match self.stage {
            Stage::Decided => Undecided::Excluded,
            Stage::Undecided | Stage::BehindTerminal => Undecided::Included,
        });
        self.stats.policy_evaluations += self.batch.len() as u64;
    }

    /// Computes the successors of a state of the batch.
    fn add_successors(&mut self, row: usize, budget: &mut Budget) -> Result<(), EngineError> {
        budget.poll()?;
        self.point.clear();
        self.point.extend_from_slice(self.batch.state(row));
        let allowed = self.labels.allowed(row);
        self.operators.operators(self.batch.edges(row), allowed, &mut self.fired)?;
        let id = self.batch.id(row);
        let packed = self.table.packed(id);
        let mut outcomes = Outcomes {
            packing: &self.packing,
            semantics: self.semantics,
            budget,
            packed: &mut self.pending.packed,
            dropped: 0,
        };
        let start = outcomes.packed.len();
        self.served.clear();
        for &op in &self.fired {
            let (operator, compiled) = self.operators.compiled(op);
            let (before, successors) = (outcomes.dropped, outcomes.packed.len());
            if let Err(error) = compiled.apply(operator, &mut self.point, packed, &mut outcomes) {
                self.pending.abandon(start);
                return Err(error);
            }
            if outcomes.dropped > before {
                self.pending.drops.push(op);
            }
            if outcomes.packed.len() > successors {
                self.served.push(operator.label);
            }
        }
        let dropped = outcomes.dropped;
        let undecided = self.stage == Stage::Decided && self.labels.is_undecided(row);
        self.pending.finish(id, dropped, undecided);
        if self.question.stuck == StuckRule::Unsafe && !undecided && self.is_stuck(row) {
            self.note_stuck(row);
        }
        Ok(())
    }

    /// Whether a run may get stuck in the state of this row: the environment has no successor, and
    /// the policy may choose something that has none, or chooses nothing.
    fn is_stuck(&self, row: usize) -> bool {
        let Some(choosable) = self.labels.choosable(row) else { return self.served.is_empty() };
        let (mut chooses, mut all_served) = (false, true);
        for label in choosable {
            chooses = true;
            all_served &= self.served.contains(&Some(label));
        }
        let is_chosen = |label: &Option<LabelId>| label.is_some_and(|l| self.labels.learn(l));
        let by_environment = !self.served.iter().all(is_chosen);
        let goes_on = by_environment || chooses && all_served;
        !goes_on
    }

    /// Notes a state in which a run may get stuck, if it must not.
    fn note_stuck(&mut self, row: usize) {
        let state = self.batch.state(row);
        let is_known = self.unsafe_condition.truth(state) == Kleene::True;
        if is_known || !self.question.must_go_on(state) {
            return;
        }
        self.stats.stuck_states += 1;
        self.note_unsafe(self.batch.id(row));
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
}
