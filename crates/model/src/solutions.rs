//! Enumeration of the states that satisfy a condition inside a box: bound propagation and
//! bisection, complete on bounded boxes.

use std::ops::ControlFlow;

use policert_numeric::IntBox;
use thiserror::Error;

use crate::conjunction::Conjunction;
use crate::{Condition, EvalError};

/// Says why an enumeration ended early.
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

/// Says what the visitor of an enumeration is asked about.
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
    let mut stack = vec![(sides.clone(), Conjunction::from(condition))];
    let mut point = vec![0; sides.dimensions()];
    while let Some((mut sides, mut condition)) = stack.pop() {
        if let ControlFlow::Break(b) = visit(Visit::Step) {
            return Ok(ControlFlow::Break(b));
        }
        if !condition.narrow(&mut sides) {
            continue;
        }
        if condition.is_true() {
            if let ControlFlow::Break(b) = all_points(&sides, &mut point, visit)? {
                return Ok(ControlFlow::Break(b));
            }
            continue;
        }
        let Some(d) = (0..sides.dimensions()).find(|&d| !sides[d].is_point()) else {
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
            continue;
        };
        let [lower, upper] = halves(sides, d)?;
        stack.push((upper, condition.clone()));
        stack.push((lower, condition));
    }
    Ok(ControlFlow::Continue(()))
}

/// The two halves of a box along a dimension of which more than one point is left.
fn halves(sides: IntBox, d: usize) -> Result<[IntBox; 2], SolutionsError> {
    let side = sides[d];
    if side.is_bounded() {
        Ok(sides.cut(d, side.midpoint()))
    } else {
        Err(SolutionsError::Unbounded(d))
    }
}

/// Some point of `sides` that satisfies `condition`, if there is one. Only variables that are
/// still open in the condition are searched; `step` is called at each step of the search and may
/// stop it with `Break`. If the condition was narrowed before, then with a box that includes `sides`.
///
/// # Errors
/// A variable without bounds that the condition mentions and does not bound.
pub fn find_point<B>(
    condition: Conjunction,
    sides: &IntBox,
    step: &mut impl FnMut() -> ControlFlow<B>,
) -> Result<ControlFlow<B, Option<Vec<i64>>>, SolutionsError> {
    let mut stack = vec![(sides.clone(), condition)];
    while let Some((mut sides, mut condition)) = stack.pop() {
        if let ControlFlow::Break(b) = step() {
            return Ok(ControlFlow::Break(b));
        }
        if !condition.narrow(&mut sides) {
            continue;
        }
        if condition.is_true() {
            let corner = sides.sides().iter().map(|side| side.nearest_to_zero()).collect();
            return Ok(ControlFlow::Continue(Some(corner)));
        }
        // The open variable with the fewest values, of the first part that is open.
        let Some((first, variables)) = condition.first() else { continue };
        let open = variables
            .iter()
            .copied()
            .filter(|&d| d < sides.dimensions() && !sides[d].is_point())
            .min_by_key(|&d| sides[d].count().unwrap_or(u128::MAX));
        let Some(d) = open else {
            // All its variables are fixed: it is decided by evaluation.
            let corner: Vec<i64> =
                sides.sides().iter().map(|side| side.nearest_to_zero()).collect();
            if first.holds(&corner) == Ok(true) {
                stack.push((sides, condition.without_first()));
            }
            continue;
        };
        let [lower, upper] = halves(sides, d)?;
        stack.push((upper, condition.clone()));
        stack.push((lower, condition));
    }
    Ok(ControlFlow::Continue(None))
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

/// Some point of `sides` that satisfies `condition`, if there is one; see [`find_point`].
///
/// # Errors
/// As [`find_point`].
pub fn find_solution(
    condition: &Condition,
    sides: &IntBox,
) -> Result<Option<Vec<i64>>, SolutionsError> {
    let step = &mut || ControlFlow::<()>::Continue(());
    let found = find_point(Conjunction::from(condition), sides, step)?;
    Ok(found.continue_value().flatten())
}
