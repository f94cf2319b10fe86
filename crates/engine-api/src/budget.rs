//! Budgets: time, memory, states and a cancel flag, polled at loop heads.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use thiserror::Error;

use crate::turns::Turn;

/// Says why an engine stopped before it had an answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum StopReason {
    /// The time limit.
    #[error("the time limit was reached")]
    Time,
    /// The memory limit.
    #[error("the memory limit was reached")]
    Memory,
    /// The limit on states.
    #[error("the limit of {0} states was reached")]
    States(u64),
    /// The user interrupted it.
    #[error("interrupted")]
    Interrupted,
}

/// Raised from outside to stop an engine at its next poll, for a reason: the first one counts.
#[derive(Clone, Debug, Default)]
pub struct CancelFlag(Arc<AtomicU8>);

const GOES_ON: u8 = 0;
const TIME: u8 = 1;
const MEMORY: u8 = 2;
const INTERRUPTED: u8 = 3;

impl CancelFlag {
    /// Asks the engine to stop because the user wants it.
    pub fn raise(&self) {
        self.stop(StopReason::Interrupted);
    }

    /// Asks the engine to stop for this reason, which is not a number of states.
    pub fn stop(&self, reason: StopReason) {
        let code = match reason {
            StopReason::Time => TIME,
            StopReason::Memory => MEMORY,
            StopReason::Interrupted | StopReason::States(_) => INTERRUPTED,
        };
        // One that was raised keeps its reason.
        let _ = self.0.compare_exchange(GOES_ON, code, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Returns why it was raised, if it was.
    #[must_use]
    pub fn reason(&self) -> Option<StopReason> {
        match self.0.load(Ordering::Relaxed) {
            GOES_ON => None,
            TIME => Some(StopReason::Time),
            MEMORY => Some(StopReason::Memory),
            _ => Some(StopReason::Interrupted),
        }
    }

    /// Returns whether it was raised.
    #[must_use]
    pub fn is_raised(&self) -> bool {
        self.reason().is_some()
    }

    /// Checks whether to go on.
    ///
    /// # Errors
    /// The reason to stop.
    pub fn check(&self) -> Result<(), StopReason> {
        self.reason().map_or(Ok(()), Err)
    }
}

/// Says what an engine may use.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// Wall-clock time from the start of the budget. [default: none]
    pub time: Option<Duration>,
    /// Resident memory of the process in bytes. [default: none]
    pub memory: Option<u64>,
    /// Number of states stored. [default: none]
    pub states: Option<u64>,
}

/// A running budget.
///
/// [`Budget::poll`] is cheap: the flag each time, the clock every 64 calls, memory ten times a
/// second.
#[derive(Debug)]
pub struct Budget {
    limits: Limits,
    start: Instant,
    cancel: CancelFlag,
    polls: u32,
    memory_checked: Instant,
    /// Where engines share processors: at a poll it may be another one's turn.
    turn: Option<Arc<Turn>>,
}

/// The number of polls that share one look at the clock.
const POLLS_PER_CLOCK: u32 = 64;

impl Budget {
    /// Starts a budget now.
    #[must_use]
    pub fn new(limits: Limits, cancel: CancelFlag) -> Self {
        let start = Instant::now();
        Self { limits, start, cancel, polls: 0, memory_checked: start, turn: None }
    }

    /// A budget without limits.
    #[must_use]
    pub fn unlimited() -> Self {
        Self::new(Limits::default(), CancelFlag::default())
    }

    /// The same budget for another thread: it began at the same time and stops by the same flag.
    #[must_use]
    pub fn fork(&self) -> Self {
        let (limits, cancel) = (self.limits.clone(), self.cancel.clone());
        Self { limits, cancel, polls: 0, turn: self.turn.clone(), ..*self }
    }

    /// A part of it that begins now and has this much time, if that is limited.
    #[must_use]
    pub fn within(&self, time: Option<Duration>) -> Self {
        let part = Self::new(Limits { time, ..self.limits.clone() }, self.cancel.clone());
        Self { turn: self.turn.clone(), ..part }
    }

    /// The same with at most this many states.
    #[must_use]
    pub fn with_states(mut self, states: u64) -> Self {
        self.limits.states = Some(self.limits.states.map_or(states, |limit| limit.min(states)));
        self
    }

    /// The same with another limit of memory, in bytes.
    #[must_use]
    pub fn with_memory(mut self, memory: Option<u64>) -> Self {
        self.limits.memory = memory;
        self
    }

