//! Check of trajectories that are to show that a control loop does not meet its specification.
//!
//! A claim lists exact start states and disturbances. Each trajectory is followed from there in numbers of a precision
//! that the claim names, rounded outwards, so that what holds of all numbers at a step holds of the trajectory.

use policert_control_loop::{DynamicsKind, Task};
use policert_engine_api::{Budget, StopReason};
use policert_numeric::{Interval, Rational};
use policert_policy::Network;
use thiserror::Error;

use super::arithmetic::{Arithmetic, Bits, Exact};
use super::formulas::Formula;
use super::series::value_of;
use super::sets::Set;
use super::trajectory::{Follower, Stretches};

/// More bits than this are refused.
const MOST_BITS: u32 = 1 << 13;

/// A higher order than this is refused.
const MOST_ORDER: u32 = 1 << 8;

/// Bits in which conditions of the start are evaluated where they are not exact.
const START_BITS: usize = 256;

/// A trajectory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoopRun {
    /// The state in which it begins.
    pub start: Vec<Rational>,
    /// By step the values of the disturbances, which are held for the step; none where the task has no disturbances.
    pub disturbances: Vec<Vec<Rational>>,
}

/// What trajectories are to show.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoopViolation {
    /// The step at which the first trajectory is unsafe; `None` if the goal is missed.
    pub step: Option<u32>,
    /// Bits behind the point of the numbers; `None` for exact ones.
    pub bits: Option<u32>,
    /// How differential equations are followed; `None` of difference equations.
    pub stretches: Option<Stretches>,
    /// The trajectories; several only where all are to be in the goal at once.
    pub runs: Vec<LoopRun>,
}

