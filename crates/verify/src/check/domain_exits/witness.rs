//! The search for one witness: bisection of a box, with bound propagation.

use policert_engine_api::{Budget, StopReason};
use policert_model::{Condition, Truth, VarId};
use policert_numeric::{IntBox, IntInterval};

/// Steps of one search.
const STEPS: u64 = 4_000;
/// Stand-in for the missing bound of a variable: beyond it, "not found" proves nothing.
const FAR: i64 = 1 << 40;

/// A point is looked for at which `condition` holds and `happens` is true.
pub(super) struct Wanted<'a> {
    /// The condition that must hold.
    pub condition: &'a Condition,
    /// The variables that all of it depends on; the others keep any value.
    pub reads: &'a [VarId],
    /// Returns whether it may happen somewhere in a box.
    pub may_happen: &'a dyn Fn(&IntBox) -> bool,
    /// Returns whether it happens at a point.
    pub happens: &'a dyn Fn(&[i64]) -> bool,
}

/// The result of a search.
pub(super) enum Found {
    /// A witness.
    Point(Vec<i64>),
    /// There is none.
    Nothing,
    /// Not decided within the steps, or within the bounds that unbounded variables got.
    Undecided,
}

/// Searches a box.
pub(super) fn search(
    wanted: &Wanted<'_>,
    mut sides: IntBox,
    budget: &mut Budget,
) -> Result<Found, StopReason> {
    let is_read = |d: usize| wanted.reads.binary_search_by_key(&d, |v| v.index()).is_ok();
    wanted.condition.tighten(&mut sides);
    if sides.is_empty() || wanted.condition.truth(&sides) == Truth::False {
        return Ok(Found::Nothing);
    }
    let mut complete = true;
    for d in 0..sides.dimensions() {
        let side = sides[d].intersect(IntInterval::new(-FAR, FAR));
        if is_read(d) {
            complete &= side == sides[d];
            sides[d] = side;
        } else {
            sides[d] = IntInterval::point(side.lo);
        }
    }
    let mut stack = vec![sides];
    for _ in 0..STEPS {
        budget.poll()?;
        let Some(mut sides) = stack.pop() else {
            return Ok(if complete { Found::Nothing } else { Found::Undecided });
        };
        wanted.condition.tighten(&mut sides);
        if sides.is_empty()
            || wanted.condition.truth(&sides) == Truth::False
            || !(wanted.may_happen)(&sides)
        {
            continue;
        }
        let point = sides.lower_corner();
        if wanted.condition.holds(&point) == Ok(true) && (wanted.happens)(&point) {
            return Ok(Found::Point(point));
        }
        let widest = (0..sides.dimensions())
            .filter(|&d| !sides[d].is_point())
            .max_by_key(|&d| (sides[d].count(), std::cmp::Reverse(d)));
        let Some(d) = widest else { continue };
        let (side, middle) = (sides[d], sides[d].midpoint());
        let mut upper = sides.clone();
        upper[d] = IntInterval::new(middle + 1, side.hi);
        sides[d] = IntInterval::new(side.lo, middle);
        stack.push(upper);
        stack.push(sides);
    }
    Ok(Found::Undecided)
}
