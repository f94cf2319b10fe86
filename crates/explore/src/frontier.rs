//! The frontier of a search: the states that were found, in the order of finding, and how those that
//! wait are expanded. Two searches have one: [`explicit`](crate::explicit) keeps the states that are
//! reached, [`induced_mdp`](crate::induced_mdp) their choices too.
//!
//! States go through in batches: unpack, guards, policy, successors, store. The batch size changes
//! neither the order of states nor the answer.

use policert_engine_api::{Budget, Counts, EngineError, Event, Observer, Question};
use policert_mdp::StateSet;
use policert_model::{DomainRule, ModelSemantics, OpId, State};
use policert_policy::Policy;

use crate::batch::Batch;
use crate::compiled::{CompiledCondition, Kleene};
use crate::config::ExplicitConfig;
use crate::dropped_outcome::DroppedOutcome;
use crate::lazy_operators::LazyOperators;
use crate::packing::StatePacking;
use crate::policy_labels::{PolicyLabels, Undecided};
use crate::state_table::{StateId, StateTable};
use crate::stats::{Stats, Stopwatch};

/// The greatest number of words in successors that wait to be stored.
const PENDING_WORDS: usize = 1 << 16;

/// The states that were found, and what expands them.
pub(crate) struct Frontier<'a> {
    pub question: &'a Question<'a>,
    pub config: &'a ExplicitConfig,
    pub observer: &'a mut dyn Observer,
    pub semantics: ModelSemantics<'a>,
    pub packing: StatePacking,
    pub operators: LazyOperators<'a>,
    pub labels: PolicyLabels<'a>,
    pub unsafe_condition: CompiledCondition,
    pub terminal_condition: CompiledCondition,
    pub table: StateTable,
    /// The number of states that were taken off the queue.
    pub taken: u32,
    /// Operators that dropped an outcome, with the first state.
    drops: Vec<(OpId, StateId)>,
    /// The start states, which may be reached before they are found to be such.
    starts: StateSet,
    pub counts: Counts,
    pub stats: Stats,
    pub batch: Batch,
    /// The operators that the policy allows in the state that is expanded.
    pub fired: Vec<OpId>,
    /// The values of a state.
    pub point: Vec<i64>,
    packed: Vec<u64>,
}

/// Says what a search does with the states of its frontier.
pub(crate) trait Sink<'a> {
    fn frontier(&mut self) -> &mut Frontier<'a>;

    /// Puts a state into the batch, unless it is not to be expanded.
    fn load(&mut self, id: StateId);

    /// Returns which labels count as chosen where the policy's choice is undecided.
    fn undecided(&self) -> Undecided;

    /// Computes the successors of a state of the batch; after an error none of them waits.
    fn add_successors(&mut self, row: usize, budget: &mut Budget) -> Result<(), EngineError>;

    /// The number of words of the successors that wait to be stored.
    fn waiting_words(&self) -> usize;

    /// Stores the successors that wait.
    fn store(&mut self, budget: &Budget) -> Result<(), EngineError>;

    /// Returns whether the search ends here.
    fn is_answered(&self) -> bool {
        false
    }

    /// Returns whether what was found counts more than an error in a later state.
    fn outranks_errors(&self) -> bool {
        self.is_answered()
    }
}

impl<'a> Frontier<'a> {
    pub fn new(
        question: &'a Question<'a>,
        policy: Option<&'a Policy>,
        config: &'a ExplicitConfig,
        observer: &'a mut dyn Observer,
    ) -> Self {
        let model = question.model;
        let domains = model.domains();
        let semantics = ModelSemantics { model, rule: question.domain_rule };
        let packing = StatePacking::new(&domains);
        let compiled = |condition| CompiledCondition::new(condition, &domains);
        let never = CompiledCondition::Constant(false);
        Self {
            operators: LazyOperators::new(semantics),
            labels: PolicyLabels::new(model, policy),
            unsafe_condition: compiled(&question.property.unsafe_condition),
            terminal_condition: question.terminal.as_ref().map_or(never, compiled),
            table: StateTable::new(packing.words()),
            taken: 0,
            drops: Vec::new(),
            starts: StateSet::default(),
            counts: Counts::default(),
            stats: Stats::default(),
            batch: Batch::new(&packing),
            fired: Vec::new(),
            point: Vec::new(),
            packed: Vec::new(),
            question,
            config,
            observer,
            semantics,
            packing,
        }
    }

    /// Stores a start state; `None` if it is known.
    pub fn add_start(&mut self, state: &[i64]) -> Result<Option<StateId>, EngineError> {
        let variables = &self.question.model.variables;
        let fits = state.len() == variables.len()
            && variables.iter().zip(state).all(|(v, &value)| v.domain.contains(value));
        if !fits {
            let state = self.question.model.display_state(state);
            let message = format!("start state outside the variables' domains: {state}");
            return Err(EngineError::Unsupported(message));
        }
        self.packed.resize(self.packing.words(), 0);
        self.packing.pack(state, &mut self.packed);
        let (id, new) = self.table.insert(&self.packed, StateTable::hash(&self.packed))?;
        self.counts.start_states += u64::from(self.starts.insert(id.0));
        Ok(new.then_some(id))
    }