/// Says why trajectories do not show what is claimed.
#[derive(Clone, PartialEq, Debug, Error)]
#[non_exhaustive]
pub enum ViolationError {
    /// The check ended before it was done.
    #[error(transparent)]
    Stopped(#[from] StopReason),
    /// Something of the task that this check does not know.
    #[error("no check of {0}")]
    Unsupported(String),
    /// The claim does not fit the question.
    #[error("{0}")]
    Unfit(&'static str),
    /// A trajectory does not begin in the initial box.
    #[error("trajectory {0} does not begin in the initial box")]
    Start(usize),
    /// The disturbances of a trajectory are not those of a step each, or not between their bounds.
    #[error("trajectory {0}: the disturbances are not between their bounds in each step")]
    Disturbances(usize),
    /// A trajectory is not certain enough.
    #[error("step {step}: the action or the next state has no bounds that are certain")]
    Lost {
        /// At which step.
        step: u32,
    },
    /// The state is not certain to be unsafe.
    #[error("step {step}: the state is not certain to be unsafe")]
    NotUnsafe {
        /// At which step.
        step: u32,
    },
    /// The goal may have been reached.
    #[error("step {step}: no trajectory is certain to be outside of the goal")]
    InGoal {
        /// At which step.
        step: u32,
    },
}

/// Checks that trajectories show *unsafe* of a task; `network` is the one that it names, if it names one.
///
/// # Errors
/// Why it is not confirmed.
pub fn check_violation(
    task: &Task,
    network: Option<&Network>,
    claim: &LoopViolation,
    budget: &mut Budget,
) -> Result<(), ViolationError> {
    unfit(task, claim).map_or(Ok(()), |why| Err(ViolationError::Unfit(why)))?;
    match claim.bits {
        Some(bits) => check_in(Bits(bits as usize), task, network, claim, budget),
        None => check_in(Exact, task, network, claim, budget),
    }
}

/// What of a claim cannot be.
fn unfit(task: &Task, claim: &LoopViolation) -> Option<&'static str> {
    let is_alone = task.is_shown_by_one(claim.step);
    let is_cut = task.dynamics.kind == DynamicsKind::Ode;
    if claim.runs.is_empty() || is_alone && claim.runs.len() > 1 {
        Some("one trajectory is needed, and several only where all are to be in the goal at once")
    } else if claim.step.is_none() && task.goal.is_none() {
        Some("there is no goal that could be missed")
    } else if claim.step.is_some_and(|step| step > task.steps) {
        Some("the step lies behind the last one")
    } else if claim.bits.is_some_and(|bits| bits == 0 || bits > MOST_BITS) {
        Some("numbers have from 1 to 8192 bits")
    } else if claim.stretches.is_some() != is_cut {
        Some("stretches of time are needed for differential equations alone")
    } else if claim.stretches.is_some_and(|Stretches { count, order }| {
        count == 0 || count > super::MOST_STRETCHES || order == 0 || order > MOST_ORDER
    }) {
        Some("a step has from 1 to 4096 stretches, and the order is from 1 to 256")
    } else {
        None
    }
}

fn check_in<A: Arithmetic + Copy>(
    arithmetic: A,
    task: &Task,
    network: Option<&Network>,
    claim: &LoopViolation,
    budget: &mut Budget,
) -> Result<(), ViolationError> {
    let n = task.dimension();
    let last = claim.step.unwrap_or(task.steps);
    let goal = task.goal.as_ref().map(|goal| Set::new(goal, n));
    let avoid: Vec<Set<'_>> = task.avoid.iter().map(|set| Set::avoided(set, n)).collect();
    let mut follower = Follower::new(arithmetic, task, network.cloned(), claim.stretches)
        .map_err(ViolationError::Unsupported)?;
    // By step: whether a trajectory is outside of the goal.
    let mut outside: Vec<bool> = Vec::new();
    for (at, run) in claim.runs.iter().enumerate() {
        admit(task, run, (at, last))?;
        let mut state = follower.state(&run.start);
        for step in 0..=last {
            budget.poll_clock()?;
            let first = |formula: &Formula| at_start(formula, &run.start);
            let later = |formula: &Formula| value_of(arithmetic, formula, &state);
            let is_outside = goal.as_ref().is_some_and(|goal| {
                let truth = match step {
                    0 => goal.truth(&run.start, &first),
                    _ => goal.truth(&state, &later),
                };
                truth == Some(false)
            });
            match outside.get_mut(step as usize) {
                Some(known) => *known |= is_outside,
                None => outside.push(is_outside),
            }
            if claim.step == Some(step) && at == 0 {
                let mut sets = avoid.iter().filter(|set| step >= set.from_step);
                let is_unsafe = sets.any(|set| match step {
                    0 => set.is_met(&run.start, &first),
                    _ => set.is_met(&state, &later),
                });
                if !is_unsafe {
                    return Err(ViolationError::NotUnsafe { step });
                }
            }
            if step == last {
                break;
            }
            let gusts = run.disturbances.get(step as usize).map_or(&[][..], Vec::as_slice);
            match follower.step(&state, gusts, budget)? {
                Some(next) => state = next,
                None if at == 0 => return Err(ViolationError::Lost { step }),
                // What is known of it may do.
                None => break,
            }
        }
    }
    // Before the unsafe step the goal may only have been reached where that does not end the run.
    let needed = match claim.step {
        Some(_) if !task.ends_in_goal() => 0..0,
        Some(step) => 0..step,
        None => 0..last.saturating_add(1),
    };
    let mut needed = needed.into_iter();
    let missing = needed.find(|&step| outside.get(step as usize) != Some(&true));
    missing.map_or(Ok(()), |step| Err(ViolationError::InGoal { step }))
}

/// Checks the start and the disturbances of a trajectory up to a step.
fn admit(task: &Task, run: &LoopRun, (at, last): (usize, u32)) -> Result<(), ViolationError> {
    let is_between = |x: &Rational, lower: &Rational, upper: &Rational| lower <= x && x <= upper;
    let mut sides = run.start.iter().zip(&task.initial);
    if run.start.len() != task.initial.len()
        || !sides.all(|(x, (lower, upper))| is_between(x, lower, upper))
    {
        return Err(ViolationError::Start(at));
    }
    let known = &task.dynamics.disturbances;
    let rows = if known.is_empty() { 0 } else { last as usize };
    let fits = |row: &Vec<Rational>| {
        let mut pairs = row.iter().zip(known);
        row.len() == known.len() && pairs.all(|(x, one)| is_between(x, &one.lower, &one.upper))
    };
    if run.disturbances.len() != rows || !run.disturbances.iter().all(fits) {
        return Err(ViolationError::Disturbances(at));
    }
    Ok(())
}

/// Bounds of a formula in an exact state.
fn at_start(formula: &Formula, start: &[Rational]) -> Option<Interval> {
    value_of(Exact, formula, start).or_else(|| {
        let bits = Bits(START_BITS);
        let start: Vec<_> = start.iter().map(|x| bits.constant(x)).collect();
        value_of(bits, formula, &start)
    })
}
