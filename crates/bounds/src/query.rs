//! The question that the oracle answers.

pub use policert_engine_api::SelectionQuery;
use policert_numeric::IntInterval;

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
