//! The evidence of *unsafe*: where trajectories begin, with the precision in which the check is certain of them.

use policert_certify::{LoopRun, LoopViolation, Stretches, ViolationError, check_violation};
use policert_engine_api::Budget;
use policert_evidence::loop_network;
use policert_outcome::Failure;
use policert_reach::{Counterexample, DynamicsKind, Task, ViolationKind};

/// Bits behind the point, stretches of a step and order of Taylor's formula that are tried, one after the other.
const PRECISIONS: [(u32, u32, u32); 6] =
    [(96, 2, 12), (128, 8, 16), (200, 16, 24), (400, 32, 40), (800, 64, 64), (2400, 128, 128)];

/// What is claimed, or the reason why nothing is.
pub(super) fn claim(
    task: &Task,
    found: &Counterexample,
    budget: &mut Budget,
) -> Result<Result<LoopViolation, String>, Failure> {
    let step = match found.kind {
        ViolationKind::Unsafe { step } => Some(step),
        ViolationKind::MissesGoal => None,
    };
    let steps = step.unwrap_or(task.steps) as usize;
    let disturbed = !task.dynamics.disturbances.is_empty();
    // Others say nothing where one is enough.
    let count = if task.is_shown_by_one(step) { 1 } else { found.trajectories.len() };
    let runs: Vec<LoopRun> = found
        .trajectories
        .iter()
        .take(count)
        .map(|path| {
            let mut disturbances = path.disturbances.clone();
            // Trajectories that end early say nothing of later steps.
            let rest = task.dynamics.disturbances.iter().map(|one| one.lower.clone()).collect();
            disturbances.resize(steps, rest);
            let disturbances = if disturbed { disturbances } else { Vec::new() };
            LoopRun { start: path.start.clone(), disturbances }
        })
        .collect();
    let network = loop_network(task, budget)?;
    let is_ode = task.dynamics.kind == DynamicsKind::Ode;
    let rounded = PRECISIONS
        .into_iter()
        .map(|(bits, count, order)| (Some(bits), is_ode.then_some(Stretches { count, order })));
    // Exact numbers decide on borders.
    let exact = (!is_ode && network.is_none()).then_some((None, None));
    let mut why = String::new();
    for (bits, stretches) in rounded.chain(exact) {
        let claim = LoopViolation { step, bits, stretches, runs: runs.clone() };
        match check_violation(task, network.as_ref(), &claim, budget) {
            Ok(()) => return Ok(Ok(claim)),
            Err(ViolationError::Stopped(reason)) => return Err(Failure::Stopped(reason)),
            Err(ViolationError::Unsupported(what)) => {
                return Ok(Err(format!("there is none of {what}")));
            }
            Err(error) => {
                why = format!("the check is not certain of the trajectory: {error}");
            }
        }
    }
    Ok(Err(why))
}
