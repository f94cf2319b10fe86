//! Bounded model checking as one of the engines.

use policert_bmc::{BmcConfig, BmcReport, BmcSolver, bmc};
use policert_engine_api::{
    Conclusion, Configuration as _, Configured, Context, Counted, Engine, EngineAnswer,
    EngineError, Invariant, Question, UnknownReason, Verdict,
};
use serde_json::{Value, json};

use super::{AnsweredQuestions, Registration, configured, pieces};
use crate::engine_option::EngineOption;

pub(super) const REGISTRATION: Registration = Registration {
    name: "bmc",
    help: "bounded model checking",
    questions: AnsweredQuestions::SAFETY,
    passes_on: None,
    options: &[EngineOption::KeepGoing, EngineOption::StopAtFirstUnsafe, EngineOption::StateLimit],
    presets: BmcConfig::presets,
    configure: |preset, settings| configured(preset, settings, Bmc),
};

/// Unrolls runs step by step.
struct Bmc(Configured<BmcConfig>);

impl Engine for Bmc {
    fn answer(
        &self,
        question: &Question<'_>,
        context: &mut Context<'_>,
    ) -> Result<Conclusion, EngineError> {
        question.require_safety("bmc")?;
        let (budget, observer, _) = context.parts();
        let Configured { name, config } = &self.0;
        let report = bmc(question, question.policy, config, budget, observer)?;
        let knows_states = match config.solver {
            BmcSolver::Native => true,
            // A formula knows no states one by one.
            BmcSolver::Z3 => false,
        };
        let (numbers, notes) = (numbers(&report), notes(&report, question.keep_going));
        let answer = match config.solver {
            BmcSolver::Native => {
                let invariant = report.reached.map(Invariant::from);
                pieces::with_pieces(
                    report.verdict,
                    invariant,
                    ("boxes of states", &question.model.domains()),
                    budget,
                )
            }
            BmcSolver::Z3 => {
                let none = "a formula has no invariant; preset native has one".to_owned();
                EngineAnswer::with_invariant(report.verdict, Some(Err(none)))
            }
        };
        Ok(Conclusion {
            preset: Some(name.clone()),
            counted: Counted {
                start_states: knows_states,
                states: knows_states,
                // Boxes of states have no transitions.
                transitions: false,
                dropped_outcomes: false,
            },
            numbers,
            notes,
            ..Conclusion::new("bmc", answer, report.counts)
        })
    }

    fn idle_state_limit(&self) -> Option<&'static str> {
        match self.0.config.solver {
            BmcSolver::Native => None,
            BmcSolver::Z3 => Some("a formula has no states to count; --set steps=N limits it"),
        }
    }
}

/// Returns which lengths were checked, where the verdict does not say it.
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
