//! Bounded model checking as one of the engines.

use policert_engine_api::{Budget, EngineError, Observer, UnknownReason, Verdict};
use policert_explore::{BmcReport, BmcSolver, bmc};
use serde_json::{Value, json};

use super::{Assignment, EngineRun};

pub(super) fn run(
    assignment: &Assignment<'_>,
    budget: &mut Budget,
    observer: &mut dyn Observer,
) -> Result<EngineRun, EngineError> {
    let task = assignment.task;
    let question = task.question();
    let config = assignment.bmc;
    let report = bmc(&question, task.policy.as_ref(), &config, budget, observer)?;
    let solver = match config.solver {
        BmcSolver::Z3 => "z3",
        BmcSolver::Native => "native",
    };
    Ok(EngineRun {
        engine: "bmc",
        preset: Some(solver.to_owned()),
        start_states: None,
        numbers: numbers(&report),
        notes: notes(&report),
        verdict: report.verdict,
        counts: report.counts,
        warnings: Vec::new(),
    })
}

/// What stands although the run was stopped.
fn notes(report: &BmcReport) -> Vec<String> {
    let stopped = match &report.verdict {
        Verdict::Unknown(reason) => !matches!(reason, UnknownReason::StepLimit { .. }),
        _ => false,
    };
    match report.stats.checked {
        Some(length) if stopped => vec![format!("no unsafe path of up to {length} steps")],
        _ => Vec::new(),
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
