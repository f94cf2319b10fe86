//! Native answers: interval reasoning for the environment, the decision oracle for the policy.

use policert_engine_api::{Answer, Budget, EngineError, point_in_steps};
use policert_model::{Conjunction, State};
use policert_numeric::IntBox;
use policert_symbolic::PolicyRegion;

use crate::queries::{EnvironmentTests, Selection};
use crate::region::Region;

/// Interval reasoning: for unary models every query is answered by the box alone; otherwise
/// bound propagation and bisection, complete on bounded boxes.
#[derive(Clone, Copy, Debug, Default)]
pub struct NativeEnvironment;

impl NativeEnvironment {
    /// The answer, or `None` after this many steps of bisection.
    ///
    /// # Errors
    /// A stop of the budget.
    pub fn search(
        region: &Region<'_>,
        step_limit: u64,
        budget: &mut Budget,
    ) -> Result<Option<Answer<State>>, EngineError> {
        if region.is_empty() {
            return Ok(Some(Answer::Refuted));
        }
        if region.is_box() {
            return Ok(Some(Answer::Possible(Some(region.sides.lower_corner()))));
        }
        let condition = region.conditions.iter().copied().collect();
        point_in_steps(condition, &region.sides, step_limit, budget)
    }
}

impl EnvironmentTests for NativeEnvironment {
    fn is_satisfiable(
        &mut self,
        region: &Region<'_>,
        budget: &mut Budget,
    ) -> Result<Answer<State>, EngineError> {
        Self::search(region, u64::MAX, budget)?.ok_or_else(ended_early)
    }

    fn inhabitant(
        &mut self,
        conjunction: &Conjunction,
        sides: &IntBox,
        budget: &mut Budget,
    ) -> Result<Answer<State>, EngineError> {
        point_in_steps(conjunction.clone(), sides, u64::MAX, budget)?.ok_or_else(ended_early)
    }
}

fn ended_early() -> EngineError {
    EngineError::Undecided("bisection ended early".to_owned())
}

/// The decision oracle; tests about one abstract state share what it finds out.
#[derive(Debug)]
pub struct NativeSelection<'a>(PolicyRegion<'a>);

impl<'a> NativeSelection<'a> {
    /// Answers by the oracle of this policy.
    #[must_use]
    pub fn new(policy: PolicyRegion<'a>) -> Self {
        Self(policy)
    }
}

impl Selection for NativeSelection<'_> {
    fn enter(&mut self, states: &Region<'_>) {
        self.0.enter(&states.sides);
    }

    fn limit_boxes(&mut self, limit: Option<u64>) {
        self.0.limit_boxes(limit);
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
        self.0.is_chosen(region, output, budget)
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
        // A witness over the reals is no state.
        Ok(match self.0.is_chosen_over_reals(region, output, budget)? {
            Answer::Refuted => Answer::Refuted,
            Answer::Possible(_) => Answer::Possible(None),
        })
    }
}
