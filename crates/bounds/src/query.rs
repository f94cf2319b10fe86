//! The question that the oracle answers.

use policert_model::Condition;
use policert_numeric::{IntBox, IntInterval};

/// Is there a point in the region that satisfies all conditions and where the policy chooses the
/// output?
#[derive(Clone, Copy, Debug)]
pub struct SelectionQuery<'q> {
    /// The variables of the state, then any further ones that conditions mention (free choices
    /// of a destination). A variable that it lacks counts as unbounded.
    pub region: &'q IntBox,
    /// All must hold. A condition without truth value at a point does not hold there.
    pub conditions: &'q [&'q Condition],
    /// The output of the policy.
    pub output: usize,
}

impl SelectionQuery<'_> {
    /// The region with all variables that the conditions mention, and at least `least` many.
    pub(crate) fn sides(&self, least: usize) -> IntBox {
        let mut dimensions = least;
        for condition in self.conditions {
            condition.for_each_var(&mut |v| dimensions = dimensions.max(v.index() + 1));
        }
        let mut sides = self.region.clone();
        while sides.dimensions() < dimensions {
            sides.push(IntInterval::ALL);
        }
        sides
    }
}

/// A value of a side: its least one if there is one.
pub(crate) fn representative(side: IntInterval) -> i64 {
    if side.lo != IntInterval::UNBOUNDED_BELOW {
        side.lo
    } else if side.hi != IntInterval::UNBOUNDED_ABOVE {
        side.hi
    } else {
        0
    }
}
