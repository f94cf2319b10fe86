//! IC3 for policies as one of the engines.

use policert_engine_api::{Budget, EngineError, Observer};
use policert_ic3::{Config, ConfigError, Report, run as ic3};
use policert_outcome::Failure;
use serde_json::{Value, json};

use super::{Assignment, EngineRun, ppa};

/// The configuration of this name: a preset, or a file.
pub(crate) fn preset(name: &str) -> Result<Config, Failure> {
    let known = Config::preset_names().contains(&name);
    let config = match ppa::preset_file(name).filter(|_| !known) {
        Some(text) => Config::parse(&text?),
        None => Config::preset(name),
    };
    config.map_err(|error| match error {
        ConfigError::UnknownPreset { .. } => Failure::Usage(error.to_string()),
        ConfigError::NeedsZ3(_) => Failure::unsupported(error.to_string()),
        other => Failure::invalid(format!("{name}: {other}")),
    })
}

pub(super) fn run(
    assignment: &Assignment<'_>,
    threads: u16,
    budget: &mut Budget,
    observer: &mut dyn Observer,
) -> Result<EngineRun, EngineError> {
    let problem = assignment.problem;
    let question = problem.question();
    let report =
        ic3(&question, problem.policy.as_ref(), assignment.ic3, threads.into(), budget, observer)?;
    Ok(EngineRun {
        engine: "ic3",
        preset: Some(assignment.ic3.name.clone()),
        start_states: None,
        numbers: numbers(&report),
        verdict: report.verdict,
        invariant: report.invariant,
        counts: report.counts,
        warnings: Vec::new(),
        notes: Vec::new(),
    })
}

/// How far the search came, and the questions that it asked.
fn numbers(report: &Report) -> Value {
    let (search, queries) = (&report.search, &report.queries);
    json!({
        "frames": search.limit,
        "obligations": search.obligations,
        "reasons": search.reasons,
        "subsumed_reasons": search.subsumed,
        "invariant_boxes": report.invariant.as_ref().map(Vec::len),
        "generalizations": queries.generalizations,
        "frame_transitions": queries.frame_transitions,
        "recalled": queries.recalled,
        "probed": queries.probed,
        "policy_queries": queries.policy_queries,
        "propagated": queries.propagated,
    })
}
