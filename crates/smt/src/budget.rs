//! Checks within an engine's budget.

use policert_engine_api::{Answer, Budget, EngineError, StopReason, resident_memory};
use policert_model::State;

use crate::{CheckResult, SmtError, Solver, SolverLimits, Symbol};

/// Checks within what is left of `budget`: its time, its memory, its cancel flag.
///
/// # Errors
/// The budget's reason to stop, or [`EngineError::Undecided`] where the solver gave up by itself: that
/// is no answer.
pub fn check_within(
    solver: &mut dyn Solver,
    budget: &mut Budget,
) -> Result<CheckResult, EngineError> {
    budget.poll_clock()?;
    let (flag, memory) = (budget.cancel_flag().clone(), budget.limits().memory);
    let too_much = || memory.is_some_and(|limit| resident_memory().is_some_and(|m| m > limit));
    let stop = || flag.is_raised() || too_much();
    let limits = SolverLimits { time: budget.remaining(), stop: Some(&stop) };
    match solver.check(&limits) {
        Err(SmtError::Interrupted) => Err(flag.reason().unwrap_or(StopReason::Memory).into()),
        answer => Ok(answer?),
    }
}

/// Returns whether what was asserted can be satisfied, with the integers that `symbols` stand for
/// in a witness, within what is left of `budget`.
///
/// # Errors
/// As [`check_within`].
pub fn decide_within(
    solver: &mut dyn Solver,
    symbols: &[Symbol],
    budget: &mut Budget,
) -> Result<Answer<State>, EngineError> {
    Ok(match check_within(solver, budget)? {
        CheckResult::Unsat => Answer::Refuted,
        CheckResult::Sat(assignment) => {
            Answer::Possible(assignment.integers(symbols.iter().copied()))
        }
    })
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

        fn check(&mut self, limits: &SolverLimits) -> Result<CheckResult, SmtError> {
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
        let stopped = |reason: StopReason| Err(EngineError::Stop(reason));
        assert_eq!(check(budget(Some(60), None, &flag)), stopped(StopReason::Time));
        assert_eq!(check(budget(Some(0), None, &flag)), stopped(StopReason::Time));
        if resident_memory().is_some() {
            assert_eq!(check(budget(Some(60), Some(1), &flag)), stopped(StopReason::Memory));
        }
        flag.raise();
        assert_eq!(check(budget(Some(60), None, &flag)), stopped(StopReason::Interrupted));
    }

    #[test]
    fn a_solver_that_gives_up_is_no_possible_answer() {
        let mut budget = Budget::unlimited();
        let decided = decide_within(&mut Endless, &[], &mut budget);
        assert!(matches!(decided, Err(EngineError::Undecided(_))), "{decided:?}");
    }
}
