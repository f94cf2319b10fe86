//! Exact tests by branch and bound around relaxed ones (PPA 2022, Section 6.4).
//!
//! A relaxed test is asked; if its witness has a variable with a value α that is no integer, the two
//! halves v ≤ ⌊α⌋ and v ≥ ⌈α⌉ are next. A branch ends when its relaxed test is refuted, or with a
//! witness of integers.

use policert_engine_api::{Answer, Budget, EngineError};
use policert_model::State;
use policert_numeric::{IntBox, IntInterval, Rational};
use policert_symbolic::PolicyRegion;

use crate::queries::Selection;
use crate::region::Region;

/// Branch and bound; the relaxed tests are the decision oracle's.
#[derive(Debug)]
pub struct BranchAndBound<'a> {
    policy: PolicyRegion<'a>,
    box_limit: Option<u64>,
}

impl<'a> BranchAndBound<'a> {
    /// Around the relaxed tests of this policy.
    #[must_use]
    pub fn new(policy: PolicyRegion<'a>) -> Self {
        Self { policy, box_limit: None }
    }
}

impl Selection for BranchAndBound<'_> {
    fn enter(&mut self, _: &Region<'_>) {}

    fn limit_boxes(&mut self, limit: Option<u64>) {
        self.box_limit = limit;
        self.policy.limit_boxes(limit);
    }

    fn is_selected(
        &mut self,
        region: &Region<'_>,
        output: usize,
        budget: &mut Budget,
    ) -> Result<Answer<State>, EngineError> {
        let mut open = vec![region.sides.clone()];
        let mut branched = 0;
        while let Some(sides) = open.pop() {
            budget.poll()?;
            if sides.is_empty() {
                continue;
            }
            // Not tightened by the conditions: a test tightens its box itself.
            let part = Region { sides, conditions: region.conditions.clone() };
            let witness = match self.policy.is_chosen_over_reals(&part, output, budget)? {
                Answer::Refuted => continue,
                Answer::Possible(witness) => witness,
            };
            let values: Option<Vec<i64>> = witness.as_ref().and_then(|point| integers(point));
            // The relaxed test may ask less of the scores than the exact one.
            if let Some(values) = values
                && self.policy.choice(&values).contains(output) == Some(true)
            {
                return Ok(Answer::Possible(Some(values)));
            }
            branched += 1;
            let may_branch = self.box_limit.is_none_or(|limit| branched <= limit);
            let fraction = witness.as_ref().and_then(|point| first_fraction(point));
            match fraction.or_else(|| middle(&part.sides)).filter(|_| may_branch) {
                Some((variable, below)) => open.extend(halves(part.sides, variable, below)),
                // A single point, a side without end, or enough branches: the oracle decides, or
                // gives up as it does without branches.
                None => match self.policy.is_chosen(&part, output, budget)? {
                    Answer::Refuted => {}
                    possible @ Answer::Possible(_) => return Ok(possible),
                },
            }
        }
        Ok(Answer::Refuted)
    }
}

/// The values, if all of them are integers.
fn integers(point: &[Rational]) -> Option<Vec<i64>> {
    point.iter().map(Rational::to_i64).collect()
}

/// A variable whose value is no integer, and the integer below.
fn first_fraction(point: &[Rational]) -> Option<(usize, i64)> {
    let (variable, value) = point.iter().enumerate().find(|(_, value)| !value.is_integer())?;
    Some((variable, value.floor().to_i64()?))
}

/// The widest variable of a bounded box that is no point, and the integer in its middle.
fn middle(sides: &IntBox) -> Option<(usize, i64)> {
    if !sides.is_bounded() || sides.is_point() {
        return None;
    }
    let width = |side: &IntInterval| side.count().unwrap_or(u128::MAX);
    let (variable, side) = sides.sides().iter().enumerate().max_by_key(|(_, side)| width(side))?;
    (side.lo < side.hi).then(|| (variable, side.midpoint().min(side.hi - 1)))
}

/// The halves with values above `below`, and up to it; one may be empty.
fn halves(sides: IntBox, variable: usize, below: i64) -> [IntBox; 2] {
    let side = sides[variable];
    let mut halves = [sides.clone(), sides];
    halves[0][variable].lo = side.lo.max(below + 1);
    halves[1][variable].hi = side.hi.min(below);
    halves
}
