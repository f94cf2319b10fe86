//! Ends a check from another thread: at its time limit, or when asked to stop.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use z3::SatResult;

use crate::SolverLimits;

/// The time between two looks at the stop condition, and between two interruptions.
const POLL: Duration = Duration::from_millis(5);

/// Runs a check; the flag says whether the stop condition ended it.
pub fn check(solver: &z3::Solver, limits: &SolverLimits) -> (SatResult, bool) {
    if limits.time.is_none() && limits.stop.is_none() {
        return (solver.check(), false);
    }
    let deadline = limits.time.and_then(|time| Instant::now().checked_add(time));
    let (done, stopped) = (AtomicBool::new(false), AtomicBool::new(false));
    let context = solver.get_context();
    let handle = context.handle();
    let result = std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            // Z3 forgets an interruption that comes before its search begins, so it is repeated
            // until the check has returned.
            while !done.load(Ordering::Acquire) {
                if limits.stop.is_some_and(|stop| stop()) {
                    stopped.store(true, Ordering::Release);
                    handle.interrupt();
                }
                let left = deadline.map(|end| end.saturating_duration_since(Instant::now()));
                if left.is_some_and(|left| left.is_zero()) {
                    handle.interrupt();
                }
                let wait = left.filter(|left| !left.is_zero()).map_or(POLL, |left| left.min(POLL));
                std::thread::park_timeout(wait);
            }
        });
        let result = solver.check();
        done.store(true, Ordering::Release);
        watcher.thread().unpark();
        result
    });
    (result, stopped.load(Ordering::Acquire))
}
