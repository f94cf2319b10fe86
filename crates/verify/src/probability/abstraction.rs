//! Bounds of a probability by policy predicate abstraction: `prob-ppa` and `prob-cegar`.

use std::collections::BTreeMap;
use std::time::Instant;

use policert_engine_api::{Budget, Limits, Observer, UnknownReason};
use policert_mdp::Bounds;
use policert_numeric::Rational;
use policert_outcome::decimal::outward;
use policert_outcome::{ExitStatus, Failure, Outcome, ReasonCode, VerdictWord};
use policert_ppa::{Origin, ProbConfig, ProbReport, Spurious, prob_cegar, prob_ppa};
use policert_problem::Problem;
use serde_json::{Value, json};

use super::Run;
use crate::engines::{EngineChoice, origin_name, tests_record};
use crate::report::{Attempt, Report, Statistics, Times};

/// Answers by an abstraction.
pub(super) fn answer(
    problem: &Problem,
    run: &Run<'_>,
    observer: &mut dyn Observer,
    outcome: &mut Outcome<Report>,
) -> Result<ExitStatus, Failure> {
    let options = run.options;
    let is_refined = run.engine == EngineChoice::ProbCegar;
    let engine = if is_refined { "prob-cegar" } else { "prob-ppa" };
    let begin = Instant::now();
    let limits = run.limits;
    let left = limits.time.map(|limit| limit.saturating_sub(run.begin.elapsed()));
    let mut budget = Budget::new(Limits { time: left, ..limits.clone() }, run.cancel.clone());
    let config = ProbConfig {
        method: options.max_prob,
        precision: run.width(),
        bound: options.bound.clone(),
        analysis: options.counterexamples,
        cegar: run.cegar,
        ..ProbConfig::default()
    };
    let ask = if is_refined { prob_cegar } else { prob_ppa };
    let question = problem.question();
    let found = ask(&question, problem.policy.as_ref(), run.ppa, &config, &mut budget, observer)?;
    let (verdict, status, reason) = verdict(&found, run);
    let notes = &mut outcome.remarks.notes;
    notes.extend(found.notes.iter().cloned());
    if verdict == VerdictWord::Probability && !is_narrow(&found.bounds, run) {
        notes.push(
            "the predicates are too coarse for an interval as narrow as --precision asks for; \
             prob-cegar finds others"
                .to_owned(),
        );
    }
    if is_refined {
        notes.push(format!(
            "iterations: {}; predicates: {}",
            found.iterations,
            found.counts.predicates.unwrap_or(0)
        ));
    }
    let words = match verdict {
        VerdictWord::Probability => "probability bounded".to_owned(),
        VerdictWord::Safe => "safe".to_owned(),
        VerdictWord::Unsafe => "unsafe".to_owned(),
        _ => reason.as_ref().map_or("unknown".to_owned(), |(text, _)| format!("unknown: {text}")),
    };
    let time_s = begin.elapsed().as_secs_f64();
    let mut statistics = Statistics::new(engine, None, &found.counts, None, Times::default());
    let mut numbers = numbers(&found, is_refined);
    numbers["distribution_entries"] = found.counts.transitions.into();
    statistics.engine.insert(engine.to_owned(), numbers);
    let exact = (found.bounds.lo == found.bounds.hi).then(|| found.bounds.lo.to_string());
    outcome.report = Report {
        vacuous: found.vacuous,
        bounds: Some(found.bounds.clone()),
        probability: Some(outward(&found.bounds.lo, &found.bounds.hi)),
        value: exact,
        property: Some(problem.property.name.clone()),
        engine: Some(engine.to_owned()),
        preset: Some(run.ppa.name.clone()),
        attempts: vec![Attempt { engine: engine.to_owned(), result: words, time_s: Some(time_s) }],
        semantics: Some(problem.semantics.clone()),
        statistics: Some(statistics),
        ..Report::empty(verdict)
    };
    if let Some((text, code)) = reason {
        outcome.explain(code, text);
    }
    Ok(status)
}

type Verdict = (VerdictWord, ExitStatus, Option<(String, ReasonCode)>);

fn verdict(found: &ProbReport, run: &Run<'_>) -> Verdict {
    let bounds = &found.bounds;
    match &run.options.bound {
        Some(bound) if bounds.hi <= *bound => {
            return (VerdictWord::Safe, ExitStatus::Safe, None);
        }
        Some(bound) if bounds.lo > *bound => {
            return (VerdictWord::Unsafe, ExitStatus::Unsafe, None);
        }
        Some(_) => {}
        None if found.unknown.is_none() || is_narrow(bounds, run) => {
            return (VerdictWord::Probability, ExitStatus::Safe, None);
        }
        None => {}
    }
    let Some(reason) = &found.unknown else {
        let text = "the bound lies inside the interval: the predicates are too coarse to tell";
        let reason = (text.to_owned(), ReasonCode::Other);
        return (VerdictWord::Unknown, ExitStatus::Unknown, Some(reason));
    };
    let status = match reason {
        UnknownReason::Stopped(reason) => ExitStatus::of_stop(*reason),
        _ => ExitStatus::Unknown,
    };
    let code = ReasonCode::from(reason);
    (VerdictWord::Unknown, status, Some((reason.to_string(), code)))
}

fn is_narrow(bounds: &Bounds, run: &Run<'_>) -> bool {
    Rational::from_f64(run.width()).is_some_and(|precision| bounds.width() <= precision)
}

fn numbers(found: &ProbReport, is_refined: bool) -> Value {
    let tests = tests_record(&found.queries);
    if !is_refined {
        return json!({ "expansions": found.expansions, "tests": tests });
    }
    json!({
        "iterations": found.iterations,
        "expansions": found.expansions,
        "refinements": refinements(&found.refinements),
        "counterexamples": counterexamples(&found.spurious),
        "tests": tests,
    })
}

fn refinements(counts: &BTreeMap<Origin, u64>) -> Value {
    Value::Object(
        counts
            .iter()
            .map(|(origin, count)| (origin_name(*origin).to_owned(), json!(count)))
            .collect(),
    )
}

fn counterexamples(spurious: &Spurious) -> Value {
    json!({
        "path": spurious.path,
        "path_under_policy": spurious.path_under_policy,
        "set": spurious.set,
        "set_under_policy": spurious.set_under_policy,
        "run": spurious.run,
        "real": spurious.real,
    })
}
