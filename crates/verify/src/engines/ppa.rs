//! Policy predicate abstraction as one of the engines.

use policert_engine_api::{
    Conclusion, Configuration as _, Configured, Context, Engine, EngineError, Question,
};
use policert_ppa::{PpaConfig, QueryStats, TestStats, run_recorded};
use serde_json::{Value, json};

use super::{AnsweredQuestions, Registration, configured, pieces};
use crate::engine_option::EngineOption;

pub(super) const REGISTRATION: Registration = Registration {
    name: "ppa",
    help: "policy predicate abstraction",
    questions: AnsweredQuestions::SAFETY,
    passes_on: None,
    options: &[
        EngineOption::Predicates,
        EngineOption::Last,
        EngineOption::KeepGoing,
        EngineOption::StopAtFirstUnsafe,
        EngineOption::BuildAll,
        EngineOption::StartStates,
        EngineOption::RecordQueries,
        EngineOption::StateLimit,
    ],
    presets: PpaConfig::presets,
    configure: |preset, settings| configured(preset, settings, Ppa),
};

/// Abstracts with the predicates that are given.
#[derive(Clone)]
pub(super) struct Ppa(pub Configured<PpaConfig>);

impl Engine for Ppa {
    fn answer(
        &self,
        question: &Question<'_>,
        context: &mut Context<'_>,
    ) -> Result<Conclusion, EngineError> {
        question.require_safety("ppa")?;
        let (budget, observer, recorder) = context.parts();
        let Configured { name, config } = &self.0;
        let report = run_recorded(question, question.policy, config, budget, observer, recorder)?;
        let answer = pieces::with_pieces(
            report.verdict,
            report.invariant,
            ("abstract states", &question.model.domains()),
            budget,
        );
        Ok(Conclusion {
            preset: Some(name.clone()),
            numbers: json!({ "tests": tests(&report.queries) }),
            start_states: report.start_states,
            notes: report.notes,
            ..Conclusion::new("ppa", answer, report.counts)
        })
    }
}

/// The tests that were asked, by kind.
pub(super) fn tests(queries: &QueryStats) -> Value {
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
