//! The answer as a report.

use policert_engine_api::{StopReason, UnknownReason};
use policert_mdp::Bounds;
use policert_numeric::Rational;
use serde_json::{Value, json};

use super::Run;
use super::answer::Answer;
use super::induced::Found;
use super::question::Asked;
use crate::decimal::{decimal, places_for, rounded_down, rounded_up};
use crate::report::{Attempt, ReasonCode, Report, Statistics, Times, VerdictWord};
use crate::{ExitStatus, Task};

/// Significant digits of bounds: more than doubles have.
const DIGITS: i32 = 18;

/// The report, and how the run ends.
pub(super) fn report(
    task: &Task,
    asked: &Asked<'_>,
    found: &Found,
    answer: &Answer,
    run: &Run<'_>,
) -> (Report, ExitStatus) {
    let (verdict, status, reason) = verdict(task, asked, found, answer, run);
    let mut warnings = Vec::new();
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
    let report = Report {
        verdict,
        vacuous: answer.vacuous,
        reason: reason.as_ref().map(|(text, _)| text.clone()),
        reason_code: reason.map(|(_, code)| code),
        probability: Some(decimals(&answer.bounds)),
        value: exact,
        exit_code: status.code(),
        property: Some(task.property.name.clone()),
        engine: Some("prob".to_owned()),
        attempts: vec![Attempt { engine: "prob".to_owned(), result: words, time_s: Some(time_s) }],
        semantics: Some(task.semantics.clone()),
        statistics: Some(statistics),
        warnings,
        ..Report::empty()
    };
    (report, status)
}

type Verdict = (VerdictWord, ExitStatus, Option<(String, ReasonCode)>);

fn verdict(
    task: &Task,
    asked: &Asked<'_>,
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
        let code = ReasonCode::of_unknown(&reason);
        (VerdictWord::Unknown, status, Some((reason.to_string(), code)))
    };
    if let Some(reason) = found.stopped {
        return unknown(UnknownReason::Stopped(reason), of_stop(reason));
    }
    if let Some(state) = &found.undecided {
        let state = task.model.display_state(state);
        return unknown(UnknownReason::UndecidedChoice { state }, ExitStatus::Unknown);
    }
    let text = "the bound lies inside the interval; --exact or a smaller --precision may decide";
    (VerdictWord::Unknown, ExitStatus::Unknown, Some((text.to_owned(), ReasonCode::Other)))
}

fn of_stop(reason: StopReason) -> ExitStatus {
    ExitStatus::of_stop(reason)
}

fn is_narrow(bounds: &Bounds, run: &Run<'_>) -> bool {
    Rational::from_f64(run.width()).is_some_and(|precision| bounds.width() <= precision)
}

/// Bounds as decimals, rounded outwards.
pub(super) fn decimals(bounds: &Bounds) -> [String; 2] {
    let places = |bound: &Rational| match bound.is_zero() {
        true => 0,
        false => places_for(bound, DIGITS).min(400),
    };
    let (lo_places, hi_places) = (places(&bounds.lo), places(&bounds.hi));
    [
        decimal(&rounded_down(&bounds.lo, lo_places), lo_places),
        decimal(&rounded_up(&bounds.hi, hi_places), hi_places),
    ]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_rounded_outwards() {
        let number = |text: &str| -> Rational { text.parse().expect("a number") };
        let third = Bounds::exact(number("1/3"));
        let [lo, hi] = decimals(&third);
        assert_eq!((lo.as_str(), hi.as_str()), ("0.333333333333333333", "0.333333333333333334"));
        let tiny = Bounds { lo: Rational::ZERO, hi: number("1e-30") };
        assert_eq!(decimals(&tiny), ["0".to_owned(), format!("0.{}1", "0".repeat(29))]);
        assert_eq!(decimals(&Bounds::exact(number("1/2"))), ["0.5", "0.5"]);
        assert_eq!(decimals(&Bounds::unknown()), ["0", "1"]);
    }
}
