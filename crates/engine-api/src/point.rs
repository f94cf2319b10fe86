//! Points of boxes that satisfy a condition, looked for within a budget.

use std::ops::ControlFlow;

use policert_model::{Condition, Conjunction, State, find_point};
use policert_numeric::IntBox;

use crate::{Answer, Budget, EngineError};

/// A point of `sides` that satisfies `condition`, if there is one.
///
/// # Errors
/// A stop of the budget, or a side without bounds that has to be searched.
pub fn point_of(
    condition: &Condition,
    sides: &IntBox,
    budget: &mut Budget,
) -> Result<Option<State>, EngineError> {
    Ok(match point_in_steps(condition.into(), sides, u64::MAX, budget)? {
        Some(Answer::Possible(point)) => point,
        Some(Answer::Refuted) | None => None,
    })
}

/// Returns whether `sides` has a point that satisfies `condition`; `None` if that is open after so
/// many steps of the search. A possible answer comes with the point.
///
/// # Errors
/// As [`point_of`].
pub fn point_in_steps(
    condition: Conjunction,
    sides: &IntBox,
    limit: u64,
    budget: &mut Budget,
) -> Result<Option<Answer<State>>, EngineError> {
    let mut steps = 0;
    let found = find_point(condition, sides, &mut || {
        if steps == limit {
            return ControlFlow::Break(None);
        }
        steps += 1;
        match budget.poll() {
            Ok(()) => ControlFlow::Continue(()),
            Err(stop) => ControlFlow::Break(Some(stop)),
        }
    })?;
    match found {
        ControlFlow::Break(Some(stop)) => Err(stop.into()),
        ControlFlow::Break(None) => Ok(None),
        ControlFlow::Continue(Some(point)) => Ok(Some(Answer::Possible(Some(point)))),
        ControlFlow::Continue(None) => Ok(Some(Answer::Refuted)),
    }
}

#[cfg(test)]
mod tests {
    use policert_model::{BinaryOp, Expr, VarId};
    use policert_numeric::IntInterval;

    use super::*;

    #[test]
    fn a_search_that_is_given_up_is_no_refutation() {
        let square = Expr::binary(BinaryOp::Mul, Expr::Var(VarId(0)), Expr::Var(VarId(0)));
        let sides = IntBox::new(vec![IntInterval::new(0, 1000)]);
        let mut budget = Budget::unlimited();
        for (value, expected) in [(49, Answer::Possible(Some(vec![7]))), (50, Answer::Refuted)] {
            let equal = Expr::binary(BinaryOp::Eq, square.clone(), Expr::int(value));
            let condition = Condition::from_expr(&equal);
            let mut within =
                |limit| point_in_steps((&condition).into(), &sides, limit, &mut budget);
            assert!(matches!(within(0), Ok(None)));
            assert_eq!(within(u64::MAX).ok().flatten(), Some(expected));
        }
    }
}
