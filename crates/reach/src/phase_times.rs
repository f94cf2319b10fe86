//! How long the steps of Algorithm 1 take.

use std::ops::AddAssign;
use std::time::{Duration, Instant};

/// Time in each step of Algorithm 1, summed over the threads. What is left of the time of an analysis goes to
/// the question itself, and to trajectories.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PhaseTimes {
    /// Cutting boxes along the cells.
    pub segment: Duration,
    /// Evaluating the network in cells, or enclosing its outputs over sets of states.
    pub network: Duration,
    /// Moving boxes or sets by the dynamics.
    pub flow: Duration,
    /// Merging boxes.
    pub aggregate: Duration,
}

impl AddAssign for PhaseTimes {
    fn add_assign(&mut self, other: Self) {
        self.segment += other.segment;
        self.network += other.network;
        self.flow += other.flow;
        self.aggregate += other.aggregate;
    }
}

/// Does something and adds the time that it takes.
pub(crate) fn timed<T>(total: &mut Duration, work: impl FnOnce() -> T) -> T {
    let begin = Instant::now();
    let result = work();
    *total += begin.elapsed();
    result
}
