//! What the explicit search did: counters and times.

use std::time::{Duration, Instant};

/// Counters and times of an explicit search.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// Batches of states.
    pub batches: u64,
    /// States for which the policy was evaluated.
    pub policy_evaluations: u64,
    /// Of those, states whose choice the floating-point scores left open, so that it was decided
    /// exactly.
    pub exact_decisions: u64,
    /// Of those, states whose choice stayed open at the highest precision.
    pub undecided_choices: u64,
    /// States that are unsafe because a run gets stuck there.
    pub stuck_states: u64,
    /// Operators that were composed.
    pub operators: u64,
    /// Successors computed, repetitions included.
    pub successors: u64,
    /// The greatest number of states that waited for expansion.
    pub peak_frontier: u64,
    /// Steps from a start state to the farthest state expanded.
    pub depth: u64,
    /// Time by phase.
    pub times: PhaseTimes,
}

/// Says where the time went.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PhaseTimes {
    /// Enumerating start states.
    pub start_states: Duration,
    /// Evaluating guards.
    pub guards: Duration,
    /// Evaluating the policy.
    pub policy: Duration,
    /// Computing successors, composition included.
    pub successors: Duration,
    /// Looking up and storing states.
    pub store: Duration,
}

/// Measures one phase after the other.
#[derive(Debug)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    /// Adds the time since the last lap.
    pub(crate) fn lap(&mut self, phase: &mut Duration) {
        let now = Instant::now();
        *phase += now.duration_since(self.0);
        self.0 = now;
    }
}
