//! Explicit search as one of the engines.

use policert_engine_api::{Budget, EngineError, Observer};
use policert_explore::{Explored, explicit};
use serde_json::{Value, json};

use super::{Assignment, EngineRun};

pub(super) fn run(
    assignment: &Assignment<'_>,
    budget: &mut Budget,
    observer: &mut dyn Observer,
) -> Result<EngineRun, EngineError> {
    let problem = assignment.problem;
    let question = problem.question();
    let config = &assignment.explicit;
    let explored = explicit(&question, problem.policy.as_ref(), config, budget, observer)?;
    let (warnings, notes) = remarks(&explored, config.drop_examples);
    Ok(EngineRun {
        engine: "explicit",
        preset: None,
        start_states: None,
        invariant: None,
        numbers: numbers(&explored),
        verdict: explored.verdict,
        counts: explored.counts,
        warnings,
        notes,
    })
}

/// Warnings and notes.
fn remarks(explored: &Explored, most_examples: usize) -> (Vec<String>, Vec<String>) {
    let mut warnings = Vec::new();
    let count = explored.counts.dropped_outcomes;
    if count > 0 {
        let example = explored.dropped.first();
        let example = example.map_or(String::new(), |d| format!("; for example: {}", d.problem));
        let operators = explored.dropped.len();
        warnings.push(format!(
            "{count} outcomes leave a domain and count as no transition (of {operators} \
             operators{}){example}",
            if operators == most_examples { " or more" } else { "" },
        ));
    }
    let mut notes = Vec::new();
    if let Some(reason) = explored.stopped
        && !matches!(explored.verdict, policert_engine_api::Verdict::Unknown(_))
    {
        notes.push(format!(
            "not all states were built: {reason}; the verdict does not depend on the rest"
        ));
    }
    (warnings, notes)
}

fn numbers(explored: &Explored) -> Value {
    let stats = &explored.stats;
    let seconds = |time: std::time::Duration| time.as_secs_f64();
    json!({
        "stopped": explored.stopped.map(|reason| reason.to_string()),
        "depth": stats.depth,
        "operators_composed": stats.operators,
        "successors": stats.successors,
        "policy_evaluations": stats.policy_evaluations,
        "exact_decisions": stats.exact_decisions,
        "undecided_choices": stats.undecided_choices,
        "stuck_states": stats.stuck_states,
        "peak_frontier": stats.peak_frontier,
        "times_s": {
            "start_states": seconds(stats.times.start_states),
            "guards": seconds(stats.times.guards),
            "policy": seconds(stats.times.policy),
            "successors": seconds(stats.times.successors),
            "store": seconds(stats.times.store),
        },
    })
}
