//! Counterexample-guided abstraction refinement as one of the engines.

use std::collections::BTreeMap;

use policert_engine_api::{
    Conclusion, Configuration, ConfigurationError, Configured, Context, Engine, EngineError,
    Preset, Question, Setting,
};
use policert_ppa::{CegarConfig, CegarReport, Origin, PolicySolver, PpaConfig, cegar};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{AnsweredQuestions, Registration, configured, pieces, ppa};
use crate::engine_option::EngineOption;

pub(super) const REGISTRATION: Registration = Registration {
    name: "cegar",
    help: "ppa that finds its predicates",
    questions: AnsweredQuestions::SAFETY,
    passes_on: None,
    options: &[
        EngineOption::Predicates,
        EngineOption::Last,
        EngineOption::StopAtFirstUnsafe,
        EngineOption::RecordQueries,
        EngineOption::StateLimit,
    ],
    presets: Settings::presets,
    configure: |preset, settings| configured(preset, settings, Cegar),
};

/// The tests of the abstraction, and its refinement.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Settings {
    #[serde(flatten)]
    refinement: CegarConfig,
    #[serde(flatten)]
    tests: PpaConfig,
}

impl Configuration for Settings {
    fn presets() -> Vec<Preset> {
        presets(include_str!("../../../../configs/cegar/native.toml"))
    }

    fn check(&self, given: &[Setting]) -> Result<(), ConfigurationError> {
        check(&self.tests, given)
    }
}

/// The presets of ppa, with another `native` one.
pub(super) fn presets(native: &'static str) -> Vec<Preset> {
    let others = PpaConfig::presets().into_iter().filter(|(name, _)| *name != "native");
    std::iter::once(("native", native)).chain(others).collect()
}

/// Checks the tests of an abstraction that is refined.
pub(super) fn check(tests: &PpaConfig, given: &[Setting]) -> Result<(), ConfigurationError> {
    let by_z3 = match tests.policy {
        PolicySolver::Z3 | PolicySolver::Z3FixedPhases => true,
        PolicySolver::Native | PolicySolver::BranchAndBound => false,
    };
    if by_z3 && given.iter().any(|setting| setting.key == "box-limit") {
        let name = &tests.name;
        return Err(ConfigurationError::Setting(format!(
            "box-limit has no effect: preset {name} asks Z3, which does not work with boxes"
        )));
    }
    tests.check(given)
}

/// Abstracts with predicates that it finds.
#[derive(Clone)]
pub(super) struct Cegar(pub Configured<Settings>);

impl Engine for Cegar {
    fn answer(
        &self,
        question: &Question<'_>,
        context: &mut Context<'_>,
    ) -> Result<Conclusion, EngineError> {
        question.require_safety("cegar")?;
        let (budget, observer, recorder) = context.parts();
        let Configured { name, config: Settings { tests, refinement } } = &self.0;
        let report =
            cegar(question, question.policy, tests, *refinement, budget, observer, recorder)?;
        let mut notes = vec![summary(&report)];
        notes.extend(report.notes.iter().cloned());
        let numbers = numbers(&report);
        let answer = pieces::with_pieces(
            report.verdict,
            report.invariant,
            ("abstract states", &question.model.domains()),
            budget,
        );
        Ok(Conclusion {
            preset: Some(name.clone()),
            numbers,
            notes,
            ..Conclusion::new("cegar", answer, report.counts)
        })
    }
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
pub(super) fn name(origin: Origin) -> &'static str {
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
