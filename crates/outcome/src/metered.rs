//! Policies read within a budget.

use policert_engine_api::{Budget, StopReason};
use policert_policy::{Meter, PolicyError};

use crate::Failure;

/// Reads a policy within a budget.
///
/// # Errors
/// The reason to stop, or what is wrong with the policy.
pub fn metered<T>(
    budget: &Budget,
    read: impl FnOnce(&mut Meter<'_>) -> Result<T, PolicyError>,
) -> Result<T, Failure> {
    let mut polled = budget.fork();
    let mut stop = None;
    let mut ask = |bytes| match polled.poll_clock().and_then(|()| polled.check_memory(bytes)) {
        Ok(()) => true,
        Err(reason) => {
            stop = Some(reason);
            false
        }
    };
    match read(&mut Meter::new(&mut ask)) {
        // Without a reason of the budget the system did not give the memory.
        Err(PolicyError::Stopped) => Err(Failure::Stopped(stop.unwrap_or(StopReason::Memory))),
        result => Ok(result?),
    }
}
