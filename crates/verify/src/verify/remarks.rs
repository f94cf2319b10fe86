//! What is said about a verdict besides: why it is hollow, why there is no evidence, and where to ask how
//! likely a run is.

use std::time::Duration;

use policert_engine_api::{
    Aim, CancelFlag, Conclusion, EngineAnswer, ProbabilityAim, ProbabilityBounds, Question,
    StuckRule,
};
use policert_evidence::{Evidence, Proof};
use policert_numeric::Rational;
use policert_outcome::{Failure, Outcome};
use policert_problem::{Problem, QuestionAim, StuckStates};

use crate::engines::truth;
use crate::hollow::{self, Hollow};
use crate::report::Report;

/// Says why a verdict that nothing bad is reached is hollow, if it is.
pub(super) fn say_hollow(
    problem: &Problem,
    is_vacuous: bool,
    left: Option<Duration>,
    cancel: &CancelFlag,
    outcome: &mut Outcome<Report>,
) {
    let Outcome { report, remarks, .. } = outcome;
    // What these engines count is exact, and complete where nothing bad is reached.
    let counts = ["explicit", "prob"].contains(&report.engine.as_deref().unwrap_or_default());
    let transitions = report.statistics.as_ref().and_then(|statistics| {
        let entries = || statistics.engine.get("prob")?["distribution_entries"].as_u64();
        statistics.transitions.or_else(entries)
    });
    let is_plain = problem.semantics.aim == QuestionAim::AvoidUnsafe;
    let is_still = counts && is_plain && transitions == Some(0);
    report.hollow = hollow::reasons(problem, is_vacuous, is_still, left, cancel);
    let warnings = report.hollow.iter().map(Hollow::warning);
    remarks.warnings.splice(0..0, warnings.collect::<Vec<_>>());
}

/// Returns why an answer has no evidence, if it has none.
pub(super) fn no_evidence(found: &Conclusion) -> String {
    match &found.answer {
        EngineAnswer::Safe { invariant, .. } => {
            invariant.as_ref().err().cloned().unwrap_or_default()
        }
        EngineAnswer::Unsafe(_) => String::new(),
        EngineAnswer::Probability(found) => {
            found.values.as_ref().err().cloned().unwrap_or_default()
        }
        EngineAnswer::Unknown(_) => "there is no verdict".to_owned(),
    }
}

/// Says that the bounds of some evidence do not decide a comparison that was decided more precisely.
pub(super) fn undecided_by(
    evidence: &Evidence,
    aim: &ProbabilityAim,
    holds: Option<bool>,
) -> Option<String> {
    let (comparison, holds) = (aim.comparison.as_ref()?, holds?);
    let Proof::Probability { probability: [low, high], .. } = &evidence.proof else { return None };
    let (lo, hi) = (low.parse::<Rational>().ok()?, high.parse::<Rational>().ok()?);
    let is_decided = truth(comparison, &ProbabilityBounds { lo, hi }) == Some(holds);
    (!is_decided).then(|| {
        format!(
            "the evidence is made of 64-bit numbers: it shows that the probability lies between {low} and \
             {high}, which does not decide the comparison"
        )
    })
}

/// Refuses a question about runs together with a probability. `is_chosen`: whether the engine would
/// answer questions about runs without it.
pub(super) fn refuse_probability(
    problem: &Problem,
    question: &Question<'_>,
    is_chosen: bool,
) -> Result<(), Failure> {
    let is_plain = question.aim == Aim::AvoidUnsafe && question.stuck == StuckRule::Allowed;
    match problem.standard {
        Some(_) if !is_plain => Err(Failure::Usage(format!(
            "--reach-goal and --stuck unsafe go with safety (PA) properties; `{}` is a standard \
             property",
            problem.property.name
        ))),
        None if is_chosen && !is_plain => Err(Failure::Usage(
            "--bound does not go with --reach-goal or --stuck unsafe".to_owned(),
        )),
        Some(_) | None => Ok(()),
    }
}

/// Returns where to ask how likely a run is, if chance has a part in the model.
pub(super) fn chance_note(problem: &Problem, evidence: &Evidence) -> Option<String> {
    let mut edges = problem.model.instances.iter().flat_map(|instance| &instance.edges);
    let has_chance = edges.any(|edge| edge.destinations.len() > 1);
    let is_plain = problem.semantics.aim == QuestionAim::AvoidUnsafe
        && problem.semantics.stuck == StuckStates::Allowed;
    let Proof::Trace { trace, .. } = &evidence.proof else { return None };
    if !has_chance || !is_plain {
        return None;
    }
    let probabilities = trace.iter().filter_map(|step| step.probability.as_deref());
    let product = probabilities.filter_map(|text| text.parse::<Rational>().ok());
    let product = product.fold(Rational::ONE, |product, p| &product * &p);
    let hint = "--engine prob bounds the probability of reaching an unsafe state";
    Some(if product == Rational::ONE {
        format!("the model has probabilities, though this run does not depend on chance; {hint}")
    } else {
        let decimal = product.to_f64();
        format!(
            "this run depends on chance, whose outcomes in it have the probability {decimal:.3e} \
             together; {hint}"
        )
    })
}
