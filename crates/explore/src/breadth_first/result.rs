//! The result of a search: verdict, counts, and what to know about them.

use policert_engine_api::{
    Budget, Counts, EngineError, Invariant, StopReason, Trace, UnknownReason, Verdict,
};
use policert_model::State;
use policert_policy::NarrowestLead;

use super::BreadthFirstSearch;
use crate::dropped_outcome::DroppedOutcome;
use crate::frontier::Frontier;
use crate::policy_successors::PolicySuccessors;
use crate::state_table::StateId;
use crate::stats::Stats;

/// Holds what an explicit search found.
#[derive(Clone, PartialEq, Debug)]
pub struct Explored {
    /// The answer. Unsafe comes with a shortest counterexample.
    pub verdict: Verdict,
    /// Counts; of what was reached until the end of the search, see [`Explored::stopped`].
    pub counts: Counts,
    /// The reason why the search ended before everything that was asked for was built. A verdict
    /// that does not depend on the rest stands nevertheless.
    pub stopped: Option<StopReason>,
    /// Operators that dropped an outcome, in the order in which they first did; as many as
    /// [`ExplicitConfig::drop_examples`](crate::ExplicitConfig::drop_examples) says.
    pub dropped: Vec<DroppedOutcome>,
    /// Of a safe verdict, if evidence is wanted: the states that it rests on, or why
    /// they cannot be written down.
    pub reached: Option<Result<Invariant, String>>,
    /// The narrowest lead of a best score in the states for which the policy was evaluated, where scores are
    /// in single precision.
    pub narrowest_lead: Option<NarrowestLead>,
    /// Counters and times.
    pub stats: Stats,
}

impl BreadthFirstSearch<'_> {
    pub(super) fn result(
        mut self,
        stopped: Option<StopReason>,
        budget: &mut Budget,
    ) -> Result<Explored, EngineError> {
        self.frontier.count();
        self.frontier.stats.undecided_choices = self.undecided.len() as u64;
        if let Some(last) = self.frontier.taken.checked_sub(1) {
            self.frontier.stats.depth = self.path(StateId(last)).len() as u64 - 1;
        }
        let dropped = self.frontier.dropped();
        let (counts, stats) = (self.frontier.counts, self.frontier.stats);
        let open = self.open(stopped);
        let is_wanted =
            self.frontier.question.evidence && self.counterexample.is_none() && open.is_none();
        let reached = is_wanted.then(|| self.reached(budget));
        let narrowest_lead = self.frontier.labels.narrowest_lead();
        let verdict = match (self.counterexample, open) {
            (Some(id), _) => Verdict::Unsafe(self.trace(id)?),
            (None, Some(reason)) => Verdict::Unknown(reason),
            (None, None) => Verdict::Safe { vacuous: counts.start_states == 0 },
        };
        Ok(Explored { verdict, counts, stopped, dropped, reached, narrowest_lead, stats })
    }

    /// The reason why it is open whether there is a counterexample where none was found.
    fn open(&self, stopped: Option<StopReason>) -> Option<UnknownReason> {
        // Behind terminal states there is nothing that the verdict depends on.
        if let Some(reason) = stopped
            && self.stage != super::Stage::BehindTerminal
        {
            return Some(UnknownReason::Stopped(reason));
        }
        let id = self.open_choice()?;
        Some(self.frontier.question.undecided_choice(&self.frontier.state(id)))
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

    /// The states from a start state to `id`.
    pub(super) fn path(&self, mut id: StateId) -> Vec<StateId> {
        let mut path = vec![id];
        while let Some(parent) = self.parents.of(id) {
            path.push(parent);
            id = parent;
        }
        path.reverse();
        path
    }

    /// The run to `id`, by the reference semantics.
    fn trace(self, id: StateId) -> Result<Trace, EngineError> {
        let path = self.path(id);
        let states: Vec<State> = path.into_iter().map(|id| self.frontier.state(id)).collect();
        let Frontier { question, semantics, operators, labels, .. } = self.frontier;
        let mut successors = PolicySuccessors::from_parts(question, semantics, operators, labels);
        let mut steps = Vec::new();
        for pair in states.windows(2) {
            let step = successors.step(&pair[0], &pair[1])?;
            steps.push(step.ok_or_else(|| {
                EngineError::Internal("a stored transition is none by the semantics".to_owned())
            })?);
        }
        Ok(Trace { start: states[0].clone(), steps })
    }
}
