//! The answer as a report.

use policert_engine_api::UnknownReason;
use policert_mdp::Bounds;
use policert_numeric::Rational;
use policert_outcome::decimal::outward;
use policert_outcome::{ExitStatus, Outcome, ReasonCode, VerdictWord};
use policert_problem::{ProbabilityQuestion, Problem};
use serde_json::{Value, json};

use super::Run;
use super::answer::Answer;
use super::induced::Found;
use crate::report::{Attempt, Report, Statistics, Times};

/// Fills the report; the status that the run ends with.
pub(super) fn report(
    problem: &Problem,
    asked: &ProbabilityQuestion<'_>,
    found: &Found,
    answer: &Answer,
    run: &Run<'_>,
    outcome: &mut Outcome<Report>,
) -> ExitStatus {
    let (verdict, status, reason) = verdict(problem, asked, found, answer, run);
    let warnings = &mut outcome.remarks.warnings;
    let count = found.counts.dropped_outcomes;
    if count > 0 {
        let example = found.dropped.first();
        let example = example.map_or(String::new(), |d| format!("; for example: {}", d.problem));
        warnings.push(format!(
            "{count} outcomes leave a domain and count as no transition: their probability reaches \
             nothing{example}"
        ));
    }
    if verdict == VerdictWord::Probability && !is_narrow(&answer.bounds, run) {
        warnings.push(
            "the interval is wider than asked for: rounding errors do not allow more; --exact \
             computes the value"
                .to_owned(),
        );
    }
    let mut statistics = Statistics::new("prob", None, &found.counts, None, Times::default());
    let mut numbers = numbers(found);
    numbers["distribution_entries"] = found.counts.transitions.into();
    statistics.engine.insert("prob".to_owned(), numbers);
    let exact = (answer.bounds.lo == answer.bounds.hi).then(|| answer.bounds.lo.to_string());
    let words = match verdict {
        VerdictWord::Probability => "probability bounded".to_owned(),
        VerdictWord::Safe => "safe".to_owned(),
        VerdictWord::Unsafe => "unsafe".to_owned(),
        _ => reason.as_ref().map_or("unknown".to_owned(), |(text, _)| format!("unknown: {text}")),
    };
    let time_s = found.times.iter().sum::<std::time::Duration>().as_secs_f64();
    outcome.report = Report {
        vacuous: answer.vacuous,
        bounds: Some(answer.bounds.clone()),
        probability: Some(outward(&answer.bounds.lo, &answer.bounds.hi)),
        value: exact,
        property: Some(problem.property.name.clone()),
        engine: Some("prob".to_owned()),
        attempts: vec![Attempt { engine: "prob".to_owned(), result: words, time_s: Some(time_s) }],
        semantics: Some(problem.semantics.clone()),
        statistics: Some(statistics),
        ..Report::empty(verdict)
    };
    if let Some((text, code)) = reason {
        outcome.explain(code, text);
    }
    status
}

type Verdict = (VerdictWord, ExitStatus, Option<(String, ReasonCode)>);

fn verdict(
    problem: &Problem,
    asked: &ProbabilityQuestion<'_>,
    found: &Found,
    answer: &Answer,
    run: &Run<'_>,
) -> Verdict {
    match answer.holds {
        Some(true) => return (VerdictWord::Safe, ExitStatus::Safe, None),
        Some(false) => return (VerdictWord::Unsafe, ExitStatus::Unsafe, None),
        None => {}
    }
    if asked.comparison.is_none() {
        // Whatever was not looked at, the interval is as narrow as asked for.
        let narrow = is_narrow(&answer.bounds, run)
            && (!run.options.exact || answer.bounds.lo == answer.bounds.hi);
        let is_whole = found.stopped.is_none() && found.undecided.is_none();
        if narrow || is_whole {
            return (VerdictWord::Probability, ExitStatus::Safe, None);
        }
    }
    let unknown = |reason: UnknownReason, status| {
        let code = ReasonCode::from(&reason);
        (VerdictWord::Unknown, status, Some((reason.to_string(), code)))
    };
    if let Some(reason) = found.stopped {
        return unknown(UnknownReason::Stopped(reason), ExitStatus::of_stop(reason));
    }
    if let Some(state) = &found.undecided {
        let state = problem.model.display_state(state);
        return unknown(UnknownReason::UndecidedChoice { state }, ExitStatus::Unknown);
    }
    let text = "the bound lies inside the interval; --exact or a smaller --precision may decide";
    (VerdictWord::Unknown, ExitStatus::Unknown, Some((text.to_owned(), ReasonCode::Other)))
}

fn is_narrow(bounds: &Bounds, run: &Run<'_>) -> bool {
    Rational::from_f64(run.width()).is_some_and(|precision| bounds.width() <= precision)
}

fn numbers(found: &Found) -> Value {
    let (building, solving) = (&found.building, &found.solving);
    json!({
        "stopped": found.stopped.map(|reason| reason.to_string()),
        "choices": found.choices,
        "operators_composed": building.operators,
        "policy_evaluations": building.policy_evaluations,
        "exact_decisions": building.exact_decisions,
        "undecided_choices": building.undecided_choices,
        "value_0_states": solving.zero_states,
        "value_1_states": solving.one_states,
        "blocks": solving.blocks,
        "end_components": solving.end_components,
        "components": solving.components,
        "sweeps": solving.sweeps,
        "most_probable_path": found.path.map(|path| json!({
            "steps": path.steps,
            "probability": path.probability,
        })),
        "exact_components": solving.exact_components,
        "guessed_components": solving.guessed_components,
        "times_s": {
            "build": found.times[0].as_secs_f64(),
            "solve": found.times[1].as_secs_f64(),
        },
    })
}
