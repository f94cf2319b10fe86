//! Breadth-first search of the states that the policy reaches (BRFS in the papers).
//!
//! Input: a question, perhaps a policy. Output: a verdict with a shortest counterexample.
//!
//! The search has three stages:
//! 1. what is reached by decided choices of the policy, in the order of distance: the first
//!    unsafe state gives a shortest counterexample;
//! 2. what is reached besides where an undecided choice may be any label that is not excluded: an
//!    unsafe state among it leaves the answer open;
//! 3. only to build everything: what lies behind terminal states. It has no say in the verdict.
//!
//! Where stuck states are unsafe, a state turns out to be one when it is expanded. So the search goes on
//! until no nearer one can come.

mod parents;
mod reached;
mod result;
mod store;

use policert_engine_api::{
    Budget, EngineError, Event, Limits, Observer, Question, StopReason, StuckRule,
};
use policert_model::LabelId;
use policert_policy::Policy;

use crate::compiled::Outcomes;
use crate::config::ExplicitConfig;
use crate::frontier::{Frontier, Sink, expand, holds};
use crate::policy_labels::Undecided;
use crate::state_table::StateId;
use crate::stats::Stopwatch;
use parents::Parents;
use store::Pending;

pub use result::Explored;

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
    let mut search = BreadthFirstSearch::new(Frontier::new(question, policy, config, observer));
    let stopped = match search.run(budget) {
        Ok(()) => None,
        Err(EngineError::Stop(reason)) => Some(reason),
        Err(error) => return Err(error),
    };
    search.result(stopped, budget)
}

/// Says which transitions the search follows, see the [module](self).
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

struct BreadthFirstSearch<'a> {
    frontier: Frontier<'a>,
    parents: Parents,
    stage: Stage,
    /// Terminal states, in the order in which they were taken, if everything is to be built.
    terminal: Vec<StateId>,
    undecided: Vec<UndecidedState>,
    /// The first unsafe state reached by decided choices.
    counterexample: Option<StateId>,
    /// The first unsafe state reached by an undecided choice.
    undecided_unsafe: Option<StateId>,
    /// True if the model breaks its own rules where only an undecided choice leads.
    undecided_error: bool,
    pending: Pending,
    /// The number of states that the verdict depends on: those not behind terminal ones.
    before_terminal: Option<usize>,
    /// The labels of the operators that have a successor in the state that is expanded.
    served: Vec<Option<LabelId>>,
}

impl<'a> BreadthFirstSearch<'a> {
    fn new(frontier: Frontier<'a>) -> Self {
        Self {
            frontier,
            parents: Parents::default(),
            stage: Stage::Decided,
            terminal: Vec::new(),
            undecided: Vec::new(),
            counterexample: None,
            undecided_unsafe: None,
            undecided_error: false,
            pending: Pending::default(),
            before_terminal: None,
            served: Vec::new(),
        }
    }

    fn run(&mut self, budget: &mut Budget) -> Result<(), EngineError> {
        self.add_start_states(budget)?;
        self.frontier.observer.event(Event::Phase("search"));
        if !self.is_answered() {
            expand(self, &[], budget)?;
        }
        if !self.is_answered() && !self.undecided.is_empty() {
            self.stage = Stage::Undecided;
            match self.expand_undecided(budget) {
                // Perhaps no reachable state has the error.
                Err(EngineError::Modelling(_)) => self.undecided_error = true,
                result => result?,
            }
        }
        if self.frontier.question.build_all && !self.terminal.is_empty() && !self.undecided_error {
            self.stage = Stage::BehindTerminal;
            self.before_terminal = Some(self.frontier.table.len());
            let terminal = std::mem::take(&mut self.terminal);
            expand(self, &terminal, budget)?;
        }
        Ok(())
    }

    /// Returns whether a state that is not expanded yet may turn out to be stuck, nearer than the
    /// counterexample.
    fn may_be_shorter(&self) -> bool {
        let waits = |id: StateId| self.frontier.taken < id.0 && self.parents.of(id).is_some();
        self.frontier.question.stuck == StuckRule::Unsafe && self.counterexample.is_some_and(waits)
    }

    fn add_start_states(&mut self, budget: &mut Budget) -> Result<(), EngineError> {
        self.frontier.observer.event(Event::Phase("start states"));
        let mut watch = Stopwatch::start();
        let question = self.frontier.question;
        let limit = budget.limits().states;
        let limits = Limits { time: budget.remaining(), ..budget.limits().clone() };
        let mut between = Budget::new(limits, budget.cancel_flag().clone());
        let added = question.for_each_start_state(budget, &mut |state| {
            self.add_start(state)?;
            let waiting = self.frontier.table.len() - StateId(self.frontier.taken).index();
            if self.frontier.config.start_batch.is_some_and(|most| waiting >= most.get()) {
                expand(self, &[], &mut between)?;
            }
            match limit {
                // Stops the enumeration; the search has its answer.
                _ if self.is_answered() => Err(StopReason::Interrupted.into()),
                Some(limit) if self.frontier.table.len() as u64 > limit => {
                    Err(StopReason::States(limit).into())
                }
                _ => Ok(()),
            }
        });
        watch.lap(&mut self.frontier.stats.times.start_states);
        if self.is_answered() { Ok(()) } else { added }
    }

