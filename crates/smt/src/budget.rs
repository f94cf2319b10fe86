//! Checks within an engine's budget.

use policert_engine_api::{Budget, StopReason, resident_memory};

use crate::{CheckResult, Limits, SmtError, Solver};

/// Checks within what is left of `budget`: its time, its memory, its cancel flag.
///
/// The inner error says that the solver gave up by itself: the question stays open, the engine
/// goes on.
///
/// # Errors
/// The budget's reason to stop.
pub fn check_within(
    solver: &mut dyn Solver,
    budget: &mut Budget,
) -> Result<Result<CheckResult, SmtError>, StopReason> {
    budget.poll_clock()?;
    let (flag, memory) = (budget.cancel_flag().clone(), budget.limits().memory);
    let too_much = || memory.is_some_and(|limit| resident_memory().is_some_and(|m| m > limit));
    let stop = || flag.is_raised() || too_much();
    let limits = Limits { time: budget.remaining(), stop: Some(&stop) };
    match solver.check(&limits) {
        Err(SmtError::TimeLimit(_)) => Err(StopReason::Time),
        Err(SmtError::Interrupted) => Err(flag.reason().unwrap_or(StopReason::Memory)),
        answer => Ok(answer),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use policert_engine_api::CancelFlag;

    use super::*;
    use crate::{Formula, Sort, Symbol};

    /// A solver that never answers, only obeys its limits.
    struct Endless;

    impl Solver for Endless {
        fn declare(&mut self, _: Sort) -> Symbol {
            Symbol::new(0)
        }

        fn assert(&mut self, _: Formula) {}

        fn push(&mut self) {}

        fn pop(&mut self) {}

        fn check(&mut self, limits: &Limits) -> Result<CheckResult, SmtError> {
            match limits.time {
                _ if limits.stop.is_some_and(|stop| stop()) => Err(SmtError::Interrupted),
                Some(time) => Err(SmtError::TimeLimit(time)),
                None => Err(SmtError::Unknown("incomplete".to_owned())),
            }
        }
    }

    fn budget(time: Option<u64>, memory: Option<u64>, flag: &CancelFlag) -> Budget {
        let limits = policert_engine_api::Limits {
            time: time.map(Duration::from_secs),
            memory,
            ..Default::default()
        };
        Budget::new(limits, flag.clone())
    }

    #[test]
    fn the_budget_says_why() {
        let flag = CancelFlag::default();
        let check = |mut budget: Budget| check_within(&mut Endless, &mut budget);
        assert_eq!(check(budget(Some(60), None, &flag)), Err(StopReason::Time));
        assert_eq!(check(budget(Some(0), None, &flag)), Err(StopReason::Time));
        assert!(matches!(check(budget(None, None, &flag)), Ok(Err(SmtError::Unknown(_)))));
        if resident_memory().is_some() {
            assert_eq!(check(budget(Some(60), Some(1), &flag)), Err(StopReason::Memory));
        }
        flag.raise();
        assert_eq!(check(budget(Some(60), None, &flag)), Err(StopReason::Interrupted));
    }
}
