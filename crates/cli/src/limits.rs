//! Limits that hold whatever the program is doing: reading a file, in a solver, on one long step.
//!
//! A thread looks at time and memory. At a limit it raises the flag that the work looks at, and the
//! work ends with what it has. Work that does not look is not waited for: a little later the result
//! "stopped" is shown in its place, and the process ends.

use std::io::Write as _;
use std::process;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use policert_engine_api::{CancelFlag, Limits, StopReason, resident_memory};
use policert_outcome::{ExitStatus, remove_unfinished};

/// So much time of the processor the work has to end by itself,
const GRACE: Duration = Duration::from_millis(350);
/// and so much more for each so many bytes that it has to give back.
const GRACE_OF_MEMORY: (Duration, u64) = (Duration::from_millis(1), 2_000_000);
/// The same for work that waits for something else, by the clock on the wall.
const WAIT: Duration = Duration::from_secs(10);
/// An interrupted run may finish a step and write what it has.
const GRACE_INTERRUPTED: Duration = Duration::from_secs(5);
/// Memory beyond the limit at which the work is not waited for, in hundredths of the limit.
const MEMORY_GRACE: u64 = 3;
/// Bytes that a process touches in a second at most, about.
const BYTES_PER_SECOND: u64 = 6_000_000_000;
/// The least and the greatest time between two looks at the clock.
const POLL: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(20));

/// Runs `work` within limits that count from `begin`. Where it does not end, `abandon` shows the
/// result in its place, while `work` still runs; the process ends with the status that it returns.
///
/// # Errors
/// If there is no thread for it.
pub fn within<T>(
    limits: &Limits,
    begin: Instant,
    cancel: &CancelFlag,
    work: impl FnOnce() -> T,
    abandon: impl FnOnce() -> ExitStatus + Send,
) -> std::io::Result<T> {
    let (finished, watched) = mpsc::channel::<()>();
    // Either the work has ended, or it is abandoned: not both.
    let over = &Mutex::new(false);
    thread::scope(|scope| {
        let watch = move || {
            let mut watch = Watch { limits, begin, cancel, stopped: None };
            while watch.goes_on() {
                match watched.recv_timeout(watch.pause()) {
                    Err(RecvTimeoutError::Timeout) => {}
                    Ok(()) | Err(RecvTimeoutError::Disconnected) => return,
                }
            }
            let is_over = over.lock().unwrap_or_else(PoisonError::into_inner);
            if !*is_over {
                // Nothing can be done if nobody listens.
                let _ = writeln!(std::io::stderr());
                remove_unfinished();
                let status = abandon();
                process::exit(i32::from(status.code()));
            }
        };
        thread::Builder::new().name("limits".to_owned()).spawn_scoped(scope, watch)?;
        let result = work();
        *over.lock().unwrap_or_else(PoisonError::into_inner) = true;
        drop(finished);
        Ok(result)
    })
}

struct Watch<'a> {
    limits: &'a Limits,
    begin: Instant,
    cancel: &'a CancelFlag,
    stopped: Option<Stopped>,
}

/// What was so when the flag was raised.
#[derive(Clone, Copy)]
struct Stopped {
    since: Instant,
    /// Time of the processor until then.
    processor: Duration,
    /// Time to give back the memory that the work had.
    to_give_back: Duration,
}

impl Stopped {
    fn now() -> Self {
        let (time, bytes) = GRACE_OF_MEMORY;
        let parts = resident_memory().unwrap_or(0) / bytes;
        Self {
            since: Instant::now(),
            processor: processor_time(),
            to_give_back: time * u32::try_from(parts).unwrap_or(u32::MAX),
        }
    }
}

impl Watch<'_> {
    /// Returns whether the work is still waited for.
    fn goes_on(&mut self) -> bool {
        let memory = self.limits.memory.zip(resident_memory());
        if self.limits.time.is_some_and(|limit| self.begin.elapsed() >= limit) {
            self.cancel.stop(StopReason::Time);
        }
        if memory.is_some_and(|(limit, used)| used > limit) {
            self.cancel.stop(StopReason::Memory);
        }
        let Some(reason) = self.cancel.reason() else { return true };
        let Stopped { since, processor, to_give_back } =
            *self.stopped.get_or_insert_with(Stopped::now);
        let too_much = memory.is_some_and(|(limit, used)| used > beyond(limit));
        let grace = match reason {
            StopReason::Interrupted => GRACE_INTERRUPTED,
            _ => GRACE + to_give_back,
        };
        !too_much
            && processor_time().saturating_sub(processor) < grace
            && since.elapsed() < grace + WAIT
    }

    /// The time in which no limit can be reached.
    fn pause(&self) -> Duration {
        let (least, most) = POLL;
        let until_time = match self.limits.time {
            Some(limit) => limit.saturating_sub(self.begin.elapsed()).max(least),
            None => most,
        };
        let until_memory = match self.limits.memory.zip(resident_memory()) {
            Some((limit, used)) => {
                let left = if used < limit { limit - used } else { beyond(limit) - limit };
                Duration::from_micros(left / (BYTES_PER_SECOND / 1_000_000))
            }
            None => most,
        };
        until_time.min(until_memory).clamp(least, most)
    }
}

/// The memory at which the work is not waited for.
fn beyond(limit: u64) -> u64 {
    limit.saturating_add(limit / 100 * MEMORY_GRACE)
}

/// Time that all threads of this process had the processor, where the system tells (Linux).
fn processor_time() -> Duration {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program, in brackets, may contain anything.
    let fields = text.rsplit_once(')').map_or("", |(_, fields)| fields);
    let ticks = fields.split_whitespace().skip(11).take(2).filter_map(|t| t.parse::<u64>().ok());
    // A tick is 10 ms on every Linux, whatever the kernel uses.
    Duration::from_millis(10 * ticks.sum::<u64>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_looks_ends_by_itself() -> std::io::Result<()> {
        let cancel = CancelFlag::default();
        let limits = Limits { time: Some(Duration::from_millis(30)), ..Limits::default() };
        let work = || {
            while !cancel.is_raised() {
                thread::sleep(Duration::from_millis(1));
            }
            cancel.reason()
        };
        let reason = within(&limits, Instant::now(), &cancel, work, || ExitStatus::Internal)?;
        assert_eq!(reason, Some(StopReason::Time));
        Ok(())
    }

    #[test]
    fn memory_raises_the_flag() {
        let cancel = CancelFlag::default();
        let limits = Limits { memory: Some(1), ..Limits::default() };
        let mut watch =
            Watch { limits: &limits, begin: Instant::now(), cancel: &cancel, stopped: None };
        assert!(!watch.goes_on());
        assert_eq!(cancel.reason(), Some(StopReason::Memory));
    }

    #[test]
    fn the_processor_is_measured() {
        let begin = Instant::now();
        let before = processor_time();
        while begin.elapsed() < Duration::from_secs(10) && processor_time() == before {}
        assert!(processor_time() > before);
    }
}
