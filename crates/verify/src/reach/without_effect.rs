//! Options that would change nothing for a task are refused.

use policert_outcome::Failure;
use policert_reach::{Controller, DynamicsKind, NetworkArithmetic, StateSetKind, Task};

use super::{AggregationChoice, ReachRequest};

/// Refuses the first option that has no effect.
pub(super) fn refuse_without_effect(request: &ReachRequest, task: &Task) -> Result<(), Failure> {
    let network = match &task.controller {
        Controller::CellNetwork(_) => None,
        Controller::StateNetwork(_) => {
            Some("the network reads the state itself, and is taken as a function of real numbers")
        }
        Controller::CellFormula { .. } => Some("the controller is a formula"),
    };
    let (cells, one_box) = match &task.controller {
        Controller::CellNetwork(_) | Controller::CellFormula { .. } => (None, None),
        Controller::StateNetwork(_) => (
            network,
            task.action.choices.is_none().then_some(
                "the network reads the state itself, so that a part has one box at each step",
            ),
        ),
    };
    let boxes =
        matches!(&task.controller, Controller::CellNetwork(_) | Controller::CellFormula { .. })
            .then_some("the controller reads cells, so that sets are made of boxes");
    let never = task.never_avoids().then_some("no state is unsafe");
    let between = match (task.dynamics.kind, task.dynamics.substeps) {
        (DynamicsKind::Difference, 0 | 1) => Some("the update is applied once in a step"),
        (DynamicsKind::Difference | DynamicsKind::Ode, _) => never,
    };
    let no_goal = task.goal.is_none().then_some("the task has no goal");
    let merging =
        task.aggregation.is_none().then_some("the task has no distances up to which boxes merge");
    let one_part = (task.parts() == 1 && request.refinements == Some(0))
        .then_some("each thread works on parts of the initial box, and --refinements 0 leaves one");
    let rules = [
        (
            request.arithmetic != NetworkArithmetic::default(),
            "--evaluation or --any-order",
            network,
        ),
        (request.granularity.is_some(), "--granularity", cells),
        (request.between_samples, "--between-samples", between),
        (request.goal.is_some(), "--goal", no_goal),
        (request.after_goal.is_some(), "--after-goal", no_goal.or(never)),
        (
            request.aggregation == AggregationChoice::AsWritten,
            "--aggregation as-written",
            merging.or(one_box),
        ),
        (request.sets != StateSetKind::Auto, "--sets", boxes),
        (request.limits.states.is_some(), "--box-limit", one_box),
        (request.threads > 1, "--threads", one_part),
    ];
    for (given, option, reason) in rules {
        if let Some(reason) = reason.filter(|_| given) {
            return Err(Failure::Usage(format!("{option} has no effect: {reason}")));
        }
    }
    Ok(())
}
