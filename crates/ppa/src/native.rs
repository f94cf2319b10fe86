//! Native answers: interval reasoning for the environment, the decision oracle for the policy.

use std::ops::ControlFlow;

use policert_bounds::{DecisionMap, Oracle, SelectionQuery};
use policert_engine_api::{Answer, Budget, EngineError};
use policert_model::{Condition, State, find_point};
use policert_numeric::IntBox;

use crate::queries::{Environment, Selection};
use crate::region::Region;

/// Interval reasoning: for unary models every query is answered by the box alone; otherwise
/// bound propagation and bisection, complete on bounded boxes.
#[derive(Clone, Copy, Debug, Default)]
pub struct NativeEnvironment;

impl NativeEnvironment {
    /// The answer, or `None` after so many steps of bisection; without a limit it goes on to the end.
    ///
    /// # Errors
    /// A stop of the budget.
    pub fn search(
        region: &Region<'_>,
        step_limit: Option<u64>,
        budget: &mut Budget,
    ) -> Result<Option<Answer<State>>, EngineError> {
        if region.is_empty() {
            return Ok(Some(Answer::Refuted));
        }
        if region.is_box() {
            return Ok(Some(Answer::Possible(Some(region.sides.lower_corner()))));
        }
        let condition = Condition::and(region.conditions.iter().map(|&c| c.clone()));
        Self::find(&condition, &region.sides, step_limit, budget)
    }

    fn find(
        condition: &Condition,
        sides: &IntBox,
        step_limit: Option<u64>,
        budget: &mut Budget,
    ) -> Result<Option<Answer<State>>, EngineError> {
        let mut steps = 0u64;
        let found = find_point(condition, sides, &mut || {
            steps += 1;
            if step_limit.is_some_and(|limit| steps > limit) {
                return ControlFlow::Break(Ok(None));
            }
            match budget.poll() {
                Ok(()) => ControlFlow::Continue(()),
                Err(stop) => ControlFlow::Break(Err(stop.into())),
            }
        })?;
        match found {
            ControlFlow::Break(stopped) => stopped,
            ControlFlow::Continue(Some(point)) => Ok(Some(Answer::Possible(Some(point)))),
            ControlFlow::Continue(None) => Ok(Some(Answer::Refuted)),
        }
    }
}

impl Environment for NativeEnvironment {
    fn is_satisfiable(
        &mut self,
        region: &Region<'_>,
        budget: &mut Budget,
    ) -> Result<Answer<State>, EngineError> {
        Self::search(region, None, budget)?
            .ok_or_else(|| EngineError::Undecided("bisection ended early".to_owned()))
    }
}

/// The decision oracle, with one decision map for all tests about one abstract state.
#[derive(Debug)]
pub struct NativeSelection<'a> {
    oracle: Oracle<'a>,
    map: Option<DecisionMap>,
}

impl<'a> NativeSelection<'a> {
    /// Answers by this oracle.
    #[must_use]
    pub fn new(oracle: Oracle<'a>) -> Self {
        Self { oracle, map: None }
    }
}

impl Selection for NativeSelection<'_> {
    fn enter(&mut self, states: &Region<'_>) {
        self.map = Some(DecisionMap::new(&self.oracle, &states.sides));
    }

    fn limit_boxes(&mut self, limit: Option<u64>) {
        self.oracle.limit_boxes(limit);
    }

    fn is_selected(
        &mut self,
        region: &Region<'_>,
        output: usize,
        budget: &mut Budget,
    ) -> Result<Answer<State>, EngineError> {
        if region.is_empty() {
            return Ok(Answer::Refuted);
        }
        let query =
            SelectionQuery { region: &region.sides, conditions: &region.conditions, output };
        Ok(match &mut self.map {
            Some(map) => map.decide(&mut self.oracle, &query, budget)?,
            None => self.oracle.decide(&query, budget)?,
        })
    }

    fn is_selected_relaxed(
        &mut self,
        region: &Region<'_>,
        output: usize,
        budget: &mut Budget,
    ) -> Result<Answer<State>, EngineError> {
        if region.is_empty() {
            return Ok(Answer::Refuted);
        }
        let query =
            SelectionQuery { region: &region.sides, conditions: &region.conditions, output };
        // A witness over the reals is no state.
        Ok(match self.oracle.decide_relaxed(&query, budget)? {
            Answer::Refuted => Answer::Refuted,
            Answer::Possible(_) => Answer::Possible(None),
        })
    }
}
