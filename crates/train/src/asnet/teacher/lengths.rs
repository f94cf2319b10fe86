//! The length of each outcome: ways are compared by their sums.

use std::num::TryFromIntError;
use std::rc::Rc;

use policert_pddl::{GroundAction, GroundOutcome, Task};

/// The greatest cost of an action.
const MOST_COST: i64 = 1000;
/// The length of a cost of 1; that of an action without cost is 1.
const COST: u32 = 1024;

/// By action and outcome its length: its cost first, and then that it is one action more.
pub(crate) type Lengths = Rc<Vec<Vec<u32>>>;

/// The lengths of all outcomes; `None` if a cost is no whole number from 0 to 1000.
pub(crate) fn lengths(task: &Task) -> Option<Lengths> {
    let length = |outcome: &GroundOutcome| {
        let cost = outcome.cost.to_i64().filter(|cost| (0..=MOST_COST).contains(cost))?;
        let cost: Result<u32, TryFromIntError> = cost.try_into();
        Some(cost.ok()? * COST + 1)
    };
    let of_action =
        |action: &GroundAction| action.outcomes.iter().map(length).collect::<Option<_>>();
    task.actions.iter().map(of_action).collect::<Option<_>>().map(Rc::new)
}
