//! Why the answer about a control loop is not known, and what would help, in sentences.

use policert_engine_api::StopReason;
use policert_reach::{
    Controller, DynamicsKind, ObstacleKind, ReachConfig, ReachStatistics, RefinementEnd, Rounding,
    StateSetKind, Task, UnknownCause,
};

/// Returns why the answer is not known, in a sentence.
pub(super) fn reason(task: &Task, cause: &UnknownCause) -> String {
    let (kind, step, state) = match cause {
        UnknownCause::Obstacle { kind, step, state, .. } => (kind, step, state),
        UnknownCause::NoCommonStep(_) => {
            return "there is no step at which all boxes are in the goal".to_owned();
        }
        UnknownCause::Stopped(stop) => return stop.to_string(),
    };
    let sides: Vec<String> = task
        .state
        .iter()
        .zip(state)
        .map(|(name, range)| format!("{name} in [{}, {}]", range.outer.lo(), range.outer.hi()))
        .collect();
    let what = match kind {
        ObstacleKind::MeetsUnsafe => "meets the unsafe set",
        ObstacleKind::MeetsUnsafeBetween => "meets the unsafe set on the way to this step",
        ObstacleKind::MissesGoal => "is not inside the goal at the last step",
        ObstacleKind::LeavesGrid => "leaves the cells for which the controller is defined",
        ObstacleKind::NoAction => "meets a cell in which the controller has no value",
        ObstacleKind::ManyChoices => {
            "is one of too many that come from steps in which it is unclear which action is taken"
        }
        ObstacleKind::NoValue => "contains states where the dynamics have no value, or no bound",
    };
    format!("at step {step}, a box {what}: {}", sides.join(", "))
}

/// Returns what would help after a stop.
pub(super) fn after_stop(stop: StopReason, counted: &ReachStatistics) -> String {
    let limit = match stop {
        StopReason::Time => "a longer --timeout",
        StopReason::Memory | StopReason::States(_) => "a greater --memory or --box-limit",
        StopReason::Interrupted => "running on",
        _ => "a greater limit",
    };
    let (verified, parts) = (counted.parts_verified, counted.parts);
    let so_far = match (verified, parts) {
        (_, 0) => "no part of the initial box was finished".to_owned(),
        (0, _) => "no part of the initial box was verified".to_owned(),
        _ => format!("{verified} of {parts} finished parts of the initial box were verified"),
    };
    format!("{so_far}; {limit} or more --threads may decide it, --journal keeps finished parts")
}

/// The way to tighter bounds that a task has, if there is one.
fn tighter_bounds(task: &Task, config: &ReachConfig) -> Option<&'static str> {
    let reads_state = matches!(task.controller, Controller::StateNetwork(_));
    let kind = config.sets.chosen(&task.dynamics, task.inputs.len());
    match (reads_state.then_some(kind), task.dynamics.kind) {
        // More parts of a difference equation's step make another loop of it.
        (None, DynamicsKind::Difference) => None,
        (None, DynamicsKind::Ode) => Some("shorter parts of a step (`substeps`)"),
        (Some(StateSetKind::Zonotopes), DynamicsKind::Ode) => {
            Some("shorter parts of a step (`substeps`) or Taylor models (--sets taylor-models)")
        }
        (Some(StateSetKind::Zonotopes), DynamicsKind::Difference) => {
            Some("Taylor models (--sets taylor-models)")
        }
        (Some(StateSetKind::TaylorModels | StateSetKind::Auto), _) => {
            Some("zonotopes (--sets zonotopes)")
        }
    }
}

