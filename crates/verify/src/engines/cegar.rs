//! Counterexample-guided abstraction refinement as one of the engines.

use std::collections::BTreeMap;

use policert_bounds::Recorder;
use policert_engine_api::{Budget, EngineError, Observer};
use policert_ppa::{CegarReport, Origin, cegar};
use serde_json::{Map, Value, json};

use super::{Assignment, EngineRun, ppa};

pub(super) fn run(
    assignment: &Assignment<'_>,
    budget: &mut Budget,
    observer: &mut dyn Observer,
    recorder: Option<&mut dyn Recorder>,
) -> Result<EngineRun, EngineError> {
    let problem = assignment.problem;
    let question = problem.question();
    let policy = problem.policy.as_ref();
    let config = assignment.cegar;
    let report = cegar(&question, policy, assignment.ppa, config, budget, observer, recorder)?;
    let mut notes = vec![summary(&report)];
    notes.extend(report.notes.iter().cloned());
    Ok(EngineRun {
        engine: "cegar",
        preset: Some(assignment.ppa.name.clone()),
        start_states: None,
        invariant: None,
        numbers: numbers(&report),
        verdict: report.verdict,
        counts: report.counts,
        warnings: Vec::new(),
        notes,
    })
}

/// Iterations, refinements and predicates in a line.
fn summary(report: &CegarReport) -> String {
    let list = |counts: &BTreeMap<Origin, u64>| {
        let entries = counts.iter().filter(|(_, count)| **count > 0);
        let texts = entries.map(|(origin, n)| format!("{n} {}", name(*origin).replace('_', " ")));
        let text = texts.collect::<Vec<_>>().join(", ");
        if text.is_empty() { "none".to_owned() } else { text }
    };
    format!(
        "iterations: {}; refinements: {}; predicates: {}",
        report.iterations,
        list(&report.refinements),
        list(&report.predicates)
    )
}

/// Iterations, refinements and predicates by origin, tests by kind.
fn numbers(report: &CegarReport) -> Value {
    let by_origin = |counts: &BTreeMap<Origin, u64>| {
        let entries = counts.iter().filter(|(_, count)| **count > 0);
        Value::Object(
            entries.map(|(origin, count)| (name(*origin).to_owned(), json!(count))).collect(),
        )
    };
    let mut numbers = Map::new();
    numbers.insert("iterations".to_owned(), json!(report.iterations));
    numbers.insert("refinements".to_owned(), by_origin(&report.refinements));
    numbers.insert("predicates".to_owned(), by_origin(&report.predicates));
    numbers.insert("entailed_cuts".to_owned(), json!(report.entailed_cuts));
    numbers.insert("tests".to_owned(), ppa::tests(&report.queries));
    Value::Object(numbers)
}

/// The name of an origin in reports.
pub(crate) fn name(origin: Origin) -> &'static str {
    match origin {
        Origin::Guard => "guard",
        Origin::Choice => "action_selection",
        Origin::Target => "target",
        Origin::Outcome => "outcome",
        Origin::StartStates => "start_states",
        Origin::Separation => "separation",
        _ => "property",
    }
}
