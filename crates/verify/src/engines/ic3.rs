//! IC3 for policies as one of the engines.

use policert_engine_api::{
    ClaimedInvariant, Conclusion, Configuration as _, Configured, Context, Counted, Engine,
    EngineAnswer, EngineError, Question, Verdict,
};
use policert_ic3::{Ic3Config, Ic3Report, run};
use serde_json::{Value, json};

use super::{AnsweredQuestions, Registration, configured};
use crate::engine_option::EngineOption;

pub(super) const REGISTRATION: Registration = Registration {
    name: "ic3",
    help: "IC3 for policies",
    questions: AnsweredQuestions::SAFETY,
    passes_on: None,
    options: &[EngineOption::StopAtFirstUnsafe, EngineOption::StateLimit, EngineOption::Threads],
    presets: Ic3Config::presets,
    configure: |preset, settings| configured(preset, settings, Ic3),
};

/// Searches for a path, and for an invariant that excludes all.
#[derive(Clone)]
pub(super) struct Ic3(pub Configured<Ic3Config>);

impl Engine for Ic3 {
    fn answer(
        &self,
        question: &Question<'_>,
        context: &mut Context<'_>,
    ) -> Result<Conclusion, EngineError> {
        question.require_safety("ic3")?;
        let threads = context.threads.into();
        let (budget, observer, _) = context.parts();
        let Configured { name, config } = &self.0;
        let report = run(question, question.policy, config, threads, budget, observer)?;
        let numbers = numbers(&report);
        let answer = match (report.verdict, report.invariant) {
            (Verdict::Safe { vacuous }, Some(boxes)) => {
                let invariant =
                    ClaimedInvariant { invariant: boxes.into(), ranks: None, is_needed: true };
                EngineAnswer::Safe { vacuous, invariant: Ok(invariant) }
            }
            (verdict, _) => verdict.into(),
        };
        Ok(Conclusion {
            preset: Some(name.clone()),
            // A search backwards knows no states one by one.
            counted: Counted {
                states: false,
                transitions: false,
                dropped_outcomes: false,
                ..Counted::ALL
            },
            numbers,
            ..Conclusion::new("ic3", answer, report.counts)
        })
    }
}

/// Returns how far the search came, and the questions that it asked.
fn numbers(report: &Ic3Report) -> Value {
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
