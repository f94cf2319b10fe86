//! Enumeration of the states that satisfy a condition inside a box: bound propagation and
//! bisection, complete on bounded boxes.

use std::ops::ControlFlow;

use policert_numeric::{IntBox, IntInterval};
use thiserror::Error;

use crate::{Condition, EvalError, Truth};

/// Why an enumeration ended early.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum SolutionsError {
    /// A variable that the condition leaves unbounded.
    #[error("the condition leaves variable number {0} unbounded")]
    Unbounded(usize),
    /// The condition has no truth value at a point.
    #[error("the condition has no truth value in some state: {0}")]
    Eval(#[from] EvalError),
}

/// What the visitor of an enumeration is asked about.
#[derive(Clone, Copy, Debug)]
pub enum Visit<'a> {
    /// A point that satisfies the condition; each exactly once, in lexicographic order.
    Solution(&'a [i64]),
    /// A step of the search, to poll a budget.
    Step,
}

/// Visits every point of `sides` that satisfies `condition`, in lexicographic order, and every
/// step of the search. The visitor may stop it with `Break`.
///
/// Points at which the condition has no truth value do not satisfy it; the first such reason is
/// returned as an error only if `strict`.
///
/// # Errors
/// A variable without bounds that the condition does not bound, or, if `strict`, a point without
/// truth value.
pub fn for_each_solution<B>(
    condition: &Condition,
    sides: &IntBox,
    strict: bool,
    visit: &mut impl FnMut(Visit<'_>) -> ControlFlow<B>,
) -> Result<ControlFlow<B>, SolutionsError> {
    let mut stack = vec![sides.clone()];
    let mut point = vec![0; sides.dimensions()];
    while let Some(mut sides) = stack.pop() {
        if let ControlFlow::Break(b) = visit(Visit::Step) {
            return Ok(ControlFlow::Break(b));
        }
        condition.tighten(&mut sides);
        if sides.is_empty() {
            continue;
        }
        let truth = condition.truth(&sides);
        if truth == Truth::False {
            continue;
        }
        let free = (0..sides.dimensions()).find(|&d| !sides[d].is_point());
        match (truth, free) {
            (Truth::True, _) => {
                if let ControlFlow::Break(b) = all_points(&sides, &mut point, visit)? {
                    return Ok(ControlFlow::Break(b));
                }
            }
            (_, None) => {
                point.copy_from_slice(&sides.lower_corner());
                match condition.holds(&point) {
                    Ok(true) => {
                        if let ControlFlow::Break(b) = visit(Visit::Solution(&point)) {
                            return Ok(ControlFlow::Break(b));
                        }
                    }
                    Ok(false) => {}
                    Err(error) if strict => return Err(error.into()),
                    Err(_) => {}
                }
            }
            (_, Some(d)) => {
                let side = sides[d];
                if !side.is_bounded() {
                    return Err(SolutionsError::Unbounded(d));
                }
                let middle = side.midpoint();
                let mut upper = sides.clone();
                upper[d] = IntInterval::new(middle + 1, side.hi);
                sides[d] = IntInterval::new(side.lo, middle);
                stack.push(upper);
                stack.push(sides);
            }
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// Visits all points of a box, the last dimension fastest.
fn all_points<B>(
    sides: &IntBox,
    point: &mut [i64],
    visit: &mut impl FnMut(Visit<'_>) -> ControlFlow<B>,
) -> Result<ControlFlow<B>, SolutionsError> {
    for (d, side) in sides.sides().iter().enumerate() {
        if !side.is_bounded() {
            return Err(SolutionsError::Unbounded(d));
        }
        point[d] = side.lo;
    }
    loop {
        if let ControlFlow::Break(b) = visit(Visit::Solution(point)) {
            return Ok(ControlFlow::Break(b));
        }
        let mut d = sides.dimensions();
        loop {
            if d == 0 {
                return Ok(ControlFlow::Continue(()));
            }
            d -= 1;
            if point[d] < sides[d].hi {
                point[d] += 1;
                break;
            }
            point[d] = sides[d].lo;
        }
    }
}

/// A point of `sides` that satisfies `condition`, the lexicographically least, if there is one.
///
/// # Errors
/// As [`for_each_solution`] with `strict` off.
pub fn find_solution(
    condition: &Condition,
    sides: &IntBox,
) -> Result<Option<Vec<i64>>, SolutionsError> {
    let found = for_each_solution(condition, sides, false, &mut |visit| match visit {
        Visit::Solution(point) => ControlFlow::Break(point.to_vec()),
        Visit::Step => ControlFlow::Continue(()),
    })?;
    Ok(found.break_value())
}
