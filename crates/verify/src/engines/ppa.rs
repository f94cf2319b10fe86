//! Policy predicate abstraction as one of the engines.

use policert_engine_api::{
    Budget, Conclusion, Configuration as _, Configured, Context, Engine, EngineAnswer, EngineError,
    Invariant, Question, Verdict,
};
use policert_explore::merge_boxes;
use policert_ppa::{PpaConfig, QueryStats, TestStats, run_recorded};
use serde_json::{Value, json};

use super::{AnsweredQuestions, Registration, configured};
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

/// The greatest number of pieces that are written down as evidence.
const MOST_PIECES: usize = 100_000;
/// The number of abstract states up to which each one is a piece, so that a person can recognise it.
const MOST_SINGLE: usize = 10_000;

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
        let answer = with_pieces(report.verdict, report.invariant, "abstract states", budget);
        Ok(Conclusion {
            preset: Some(name.clone()),
            numbers: json!({ "tests": tests(&report.queries) }),
            start_states: report.start_states,
            notes: report.notes,
            ..Conclusion::new("ppa", answer, report.counts)
        })
    }
}

/// An answer with the invariant that these pieces are, the boxes among them merged where they are many.
pub(super) fn with_pieces(
    verdict: Verdict,
    invariant: Option<Invariant>,
    pieces: &str,
    budget: &mut Budget,
) -> EngineAnswer {
    let limited = |invariant: Invariant| {
        let found = invariant.pieces().len();
        let invariant =
            if found > MOST_SINGLE { merged(invariant, pieces, budget)? } else { invariant };
        match invariant.pieces().len() {
            0..=MOST_PIECES => Ok(invariant),
            more => Err(format!(
                "{found} {pieces} make {more} pieces; evidence has {MOST_PIECES} at most"
            )),
        }
    };
    EngineAnswer::with_invariant(verdict, invariant.map(limited))
}

/// Merges the pieces that are boxes.
fn merged(invariant: Invariant, what: &str, budget: &mut Budget) -> Result<Invariant, String> {
    let (boxes, mut pieces): (Vec<_>, Vec<_>) =
        invariant.into_pieces().into_iter().partition(|piece| piece.conditions.is_empty());
    let boxes = boxes.into_iter().map(|piece| piece.sides).collect();
    let boxes = merge_boxes(boxes, budget)
        .map_err(|reason| format!("the {what} could not be merged: {reason}"))?;
    pieces.extend(Invariant::from(boxes).into_pieces());
    Ok(Invariant::new(pieces))
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

#[cfg(test)]
mod tests {
    use policert_model::{Condition, LinearConstraint, Region, VarId};
    use policert_numeric::IntBox;

    use super::*;

    #[test]
    fn merged_abstract_states_are_the_same_states() {
        let corner =
            LinearConstraint { terms: vec![(VarId::new(0), 1), (VarId::new(1), 1)], upper: 9 };
        let piece = |sides: IntBox, conditions| Region { sides, conditions };
        let states: Vec<[i64; 2]> = (0..7).flat_map(|x| (0..7).map(move |y| [x, y])).collect();
        let is_box = |[x, y]: [i64; 2]| x < 4 && (y < 2 || y == 4);
        let boxes = states.iter().filter(|state| is_box(**state));
        let mut pieces: Vec<_> =
            boxes.map(|state| piece(IntBox::point(state), Vec::new())).collect();
        let mut above = IntBox::point(&[5, 5]);
        above.hull_with(&IntBox::point(&[6, 3]));
        pieces.push(piece(above, vec![Condition::Linear(corner)]));
        let before = Invariant::new(pieces);
        let after = merged(before.clone(), "boxes", &mut Budget::unlimited()).expect("no limit");
        assert_eq!(after.pieces().len(), 3);
        for state in &states {
            assert_eq!(after.contains(state), before.contains(state), "{state:?}");
        }
        let mut stopped = Budget::unlimited();
        stopped.cancel_flag().raise();
        assert!(merged(before, "boxes", &mut stopped).is_err());
    }
}
