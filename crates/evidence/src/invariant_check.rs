//! Checking the invariant of a verdict *safe* before anyone sees it, without what the run kept.

use std::time::Duration;

use policert_certify::{
    ChoicesInBoxes, Competing, IntervalChoices, InvariantError, NothingRefuted, check_invariant,
    check_ranks,
};
use policert_engine_api::{Budget, ClaimedInvariant, EngineError, Limits, StopReason};
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
    /// State by state, by the definition: that ranks fall until the goal is reached.
    States,
    /// By code that shares nothing with the engines but for the policy's choices, which a new decision oracle refuted.
    Oracle,
}

impl CheckedBy {
    /// Returns what to tell the user.
    #[must_use]
    pub fn note(self, boxes: usize) -> String {
        let how = match self {
            Self::States => {
                return format!("the ranks of {boxes} boxes were checked again, state by state");
            }
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
    claimed: &ClaimedInvariant,
    whole: &Budget,
) -> Result<CheckedBy, Failure> {
    let question = problem.question();
    let policy = problem.policy.as_ref();
    let invariant = &claimed.invariant;
    if let Some(ranks) = &claimed.ranks {
        let mut budget = whole.within(whole.remaining());
        check_ranks(&question, policy, invariant, ranks, &mut budget).map_err(rejected)?;
        return Ok(CheckedBy::States);
    }
    let is_time =
        |error: &_| matches!(error, InvariantError::Engine(EngineError::Stop(StopReason::Time)));
    let checked = with_choices(problem, whole, is_time, |choices, budget| {
        check_invariant(&question, policy, invariant, choices, budget)
    })?;
    checked.map(|((), by)| by).map_err(rejected)
}

/// Makes a check that asks in which boxes the policy chooses a label nowhere: plain interval arithmetic
/// answers first; where it is not enough in time, as `is_time` tells by the error, a decision oracle.
///
/// # Errors
/// A policy that the oracle cannot take; what the check says stands in what is returned.
pub(crate) fn with_choices<T, E>(
    problem: &Problem,
    whole: &Budget,
    is_time: impl Fn(&E) -> bool,
    mut check: impl FnMut(&mut dyn ChoicesInBoxes, &mut Budget) -> Result<T, E>,
) -> Result<Result<(T, CheckedBy), E>, Failure> {
    let left = || whole.remaining();
    let budget = |time: Option<Duration>| {
        let limits = Limits { time, memory: whole.limits().memory, states: None };
        Budget::new(limits, whole.cancel_flag().clone())
    };
    let Some(policy) = &problem.policy else {
        let found = check(&mut NothingRefuted, &mut budget(left()));
        return Ok(found.map(|found| (found, CheckedBy::Intervals)));
    };
    let share = (whole.elapsed() / 2).max(LEAST_TIME);
    let time = left().map_or(share, |left| share.min(left / 2));
    match check(&mut IntervalChoices::new(policy), &mut budget(Some(time))) {
        Err(error) if is_time(&error) => {}
        found => return Ok(found.map(|found| (found, CheckedBy::Intervals))),
    }
    let mut choices = OracleChoices::new(problem, policy)?;
    let found = check(&mut choices, &mut budget(left()));
    Ok(found.map(|found| (found, CheckedBy::Oracle)))
}

fn rejected(error: InvariantError) -> Failure {
    match error {
        InvariantError::Engine(EngineError::Stop(reason)) => Failure::Stopped(reason),
        error => Failure::Internal(format!("the boxes do not show it: {error}")),
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
