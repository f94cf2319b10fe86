//! The result of a search: verdict, counts, and what to know about them.

use policert_engine_api::{Counts, EngineError, Trace, UnknownReason, Verdict};
use policert_model::{DomainRule, ModellingError, OperatorKey, Semantics, State};

use super::{NO_PARENT, Search, StateId, Stats, StopReason};
use crate::policy_successors::PolicySuccessors;

/// What an explicit search found.
#[derive(Clone, PartialEq, Debug)]
pub struct Explored {
    /// The answer. Unsafe comes with a shortest counterexample.
    pub verdict: Verdict,
    /// Counts; of what was reached until the end of the search, see [`Explored::stopped`].
    pub counts: Counts,
    /// Why the search ended before everything that was asked for was built. A verdict that does
    /// not depend on the rest stands nevertheless.
    pub stopped: Option<StopReason>,
    /// Operators that dropped an outcome, in the order in which they first did; as many as
    /// [`ExplicitConfig::drop_examples`](crate::ExplicitConfig::drop_examples) says.
    pub dropped: Vec<DroppedOutcome>,
    /// Counters and times.
    pub stats: Stats,
}

/// An operator that dropped an outcome: one that leaves a domain, or writes an array cell that
/// does not exist.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DroppedOutcome {
    /// The operator.
    pub operator: OperatorKey,
    /// The first state in which it happened.
    pub state: State,
    /// What happened there, naming the variable.
    pub problem: ModellingError,
}

impl Search<'_> {
    pub(super) fn result(mut self, stopped: Option<StopReason>) -> Result<Explored, EngineError> {
        self.counts.reachable_states = self.table.len() as u64;
        self.stats.operators = self.operators.composed() as u64;
        self.stats.exact_decisions = self.labels.exact_decisions();
        self.stats.undecided_choices = self.undecided.len() as u64;
        if let Some(last) = self.taken.checked_sub(1) {
            self.stats.depth = self.path(StateId(last)).len() as u64 - 1;
        }
        let dropped = self.dropped();
        let (counts, stats) = (self.counts, self.stats);
        let verdict = self.verdict(stopped)?;
        Ok(Explored { verdict, counts, stopped, dropped, stats })
    }

    fn verdict(self, stopped: Option<StopReason>) -> Result<Verdict, EngineError> {
        if let Some(id) = self.counterexample {
            return self.trace(id).map(Verdict::Unsafe);
        }
        // Behind terminal states there is nothing that the verdict depends on.
        if let Some(reason) = stopped
            && self.stage != super::Stage::BehindTerminal
        {
            return Ok(Verdict::Unknown(UnknownReason::Stopped(reason)));
        }
        if let Some(id) = self.open_choice() {
            let state = self.question.model.display_state(&self.state(id));
            return Ok(Verdict::Unknown(UnknownReason::UndecidedChoice { state }));
        }
        Ok(Verdict::Safe { vacuous: self.counts.start_states == 0 })
    }

    /// A state whose undecided choice leaves the answer open.
    fn open_choice(&self) -> Option<StateId> {
        let is_undecided = |id: &StateId| self.undecided.iter().any(|state| state.id == *id);
        match self.undecided_unsafe {
            Some(id) => self.path(id).into_iter().find(is_undecided).or(Some(id)),
            None if self.undecided_error => self.undecided.first().map(|state| state.id),
            None => None,
        }
    }

    fn state(&self, id: StateId) -> State {
        let mut state = vec![0; self.packing.variables()];
        self.packing.unpack(self.table.packed(id), &mut state);
        state
    }

    /// The states from a start state to `id`.
    pub(super) fn path(&self, mut id: StateId) -> Vec<StateId> {
        let mut path = vec![id];
        while self.parents[id.index()] != NO_PARENT {
            id = StateId(self.parents[id.index()]);
            path.push(id);
        }
        path.reverse();
        path
    }

    /// The run to `id`, by the reference semantics.
    fn trace(self, id: StateId) -> Result<Trace, EngineError> {
        let states: Vec<State> = self.path(id).into_iter().map(|id| self.state(id)).collect();
        let (semantics, operators) = (self.semantics, self.operators);
        let mut successors =
            PolicySuccessors::from_parts(self.question, semantics, operators, self.labels);
        let mut steps = Vec::new();
        for pair in states.windows(2) {
            let step = successors.step(&pair[0], &pair[1])?;
            steps.push(step.ok_or_else(|| {
                EngineError::Internal("a stored transition is none by the semantics".to_owned())
            })?);
        }
        Ok(Trace { start: states[0].clone(), steps })
    }

    fn dropped(&self) -> Vec<DroppedOutcome> {
        let strict = Semantics { rule: DomainRule::Error, ..self.semantics };
        let explain = |&(op, id)| {
            let (operator, state) = (self.operators.operator(op), self.state(id));
            let problem = strict.successors(operator, &state).err()?;
            Some(DroppedOutcome { operator: operator.key.clone(), state, problem })
        };
        self.drops.iter().filter_map(explain).collect()
    }
}