/// Returns what would help where boxes stand against *safe*.
pub(super) fn hint(task: &Task, config: &ReachConfig, cause: &UnknownCause) -> String {
    let (kind, end) = match cause {
        UnknownCause::Obstacle { kind, end, .. } => (Some(kind), end),
        UnknownCause::NoCommonStep(end) => (None, end),
        UnknownCause::Stopped(_) => return String::new(),
    };
    let state = match end {
        RefinementEnd::Refinements(0) => {
            return "the initial box was not halved; without --refinements 0 it is, up to the limits \
                    of time and memory"
                .to_owned();
        }
        RefinementEnd::Refinements(times) => {
            return format!(
                "a part of the initial box was halved {times} times; a greater --refinements, or \
                 none, goes on"
            );
        }
        RefinementEnd::Depth(times) => {
            return format!(
                "a part of the initial box was halved {times} times, which is the most"
            );
        }
        RefinementEnd::SingleState(state) => state,
    };
    let tighter = tighter_bounds(task, config);
    let values = task.state.iter().zip(state).map(|(name, x)| format!("{name} = {x}"));
    let start = values.collect::<Vec<_>>().join(", ");
    let help = match kind {
        Some(ObstacleKind::LeavesGrid) => {
            "cells that reach further ([abstraction]) would help".to_owned()
        }
        Some(ObstacleKind::NoAction) => {
            "a controller with a value in all cells would help".to_owned()
        }
        Some(ObstacleKind::ManyChoices) => {
            "a network whose choice is clear in more states would help".to_owned()
        }
        Some(ObstacleKind::NoValue) => {
            let ways = ["dynamics with a value in all states"].into_iter().chain(tighter);
            format!("{} would help", ways.collect::<Vec<_>>().join(", or "))
        }
        Some(ObstacleKind::MeetsUnsafeBetween) => match tighter {
            Some(way) => format!("{way} may help"),
            None => "the samples alone (without --between-samples) may be decided".to_owned(),
        },
        Some(ObstacleKind::MeetsUnsafe | ObstacleKind::MissesGoal) | None
            if config.arithmetic.rounding == Rounding::AnyOrder =>
        {
            "one order of summation (without --any-order) may help".to_owned()
        }
        Some(ObstacleKind::MeetsUnsafe | ObstacleKind::MissesGoal) | None => {
            let border = "its trajectory comes closer to a border than the bounds can tell";
            let merges = task.aggregation.is_some()
                && !matches!(task.controller, Controller::StateNetwork(_));
            let merging = merges.then_some("no merging (--aggregation none)");
            let ways: Vec<&str> = tighter.into_iter().chain(merging).collect();
            if ways.is_empty() {
                border.to_owned()
            } else {
                format!("{border}; {} may help", ways.join(" or "))
            }
        }
    };
    format!("the start ({start}) alone is not decided, so that halving does not help; {help}")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn task(kind: &str, policy: &str) -> Task {
        let law = if kind == "ode" { "derivative" } else { "update" };
        let text = format!(
            "state = [\"x\"]\ninput = [\"u\"]\n[dynamics]\nkind = \"{kind}\"\ndt = 1\n\
             {law} = [\"x + u\"]\n[abstraction]\nedges = [[0, 1]]\n[policy]\n{policy}\n\
             [initial]\nlower = [0]\nupper = [1]\n[horizon]\nsteps = 1\n[unsafe]\n\
             condition = \"x > 3\"\n"
        );
        Task::parse("t.toml", &text, Path::new(""), None).expect("well-formed")
    }

    #[test]
    fn advice_names_what_changes_something() {
        let network = "network = \"n.onnx\"\ninput = \"state\"";
        let formula = "formula = \"1\"";
        for (kind, policy, sets, expected) in [
            ("ode", network, StateSetKind::Auto, Some("--sets zonotopes")),
            ("ode", network, StateSetKind::TaylorModels, Some("--sets zonotopes")),
            ("ode", network, StateSetKind::Zonotopes, Some("`substeps`")),
            ("difference", network, StateSetKind::Auto, Some("--sets zonotopes")),
            ("difference", network, StateSetKind::Zonotopes, Some("--sets taylor-models")),
            ("difference", network, StateSetKind::TaylorModels, Some("--sets zonotopes")),
            ("ode", formula, StateSetKind::Auto, Some("`substeps`")),
            ("difference", formula, StateSetKind::Auto, None),
        ] {
            let config = ReachConfig { sets, ..ReachConfig::default() };
            let way = tighter_bounds(&task(kind, policy), &config);
            let as_expected = match (way, expected) {
                (Some(way), Some(part)) => way.contains(part),
                (None, None) => true,
                (Some(_), None) | (None, Some(_)) => false,
            };
            assert!(as_expected, "{kind} {policy} {sets:?}: {way:?}");
        }
    }
}