    /// Expands the states in whose choice the policy is undecided once more, with every label
    /// that may be chosen, and then what that reaches.
    fn expand_undecided(&mut self, budget: &mut Budget) -> Result<(), EngineError> {
        let mut ids = Vec::new();
        for state in &self.undecided {
            self.frontier.counts.expanded_states -= 1;
            self.frontier.counts.transitions -= state.transitions;
            self.frontier.counts.dropped_outcomes -= state.dropped;
            ids.push(state.id);
        }
        expand(self, &ids, budget)
    }

    /// Returns whether a run may get stuck in the state of this row: the environment has no
    /// successor, and the policy may choose something that has none, or chooses nothing.
    fn is_stuck(&self, row: usize) -> bool {
        let Some(choosable) = self.frontier.labels.choosable(row) else {
            return self.served.is_empty();
        };
        let (mut chooses, mut all_served) = (false, true);
        for label in choosable {
            chooses = true;
            all_served &= self.served.contains(&Some(label));
        }
        let is_chosen =
            |label: &Option<LabelId>| label.is_some_and(|l| self.frontier.labels.learn(l));
        let by_environment = !self.served.iter().all(is_chosen);
        let goes_on = by_environment || chooses && all_served;
        !goes_on
    }

    /// Notes a state in which a run may get stuck, if it must not.
    fn note_stuck(&mut self, row: usize) {
        let state = self.frontier.batch.state(row);
        let is_known = holds(&self.frontier.unsafe_condition, state);
        if is_known || !self.frontier.question.must_go_on(state) {
            return;
        }
        self.frontier.stats.stuck_states += 1;
        self.note_unsafe(self.frontier.batch.id(row));
    }
}

impl<'a> Sink<'a> for BreadthFirstSearch<'a> {
    fn frontier(&mut self) -> &mut Frontier<'a> {
        &mut self.frontier
    }

    /// A terminal state is put aside, and an unsafe one is expanded only to build everything.
    #[inline]
    fn load(&mut self, id: StateId) {
        let behind = self.stage == Stage::BehindTerminal;
        let terminal = &mut self.terminal;
        let Frontier {
            question, batch, table, packing, unsafe_condition, terminal_condition, ..
        } = &mut self.frontier;
        // Else the search has ended at the first unsafe state.
        let goes_on = question.keep_going || question.stuck == StuckRule::Unsafe;
        let unsafe_waits = goes_on && !question.build_all;
        batch.load(id, table, packing, |state| {
            if unsafe_waits && holds(unsafe_condition, state) {
                return false;
            }
            let expanded = behind || !holds(terminal_condition, state);
            if !expanded && question.build_all {
                terminal.push(id);
            }
            expanded
        });
    }

    fn undecided(&self) -> Undecided {
        match self.stage {
            Stage::Decided => Undecided::Excluded,
            Stage::Undecided | Stage::BehindTerminal => Undecided::Included,
        }
    }

    #[inline]
    fn add_successors(&mut self, row: usize, budget: &mut Budget) -> Result<(), EngineError> {
        budget.poll()?;
        let frontier = &mut self.frontier;
        let id = frontier.fire(row)?;
        let packed = frontier.table.packed(id);
        let mut outcomes = Outcomes {
            packing: &frontier.packing,
            semantics: frontier.semantics,
            budget,
            packed: &mut self.pending.packed,
            dropped: 0,
        };
        let start = outcomes.packed.len();
        self.served.clear();
        for &op in &frontier.fired {
            let (operator, compiled) = frontier.operators.compiled(op);
            let (before, successors) = (outcomes.dropped, outcomes.packed.len());
            let point = &mut frontier.point;
            if let Err(error) = compiled.apply(operator, point, packed, &mut outcomes) {
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
        let undecided = self.stage == Stage::Decided && frontier.labels.is_undecided(row);
        self.pending.finish(id, dropped, undecided);
        let stuck_counts = self.frontier.question.stuck == StuckRule::Unsafe;
        if stuck_counts && !undecided && self.is_stuck(row) {
            self.note_stuck(row);
        }
        Ok(())
    }

    fn waiting_words(&self) -> usize {
        self.pending.packed.len()
    }

    /// Ends early at an unsafe state that answers the question.
    fn store(&mut self, budget: &Budget) -> Result<(), EngineError> {
        let mut pending = std::mem::take(&mut self.pending);
        let stored = self.store_all(&mut pending, budget);
        pending.clear();
        self.pending = pending;
        stored
    }

    fn is_answered(&self) -> bool {
        let question = self.frontier.question;
        let open = self.counterexample.is_none() && self.undecided_unsafe.is_none();
        !open && !question.build_all && !question.keep_going && !self.may_be_shorter()
    }

    fn outranks_errors(&self) -> bool {
        self.is_answered() || self.may_be_shorter()
    }
}
