//! Stage *tighten*: the conditions alone. Bound propagation to a fixpoint, and a complete search
//! for a point that satisfies them.

use policert_engine_api::{Budget, StopReason};
use policert_model::{Condition, State, Truth};
use policert_numeric::{IntBox, IntInterval};
use smallvec::SmallVec;

use crate::query::representative;

/// The number of sweeps over all conditions.
const SWEEPS: usize = 32;

/// The points of a box at which some conditions hold.
#[derive(Clone, Debug)]
pub(crate) struct Restriction<'q> {
    /// The box, as tight as propagation makes it.
    pub sides: IntBox,
    /// The conditions that it does not imply.
    pub open: SmallVec<[&'q Condition; 4]>,
}

impl<'q> Restriction<'q> {
    /// Restricts a box by conditions; `None` if no point is left.
    pub fn new(sides: IntBox, conditions: impl IntoIterator<Item = &'q Condition>) -> Option<Self> {
        Self { sides, open: conditions.into_iter().collect() }.tightened()
    }

    /// The same with a box that has shrunk in the meantime.
    pub fn tightened(mut self) -> Option<Self> {
        for _ in 0..SWEEPS {
            if self.sides.is_empty() {
                return None;
            }
            let mut changed = false;
            for condition in &self.open {
                changed |= condition.tighten(&mut self.sides);
            }
            if !changed || self.open.len() == 1 {
                break;
            }
        }
        if self.sides.is_empty() {
            return None;
        }
        let mut refuted = false;
        let sides = &self.sides;
        self.open.retain(|condition| match condition.truth(sides) {
            Truth::True => false,
            Truth::Maybe => true,
            Truth::False => {
                refuted = true;
                true
            }
        });
        (!refuted).then_some(self)
    }

    /// The part in which a side is narrower; `None` if it has no points.
    pub fn within(&self, dimension: usize, side: IntInterval) -> Option<Self> {
        let mut part = self.clone();
        part.sides[dimension] = part.sides[dimension].intersect(side);
        if part.sides[dimension].is_empty() {
            return None;
        }
        if part.open.is_empty() { Some(part) } else { part.tightened() }
    }

    /// Returns whether all conditions hold at a point.
    pub fn holds(&self, point: &[i64]) -> bool {
        self.sides.contains(point) && self.open.iter().all(|c| c.holds(point) == Ok(true))
    }

    /// A point of the box, whether or not the open conditions hold there.
    pub fn representative(&self) -> State {
        self.sides.sides().iter().map(|&side| representative(side)).collect()
    }
}

/// The result of a search for a point.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Satisfied {
    /// There is no such point.
    No,
    /// This one.
    By(State),
    /// The steps did not suffice to tell.
    Unknown,
}

/// Looks for a point that satisfies the conditions, at most `steps` steps long. Complete on
/// bounded boxes with enough steps.
pub(crate) fn satisfy(
    restriction: &Restriction<'_>,
    steps: usize,
    budget: &mut Budget,
) -> Result<Satisfied, StopReason> {
    let mut stack = vec![restriction.clone()];
    let mut done = 0;
    while let Some(current) = stack.pop() {
        budget.poll()?;
        if done == steps {
            return Ok(Satisfied::Unknown);
        }
        done += 1;
        let Some(dimension) = narrowest_open(&current) else {
            let point = current.representative();
            if current.holds(&point) {
                return Ok(Satisfied::By(point));
            }
            continue;
        };
        let side = current.sides[dimension];
        let middle = side.midpoint();
        let (low, high) =
            (IntInterval::new(side.lo, middle), IntInterval::new(middle + 1, side.hi));
        stack.extend(current.within(dimension, high));
        stack.extend(current.within(dimension, low));
    }
    Ok(Satisfied::No)
}

/// The narrowest side among the variables of open conditions that is not a single value.
fn narrowest_open(restriction: &Restriction<'_>) -> Option<usize> {
    let mut best: Option<(u64, usize)> = None;
    for condition in &restriction.open {
        condition.for_each_var(&mut |v| {
            let side = restriction.sides[v.index()];
            let width = side.lo.abs_diff(side.hi);
            if width > 0 && best.is_none_or(|best| (width, v.index()) < best) {
                best = Some((width, v.index()));
            }
        });
    }
    best.map(|(_, dimension)| dimension)
}
