//! Bounds of probabilities by explicit search: the Markov decision process induced by the policy is
//! built state by state, and solved with bounds from both sides. Where a limit stops that, what is not
//! known counts as 0 for the lower bound and as 1 for the upper one.

mod filter;
mod induced;
mod path;
mod valued_states;

use policert_engine_api::{
    Aim, BoundedProbability, ClaimedValues, Conclusion, Configuration, Configured, Context,
    Counted, Engine, EngineAnswer, EngineError, Preset, ProbabilityAim, Question, UnknownReason,
};
use policert_mdp::Method;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{AnsweredQuestions, Registration, configured, unusual};
use crate::engine_option::EngineOption;
use filter::Filtered;
pub(crate) use filter::truth;
use induced::{Found, Solving};

pub(super) const REGISTRATION: Registration = Registration {
    name: "prob",
    help: "bounds of the greatest probability of reaching an unsafe state, state by state",
    questions: AnsweredQuestions { standard: true, drawn: true, ..AnsweredQuestions::PROBABILITY },
    passes_on: None,
    options: &[
        EngineOption::Exact,
        EngineOption::Precision,
        EngineOption::Bound,
        EngineOption::BuildAll,
        EngineOption::StateLimit,
    ],
    presets: Settings::presets,
    configure: |preset, settings| configured(preset, settings, Prob),
};

/// Says how probabilities are computed.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Settings {
    method: Method,
}

impl Configuration for Settings {
    fn presets() -> Vec<Preset> {
        vec![("native", include_str!("../../../../configs/prob/native.toml"))]
    }
}

/// Builds the process and solves it.
#[derive(Clone)]
pub(super) struct Prob(pub Configured<Settings>);

impl Engine for Prob {
    fn answer(
        &self,
        question: &Question<'_>,
        context: &mut Context<'_>,
    ) -> Result<Conclusion, EngineError> {
        let Aim::Probability(aim) = &question.aim else { return Err(question.refused_by("prob")) };
        let solving = Solving {
            aim,
            precision: aim.precision.unwrap_or(1e-6),
            method: self.0.config.method,
            evidence: question.evidence,
        };
        let found = induced::find(question, &solving, context)?;
        let filtered = Filtered::new(question, aim, &found)?;
        let unknown = unknown(question, &solving, &found, &filtered);
        let mut warnings = Vec::new();
        let count = found.counts.dropped_outcomes;
        if count > 0 {
            let example = found.dropped.first();
            let example =
                example.map_or(String::new(), |d| format!("; for example: {}", d.problem));
            warnings.push(format!(
                "{count} outcomes leave a domain and count as no transition: their probability \
                 reaches nothing{example}"
            ));
        }
        let is_number = unknown.is_none() && filtered.holds.is_none();
        if is_number && !filtered.bounds.is_narrow(solving.precision) {
            warnings.push(
                "the interval is wider than asked for: rounding errors do not allow more; --exact \
                 computes the value"
                    .to_owned(),
            );
        }
        let numbers = numbers(&found);
        let answer = BoundedProbability {
            bounds: filtered.bounds,
            holds: filtered.holds,
            vacuous: filtered.vacuous,
            unknown,
            // What a limit ended in the middle need not hold together.
            rounded: found.solving.exact_components > 0 || found.stopped.is_some(),
            values: found.values.map(ClaimedValues::from).map_err(str::to_owned),
        };
        Ok(Conclusion {
            preset: unusual(&self.0.name),
            // Entries of distributions are no pairs of states.
            counted: Counted { transitions: false, ..Counted::ALL },
            numbers,
            warnings,
            ..Conclusion::new("prob", EngineAnswer::Probability(answer), found.counts)
        })
    }
}

/// Returns why what was found is not what was asked for, if it is not.
fn unknown(
    question: &Question<'_>,
    solving: &Solving<'_>,
    found: &Found,
    filtered: &Filtered,
) -> Option<UnknownReason> {
    let ProbabilityAim { comparison, exact, .. } = solving.aim;
    let Filtered { bounds, holds, .. } = filtered;
    if holds.is_some() {
        return None;
    }
    if comparison.is_none() {
        // Whatever was not looked at, the interval is as narrow as asked for.
        let is_narrow = bounds.is_narrow(solving.precision) && (!exact || bounds.lo == bounds.hi);
        let is_whole = found.stopped.is_none() && found.undecided.is_none();
        if is_narrow || is_whole {
            return None;
        }
    }
    Some(match (found.stopped, &found.undecided) {
        (Some(reason), _) => UnknownReason::Stopped(reason),
        (None, Some(state)) => question.undecided_choice(state),
        (None, None) => {
            UnknownReason::BoundInside { hint: "--exact or a smaller --precision may decide" }
        }
    })
}

fn numbers(found: &Found) -> Value {
    let (building, solving) = (&found.building, &found.solving);
    json!({
        "stopped": found.stopped.map(|reason| reason.to_string()),
        "choices": found.choices,
        "distribution_entries": found.counts.transitions,
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
