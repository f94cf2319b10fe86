//! The four sub-procedures that Algorithm 1 leaves open, as a contract.

use policert_engine_api::{Budget, EngineError};
use policert_model::State;
use policert_numeric::IntBox;

use crate::{Frames, Generalized};

/// A transition that leads into a frame.
#[derive(Clone, PartialEq, Debug)]
pub struct Succession<S> {
    /// The state after it.
    pub state: State,
    /// The transition, as a path reports it.
    pub step: S,
}

/// A transition system seen through the sub-procedures of Algorithm 1.
///
/// "Selection not possible" is `Ok(None)` and must be proved; a stop or a query that stays open is
/// an error. ℱ₀ is the unsafe condition, which `frames` does not hold: [`is_target`] decides it.
/// `state` always is a state that can be reached from a start state.
///
/// [`is_target`]: SubProcedures::is_target
pub trait SubProcedures {
    /// Says what a path says about a step.
    type Step: Clone + Send;

    /// The box of all states.
    fn domains(&self) -> IntBox;

    /// Returns whether a state satisfies ℱ₀.
    fn is_target(&self, state: &[i64]) -> bool;

    /// *Assertion 1.*
    ///
    /// # Ensures
    /// A start state s ⊨ ℱ_N; `None` only if there is none.
    ///
    /// # Errors
    /// A stop of the budget, or what cannot be decided.
    fn select_start_state(
        &mut self,
        frames: &Frames,
        budget: &mut Budget,
    ) -> Result<Option<State>, EngineError>;

    /// Returns how many threads may work on it side by side.
    fn threads(&self) -> usize {
        1
    }

    /// *Assertion 1* for several start states, which are searched from side by side.
    ///
    /// # Ensures
    /// Different start states s ⊨ ℱ_N, at most `count`; none only if there is none. Those that are
    /// not in a reason once all were searched from may not be selected again while N stays.
    ///
    /// # Errors
    /// A stop of the budget, or what cannot be decided.
    fn select_start_states(
        &mut self,
        frames: &Frames,
        _count: usize,
        budget: &mut Budget,
    ) -> Result<Vec<State>, EngineError> {
        Ok(self.select_start_state(frames, budget)?.into_iter().collect())
    }

    /// Does pieces of work side by side, each on a copy of the system; at most as many as there are
    /// threads. Results come in the order of the work.
    fn side_by_side<T: Send, R: Send>(
        &mut self,
        work: Vec<T>,
        run: impl Fn(&mut Self, T) -> R + Sync,
    ) -> Vec<R>
    where
        Self: Sized,
    {
        work.into_iter().map(|piece| run(self, piece)).collect()
    }

    /// *Assertion 2.*
    ///
    /// # Ensures
    /// A transition from `state` to some s' ⊨ ℱₙ, n = `frame`; `None` only if there is none.
    ///
    /// # Errors
    /// A stop of the budget, or a modelling error in `state`.
    fn select_successor_state(
        &mut self,
        state: &State,
        frames: &Frames,
        frame: usize,
        budget: &mut Budget,
    ) -> Result<Option<Succession<Self::Step>>, EngineError>;

    /// All transitions from `state`, those first that are certain.
    ///
    /// # Errors
    /// A modelling error in `state`.
    fn successors(&mut self, state: &State) -> Result<Vec<Succession<Self::Step>>, EngineError>;

    /// *Assertion 4.*
    ///
    /// # Requires
    /// None of `states` is in ℱ₀, nor has a transition into ℱₙ, n = `frame`, but to each other.
    ///
    /// # Ensures
    /// Boxes around all of `states`, (i) no state of which is in ℱ₀, and (ii) no state of which
    /// has a transition into the frame that comes with them, n or a later one up to N − 1, but for
    /// transitions into the boxes themselves: their clauses are inductive relative to the frame.
    ///
    /// # Errors
    /// A stop of the budget.
    fn generalize_reason(
        &mut self,
        states: &[State],
        frames: &Frames,
        frame: usize,
        budget: &mut Budget,
    ) -> Result<Generalized, EngineError>;

    /// *Assertions 3 and 5.*
    ///
    /// # Ensures
    /// A clause ¬r of ℱₘ is moved into ℱ_{m+1} only if no state of r has a transition into ℱₘ, and
    /// is moved whenever [`generalize_reason`](Self::generalize_reason) would find that.
    ///
    /// # Errors
    /// A stop of the budget.
    fn propagate_clauses(
        &mut self,
        frames: &mut Frames,
        budget: &mut Budget,
    ) -> Result<(), EngineError>;
}
