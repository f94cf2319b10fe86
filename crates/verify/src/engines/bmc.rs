//! Bounded model checking as one of the engines.

use policert_bmc::{BmcReport, BmcSolver, bmc};
use policert_engine_api::{Budget, EngineError, Observer, UnknownReason, Verdict};
use serde_json::{Value, json};

use super::{Assignment, EngineRun};

pub(super) fn run(
    assignment: &Assignment<'_>,
    budget: &mut Budget,
    observer: &mut dyn Observer,
) -> Result<EngineRun, EngineError> {
    let problem = assignment.problem;
    let question = problem.question();
    let config = assignment.bmc;
    let report = bmc(&question, problem.policy.as_ref(), &config, budget, observer)?;
    let solver = match config.solver {
        BmcSolver::Z3 => "z3",
        BmcSolver::Native => "native",
    };
    Ok(EngineRun {
        engine: "bmc",
        preset: Some(solver.to_owned()),
        start_states: None,
        invariant: None,
        numbers: numbers(&report),
        notes: notes(&report, question.keep_going),
        verdict: report.verdict,
        counts: report.counts,
        warnings: Vec::new(),
    })
}

/// Which lengths were checked, where the verdict does not say it.
fn notes(report: &BmcReport, keep_going: bool) -> Vec<String> {
    let Some(length) = report.stats.checked else { return Vec::new() };
    match (&report.verdict, &report.stopped) {
        (Verdict::Unknown(UnknownReason::StepLimit { .. }) | Verdict::Safe { .. }, _) => Vec::new(),
        (Verdict::Unknown(_), _) => vec![format!("no unsafe path of up to {length} steps")],
        (Verdict::Unsafe(_), _) if !keep_going => Vec::new(),
        (Verdict::Unsafe(_), None) => {
            vec![format!("paths of up to {length} steps were checked; no longer one matters")]
        }
        (Verdict::Unsafe(_), Some(reason)) => {
            let why = match reason {
                UnknownReason::StepLimit { .. } => "the limit on steps was reached".to_owned(),
                other => other.to_string(),
            };
            vec![format!("paths of up to {length} steps were checked; then {why}")]
        }
    }
}

fn numbers(report: &BmcReport) -> Value {
    let shortest = match &report.verdict {
        Verdict::Unsafe(trace) => Some(trace.steps.len()),
        _ => None,
    };
    json!({
        "shortest_unsafe_path": shortest,
        "largest_length_checked": report.stats.checked,
        "boxes": report.stats.boxes,
        "queries": report.stats.queries,
    })
}
