//! Whether the evidence of a verdict was checked before the verdict was printed.

use std::time::Instant;

use policert_engine_api::StopReason;
use serde::Serialize;

use crate::Failure;

/// What became of the check of evidence that `--certify` asks for.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Certified {
    /// True if the evidence was confirmed.
    pub confirmed: bool,
    /// The reason why it was not: there is no evidence, or a limit was reached.
    pub reason: Option<String>,
    /// Wall-clock time of the check in seconds.
    pub time_s: f64,
    /// Size of the evidence as JSON without blanks; none where there is no evidence, or its check did not end.
    pub bytes: Option<u64>,
}

impl Certified {
    /// There is nothing to check, for this reason.
    #[must_use]
    pub fn not(reason: &str) -> Self {
        Self { confirmed: false, reason: Some(reason.to_owned()), time_s: 0.0, bytes: None }
    }

    /// Runs a check, which returns the size of the evidence. A limit that it reaches leaves the evidence unconfirmed.
    ///
    /// # Errors
    /// Evidence that does not show what it claims is a mistake of this program; an interruption, or
    /// an input that has changed, ends the run, too.
    pub fn by(check: impl FnOnce() -> Result<u64, Failure>) -> Result<Self, Failure> {
        let begin = Instant::now();
        let checked = check();
        let time_s = begin.elapsed().as_secs_f64();
        match checked {
            Ok(bytes) => Ok(Self { confirmed: true, reason: None, time_s, bytes: Some(bytes) }),
            Err(Failure::Stopped(reason)) if reason != StopReason::Interrupted => {
                let reason = format!("the check of the evidence did not end: {reason}");
                Ok(Self { confirmed: false, reason: Some(reason), time_s, bytes: None })
            }
            Err(Failure::Rejected(why)) => Err(Failure::Internal(why)),
            Err(failure) => Err(failure),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_confirmed_is_no_verdict_but_for_limits() {
        let rejected = Certified::by(|| Err(Failure::Rejected("a lie".to_owned())));
        assert!(matches!(rejected, Err(Failure::Internal(why)) if why == "a lie"));
        let changed = Certified::by(|| Err(Failure::invalid("another file")));
        assert!(matches!(changed, Err(Failure::Findings(_))));
        let interrupted = Certified::by(|| Err(StopReason::Interrupted.into()));
        assert!(matches!(interrupted, Err(Failure::Stopped(StopReason::Interrupted))));
        for stop in [StopReason::Time, StopReason::Memory, StopReason::States(3)] {
            let stopped = Certified::by(|| Err(stop.into())).expect("a limit");
            assert!(!stopped.confirmed && stopped.reason.is_some_and(|why| !why.is_empty()));
        }
        let confirmed = Certified::by(|| Ok(7)).expect("confirmed");
        assert_eq!((confirmed.confirmed, confirmed.bytes), (true, Some(7)));
    }
}
