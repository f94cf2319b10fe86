//! Sorting that ends when it is told to.

use std::cmp::Ordering;

use policert_engine_api::{Budget, StopReason};

/// The greatest number of items that are sorted without a look at the clock.
const SORTED_AT_ONCE: usize = 1 << 16;

/// Sorts, with looks at the clock.
pub(super) fn sort<T>(
    items: &mut [T],
    order: &impl Fn(&T, &T) -> Ordering,
    budget: &mut Budget,
) -> Result<(), StopReason> {
    budget.poll_clock()?;
    if items.len() <= SORTED_AT_ONCE {
        items.sort_unstable_by(order);
        return Ok(());
    }
    let (below, _, above) = items.select_nth_unstable_by(items.len() / 2, order);
    sort(below, order, budget)?;
    sort(above, order, budget)
}
