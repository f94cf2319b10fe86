//! Whether every run reaches a goal state, by explicit search.

use policert_engine_api::{Budget, EngineError, Observer};
use policert_explore::reach_goal;
use serde_json::json;

use super::{Assignment, EngineRun};

pub(super) fn run(
    assignment: &Assignment<'_>,
    budget: &mut Budget,
    observer: &mut dyn Observer,
) -> Result<EngineRun, EngineError> {
    let problem = assignment.problem;
    let question = problem.question();
    let found = reach_goal(&question, problem.policy.as_ref(), budget, observer)?;
    let dropped = found.counts.dropped_outcomes;
    let warning = format!("{dropped} outcomes leave a domain and count as no transition");
    Ok(EngineRun {
        engine: "explicit",
        preset: None,
        start_states: None,
        invariant: None,
        numbers: json!({ "goal_states": found.goal_states }),
        verdict: found.verdict,
        counts: found.counts,
        warnings: if dropped > 0 { vec![warning] } else { Vec::new() },
        notes: Vec::new(),
    })
}
