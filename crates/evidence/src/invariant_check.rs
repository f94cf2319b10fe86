//! Checking the invariant of a verdict *safe* before anyone sees it, without what the run kept.

use std::time::Duration;

use policert_certify::{
    ChoicesInBoxes, Competing, IntervalChoices, InvariantError, NothingRefuted, check_invariant,
};
use policert_engine_api::{Budget, EngineError, Invariant, Limits, StopReason};
use policert_numeric::IntBox;
use policert_outcome::Failure;
use policert_policy::Policy;
use policert_problem::Problem;
use policert_symbolic::{Operators, PolicyRegion};

/// Interval arithmetic is given this long at least, and half as long as the run took.
const LEAST_TIME: Duration = Duration::from_millis(250);
/// Boxes after which a question to the oracle is given up; the part of the state space is cut then.
const BOXES: u64 = 256;

/// Says how an invariant was checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CheckedBy {
    /// By code that shares nothing with the engines.
    Intervals,
    /// The same but for the policy's choices, which a new decision oracle refuted.
    Oracle,
}

impl CheckedBy {
    /// Returns what to tell the user.
    #[must_use]
    pub fn note(self, boxes: usize) -> String {
        let how = match self {
            Self::Intervals => "plain interval arithmetic",
            Self::Oracle => {
                "a decision oracle of its own, as plain interval arithmetic was not enough in time"
            }
        };
        format!("the inductive invariant ({boxes} boxes) was checked again, the policy by {how}")
    }
}

/// Checks an invariant within what is left of the budget of the whole run.
///
/// # Errors
/// A stop; an invariant that is none is an internal error.
pub fn check(
    problem: &Problem,
    invariant: &Invariant,
    whole: &Budget,
) -> Result<CheckedBy, Failure> {
    let question = problem.question();
    let left = || whole.remaining();
    let budget = |time: Option<Duration>| {
        let limits = Limits { time, memory: whole.limits().memory, states: None };
        Budget::new(limits, whole.cancel_flag().clone())
    };
    let Some(policy) = &problem.policy else {
        let mut budget = budget(left());
        check_invariant(&question, None, invariant, &mut NothingRefuted, &mut budget)
            .map_err(rejected)?;
        return Ok(CheckedBy::Intervals);
    };
    let share = (whole.elapsed() / 2).max(LEAST_TIME);
    let time = left().map_or(share, |left| share.min(left / 2));
    let mut intervals = IntervalChoices::new(policy);
    let first = check_invariant(
        &question,
        Some(policy),
        invariant,
        &mut intervals,
        &mut budget(Some(time)),
    );
    match first {
        Ok(()) => return Ok(CheckedBy::Intervals),
        Err(InvariantError::Engine(EngineError::Stop(StopReason::Time))) => {}
        Err(error) => return Err(rejected(error)),
    }
    let mut choices = OracleChoices::new(problem, policy)?;
    let mut budget = budget(left());
    check_invariant(&question, Some(policy), invariant, &mut choices, &mut budget)
        .map_err(rejected)?;
    Ok(CheckedBy::Oracle)
}

fn rejected(error: InvariantError) -> Failure {
    match error {
        InvariantError::Engine(EngineError::Stop(reason)) => Failure::Stopped(reason),
        error => Failure::Internal(format!("the invariant does not hold: {error}")),
    }
}

/// Refutes labels by a decision oracle.
struct OracleChoices<'p>(PolicyRegion<'p>);

impl<'p> OracleChoices<'p> {
    fn new(problem: &Problem, policy: &'p Policy) -> Result<Self, Failure> {
        let operators = Operators::new(&problem.model, policy.outputs())?;
        let mut region = PolicyRegion::new(policy, &operators);
        region.limit_boxes(Some(BOXES));
        Ok(Self(region))
    }
}

impl ChoicesInBoxes for OracleChoices<'_> {
    fn is_refuted(
        &mut self,
        output: usize,
        sides: &IntBox,
        _: Competing<'_>,
        budget: &mut Budget,
    ) -> Result<bool, EngineError> {
        Ok(self.0.is_chosen_in(sides, output, budget)?.refuted())
    }
}