    /// The next state that waits.
    #[inline]
    fn take(&mut self) -> Option<StateId> {
        let id = StateId(self.taken);
        (id.index() < self.table.len()).then(|| {
            self.taken += 1;
            id
        })
    }

    /// Asks the policy for its choices in the states of the batch.
    fn choose(&mut self, undecided: Undecided) {
        if !self.labels.restrict() {
            return;
        }
        self.labels.clear();
        for row in 0..self.batch.len() {
            let (state, edges) = (self.batch.state(row), self.batch.edges(row));
            self.labels.add(state, edges, &mut self.operators);
        }
        self.labels.choose(undecided);
        self.stats.policy_evaluations += self.batch.len() as u64;
    }

    /// Finds the operators that the policy allows in a state of the batch, and returns its id.
    #[inline]
    pub fn fire(&mut self, row: usize) -> Result<StateId, EngineError> {
        self.point.clear();
        self.point.extend_from_slice(self.batch.state(row));
        let allowed = self.labels.allowed(row);
        self.operators.operators(self.batch.edges(row), allowed, &mut self.fired)?;
        Ok(self.batch.id(row))
    }

    /// Counts an expanded state with its dropped outcomes, and notes the operators that dropped them.
    #[inline]
    pub fn note_expanded(&mut self, id: StateId, dropped: u64, drops: &[OpId]) {
        self.counts.expanded_states += 1;
        self.counts.dropped_outcomes += dropped;
        for &op in drops {
            let known = self.drops.iter().any(|&(o, _)| o == op);
            if self.drops.len() < self.config.drop_examples && !known {
                self.drops.push((op, id));
            }
        }
    }

    /// Unpacks a state into `point`.
    #[inline]
    pub fn look_at(&mut self, id: StateId) {
        self.point.resize(self.packing.variables(), 0);
        self.packing.unpack(self.table.packed(id), &mut self.point);
    }

    /// The values of a state.
    pub fn state(&self, id: StateId) -> State {
        let mut state = vec![0; self.packing.variables()];
        self.packing.unpack(self.table.packed(id), &mut state);
        state
    }

    /// The operators that dropped an outcome, each with what happened first.
    pub fn dropped(&self) -> Vec<DroppedOutcome> {
        let strict = ModelSemantics { rule: DomainRule::Error, ..self.semantics };
        let explain = |&(op, id)| {
            let (operator, state) = (self.operators.operator(op), self.state(id));
            let problem = strict.successors(operator, &state).err()?;
            Some(DroppedOutcome { operator: operator.key.clone(), state, problem })
        };
        self.drops.iter().filter_map(explain).collect()
    }

    /// Completes the counts at the end of the search.
    pub fn count(&mut self) {
        self.counts.reachable_states = self.table.len() as u64;
        self.stats.operators = self.operators.composed() as u64;
        self.stats.exact_decisions = self.labels.exact_decisions();
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

/// Returns whether a condition holds in a state; one without truth value does not.
pub(crate) fn holds(condition: &CompiledCondition, state: &[i64]) -> bool {
    condition.truth(state) == Kleene::True
}

/// Expands these states once more, then all that wait or are found.
pub(crate) fn expand<'a>(
    sink: &mut impl Sink<'a>,
    again: &[StateId],
    budget: &mut Budget,
) -> Result<(), EngineError> {
    let mut again = again.iter().copied();
    while !sink.is_answered() {
        budget.poll_clock()?;
        sink.frontier().batch.clear();
        while sink.frontier().batch.len() < sink.frontier().config.batch.get() {
            let Some(id) = again.next().or_else(|| sink.frontier().take()) else { break };
            sink.load(id);
        }
        if sink.frontier().batch.len() == 0 {
            break;
        }
        expand_batch(sink, budget)?;
        sink.frontier().report();
    }
    Ok(())
}

fn expand_batch<'a>(sink: &mut impl Sink<'a>, budget: &mut Budget) -> Result<(), EngineError> {
    let mut watch = Stopwatch::start();
    let undecided = sink.undecided();
    let frontier = sink.frontier();
    frontier.stats.batches += 1;
    let mut outcome = frontier.batch.find_edges(&mut frontier.operators);
    watch.lap(&mut frontier.stats.times.guards);
    frontier.choose(undecided);
    watch.lap(&mut frontier.stats.times.policy);
    for row in 0..frontier.batch.len() {
        if let Err(error) = sink.add_successors(row, budget) {
            outcome = Err(error);
            break;
        }
        if sink.waiting_words() > PENDING_WORDS {
            store(sink, &mut watch, budget)?;
            if sink.is_answered() {
                return Ok(());
            }
        }
    }
    store(sink, &mut watch, budget)?;
    // What comes before an error in the order of states counts.
    if sink.outranks_errors() { Ok(()) } else { outcome }
}

fn store<'a>(
    sink: &mut impl Sink<'a>,
    watch: &mut Stopwatch,
    budget: &Budget,
) -> Result<(), EngineError> {
    watch.lap(&mut sink.frontier().stats.times.successors);
    sink.store(budget)?;
    watch.lap(&mut sink.frontier().stats.times.store);
    Ok(())
}
