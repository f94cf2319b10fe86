//! Policy predicate abstraction as one of the engines.

use std::path::Path;

use policert_bounds::Recorder;
use policert_engine_api::{Budget, EngineError, Observer};
use policert_outcome::Failure;
use policert_ppa::{Config, ConfigError, QueryStats, Report, TestStats, run_recorded};
use serde_json::{Value, json};

use super::{Assignment, EngineRun};

/// The configuration of this name: a preset, or a file.
pub(crate) fn preset(name: &str) -> Result<Config, Failure> {
    let known = Config::preset_names().contains(&name);
    let config = match preset_file(name).filter(|_| !known) {
        Some(text) => Config::parse(&text?),
        None => Config::preset(name),
    };
    config.map_err(|error| match error {
        ConfigError::UnknownPreset { .. } => Failure::Usage(error.to_string()),
        ConfigError::NeedsZ3(_) => Failure::unsupported(error.to_string()),
        other => Failure::invalid(format!("{name}: {other}")),
    })
}

/// The text of a preset, if the name looks like that of a file.
pub(super) fn preset_file(name: &str) -> Option<Result<String, Failure>> {
    let looks_like_file = name.contains('/') || Path::new(name).extension().is_some();
    (looks_like_file || Path::new(name).is_file()).then(|| {
        policert_files::read_text(Path::new(name))
            .map_err(|error| Failure::invalid(format!("preset {name}: {error}")))
    })
}

pub(super) fn run(
    assignment: &Assignment<'_>,
    budget: &mut Budget,
    observer: &mut dyn Observer,
    recorder: Option<&mut dyn Recorder>,
) -> Result<EngineRun, EngineError> {
    let problem = assignment.problem;
    let question = problem.question();
    let policy = problem.policy.as_ref();
    let report = run_recorded(&question, policy, assignment.ppa, budget, observer, recorder)?;
    Ok(EngineRun {
        engine: "ppa",
        preset: Some(assignment.ppa.name.clone()),
        numbers: numbers(&report),
        start_states: report.start_states,
        invariant: None,
        verdict: report.verdict,
        counts: report.counts,
        warnings: Vec::new(),
        notes: report.notes,
    })
}

fn numbers(report: &Report) -> Value {
    json!({ "tests": tests(&report.queries) })
}

/// The tests that were asked, by kind.
pub(crate) fn tests(queries: &QueryStats) -> Value {
    let kinds = [
        ("is_select_pi_relaxed", &queries.is_select_pi_relaxed),
        ("is_select_pi", &queries.is_select_pi),
        ("is_app", &queries.is_app),
        ("is_app_pi_relaxed", &queries.is_app_pi_relaxed),
        ("is_app_pi", &queries.is_app_pi),
        ("t_sat", &queries.t_sat),
        ("t_sat_pi_relaxed", &queries.t_sat_pi_relaxed),
        ("t_sat_pi", &queries.t_sat_pi),
        ("entailment", &queries.entailment),
    ];
    let asked = kinds.iter().filter(|(_, stats)| stats.asked > 0);
    Value::Object(asked.map(|(kind, stats)| ((*kind).to_owned(), of_test(stats))).collect())
}

fn of_test(stats: &TestStats) -> Value {
    json!({
        "asked": stats.asked,
        "refuted": stats.refuted,
        "time_s": stats.time.as_secs_f64(),
    })
}