    /// The same with another flag that stops it.
    #[must_use]
    pub fn with_flag(self, cancel: CancelFlag) -> Self {
        Self { cancel, ..self }
    }

    /// The same for an engine that works in turns with others.
    #[must_use]
    pub fn with_turn(self, turn: Arc<Turn>) -> Self {
        Self { turn: Some(turn), ..self }
    }

    /// Time since the start.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// Time that is left; `None` without a time limit.
    #[must_use]
    pub fn remaining(&self) -> Option<Duration> {
        self.limits.time.map(|limit| limit.saturating_sub(self.start.elapsed()))
    }

    /// The flag that stops it.
    #[must_use]
    pub fn cancel_flag(&self) -> &CancelFlag {
        &self.cancel
    }

    /// The limits.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Checks whether to go on. Call at loop heads.
    ///
    /// # Errors
    /// The reason to stop.
    pub fn poll(&mut self) -> Result<(), StopReason> {
        self.cancel.check()?;
        self.polls = self.polls.wrapping_add(1);
        if self.polls % POLLS_PER_CLOCK == 1 { self.poll_clock() } else { Ok(()) }
    }

    /// As [`Budget::poll`], but always looks at the clock: for loops with slow bodies.
    ///
    /// # Errors
    /// The reason to stop.
    pub fn poll_clock(&mut self) -> Result<(), StopReason> {
        self.cancel.check()?;
        if let Some(turn) = &self.turn {
            turn.pass(false);
            self.cancel.check()?;
        }
        let now = Instant::now();
        if self.limits.time.is_some_and(|limit| now.duration_since(self.start) >= limit) {
            return Err(StopReason::Time);
        }
        if let Some(limit) = self.limits.memory
            && now.duration_since(self.memory_checked) >= Duration::from_millis(100)
        {
            self.memory_checked = now;
            if resident_memory().is_some_and(|used| used > limit) {
                return self.turn.as_ref().map_or(Err(StopReason::Memory), |turn| turn.relieve());
            }
        }
        Ok(())
    }

    /// Checks whether this many bytes more are within the limit of memory: before they are asked for.
    ///
    /// # Errors
    /// [`StopReason::Memory`] beyond it.
    pub fn check_memory(&self, more: u64) -> Result<(), StopReason> {
        // Without a limit the system need not be asked.
        let Some(limit) = self.limits.memory else { return Ok(()) };
        while resident_memory().is_some_and(|used| used.saturating_add(more) > limit) {
            self.cancel.check()?;
            self.turn.as_ref().map_or(Err(StopReason::Memory), |turn| turn.relieve())?;
        }
        Ok(())
    }

    /// Checks whether `stored` states are within the limit.
    ///
    /// # Errors
    /// [`StopReason::States`] beyond it.
    pub fn check_states(&self, stored: usize) -> Result<(), StopReason> {
        match self.limits.states {
            Some(limit) if stored as u64 > limit => Err(StopReason::States(limit)),
            _ => Ok(()),
        }
    }
}

/// Resident memory of this process in bytes, where the system tells (Linux).
#[must_use]
pub fn resident_memory() -> Option<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * 4096)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stops_for_each_reason() {
        let limits = Limits { time: Some(Duration::ZERO), ..Limits::default() };
        assert_eq!(Budget::new(limits, CancelFlag::default()).poll(), Err(StopReason::Time));
        let flag = CancelFlag::default();
        let mut budget = Budget::new(Limits::default(), flag.clone());
        assert_eq!(budget.poll(), Ok(()));
        flag.raise();
        assert_eq!(budget.poll(), Err(StopReason::Interrupted));
        for reason in [StopReason::Time, StopReason::Memory, StopReason::Interrupted] {
            let flag = CancelFlag::default();
            flag.stop(reason);
            flag.raise();
            assert_eq!(Budget::new(Limits::default(), flag).poll_clock(), Err(reason));
        }
        let limits = Limits { memory: Some(1 << 40), ..Limits::default() };
        let budget = Budget::new(limits, CancelFlag::default());
        assert_eq!(budget.check_memory(1 << 20), Ok(()));
        assert_eq!(budget.check_memory(1 << 40), Err(StopReason::Memory));
        assert_eq!(Budget::unlimited().check_memory(u64::MAX), Ok(()));
        let limits = Limits { states: Some(3), ..Limits::default() };
        let budget = Budget::new(limits, CancelFlag::default());
        assert_eq!(budget.check_states(3), Ok(()));
        assert_eq!(budget.check_states(4), Err(StopReason::States(3)));
    }
}
