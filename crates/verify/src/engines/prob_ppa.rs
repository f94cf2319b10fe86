//! Bounds of a probability by policy predicate abstraction: `prob-ppa` and `prob-cegar`.

use std::collections::BTreeMap;

use policert_engine_api::{
    Aim, BoundedProbability, Conclusion, Configuration, ConfigurationError, Configured, Context,
    Counted, Direction, Engine, EngineAnswer, EngineError, Preset, ProbabilityAim, Question,
    Setting, UnknownReason, configuration::zero_is_none,
};
use policert_model::{Condition, FilterFunction, QuantityComparison, Relation};
use policert_numeric::Rational;
use policert_ppa::{
    BrokenRequirements, CegarConfig, CounterexampleAnalysis, MaxProbMethod, Origin, PpaConfig,
    ProbConfig, ProbReport, Scope, SplitConfig, Spurious, prob_cegar, prob_ppa,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{AnsweredQuestions, Registration, cegar, configured, ppa};
use crate::engine_option::EngineOption;

const OPTIONS: &[EngineOption] = &[
    EngineOption::Predicates,
    EngineOption::Last,
    EngineOption::Precision,
    EngineOption::Bound,
    EngineOption::StateLimit,
];

pub(super) const GIVEN: Registration = Registration {
    name: "prob-ppa",
    help: "bounds of the greatest probability of reaching an unsafe state, as ppa",
    questions: AnsweredQuestions::PROBABILITY,
    passes_on: None,
    options: OPTIONS,
    presets: Given::presets,
    configure: |preset, settings| {
        configured(preset, settings, |chosen: Configured<Given>| Abstraction {
            name: "prob-ppa",
            preset: chosen.name,
            tests: chosen.config.tests,
            config: ProbConfig {
                method: chosen.config.max_prob,
                precision: 1e-6,
                ..ProbConfig::default()
            },
        })
    },
};

pub(super) const REFINED: Registration = Registration {
    name: "prob-cegar",
    help: "the same as cegar",
    questions: AnsweredQuestions::PROBABILITY,
    passes_on: None,
    options: OPTIONS,
    presets: Refined::presets,
    configure: |preset, settings| {
        configured(preset, settings, |chosen: Configured<Refined>| {
            let Refined { max_prob, counterexamples, scope, box_limit, broken, split, tests } =
                chosen.config;
            Abstraction {
                name: "prob-cegar",
                preset: chosen.name,
                tests,
                config: ProbConfig {
                    method: max_prob,
                    analysis: counterexamples,
                    cegar: CegarConfig {
                        scope,
                        box_limit,
                        broken,
                        split,
                        ..CegarConfig::default()
                    },
                    ..ProbConfig::default()
                },
            }
        })
    },
};

/// Settings of `prob-ppa`.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Given {
    max_prob: MaxProbMethod,
    #[serde(flatten)]
    tests: PpaConfig,
}

impl Configuration for Given {
    fn presets() -> Vec<Preset> {
        cegar::presets(include_str!("../../../../configs/prob-ppa/native.toml"))
    }

    fn check(&self, given: &[Setting]) -> Result<(), ConfigurationError> {
        self.tests.check(given)
    }
}

/// Settings of `prob-cegar`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Refined {
    max_prob: MaxProbMethod,
    counterexamples: CounterexampleAnalysis,
    scope: Scope,
    #[serde(with = "zero_is_none")]
    box_limit: Option<u64>,
    #[serde(rename = "broken-requirements")]
    broken: BrokenRequirements,
    #[serde(flatten)]
    split: SplitConfig,
    #[serde(flatten)]
    tests: PpaConfig,
}

impl Default for Refined {
    fn default() -> Self {
        let ProbConfig { method, analysis, cegar, .. } = ProbConfig::default();
        let CegarConfig { scope, box_limit, broken, split, .. } = cegar;
        let (max_prob, counterexamples) = (method, analysis);
        Self {
            max_prob,
            counterexamples,
            scope,
            box_limit,
            broken,
            split,
            tests: PpaConfig::default(),
        }
    }
}

impl Configuration for Refined {
    fn presets() -> Vec<Preset> {
        cegar::presets(include_str!("../../../../configs/prob-cegar/native.toml"))
    }

    fn check(&self, given: &[Setting]) -> Result<(), ConfigurationError> {
        cegar::check(&self.tests, given)
    }
}

/// Bounds the greatest probability in an abstraction.
struct Abstraction {
    name: &'static str,
    preset: String,
    tests: PpaConfig,
    /// The configuration, into which each question is filled in; the precision is the default one.
    config: ProbConfig,
}

impl Engine for Abstraction {
    fn answer(
        &self,
        question: &Question<'_>,
        context: &mut Context<'_>,
    ) -> Result<Conclusion, EngineError> {
        let Aim::Probability(aim) = &question.aim else {
            return Err(question.refused_by(self.name));
        };
        if aim.is_chain {
            let what = "abstraction of models of the type dtmc: choose --engine prob";
            return Err(EngineError::Unsupported(what.to_owned()));
        }
        let Some(bound) = greatest(aim) else { return Err(question.refused_by(self.name)) };
        let precision = aim.precision.unwrap_or(self.config.precision);
        let config = ProbConfig { precision, bound: bound.cloned(), ..self.config.clone() };
        let is_refined = self.name == "prob-cegar";
        let ask = if is_refined { prob_cegar } else { prob_ppa };
        let (budget, observer, _) = context.parts();
        let found = ask(question, question.policy, &self.tests, &config, budget, observer)?;
        let is_narrow = found.bounds.is_narrow(precision);
        let answer = answer(&found, bound, is_narrow);
        let mut notes = found.notes.clone();
        if bound.is_none() && answer.unknown.is_none() && !is_narrow {
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
        let mut numbers = numbers(&found, is_refined);
        numbers["distribution_entries"] = found.counts.transitions.into();
        Ok(Conclusion {
            preset: Some(self.preset.clone()),
            // Entries of distributions are no pairs of states.
            counted: Counted { transitions: false, ..Counted::ALL },
            numbers,
            notes,
            ..Conclusion::new(self.name, EngineAnswer::Probability(answer), found.counts)
        })
    }
}

/// The bound of a question about the greatest probability of reaching an unsafe state, if there is
/// one; `None` for other questions.
fn greatest(aim: &ProbabilityAim) -> Option<Option<&Rational>> {
    let is_plain = aim.direction == Direction::Max
        && !aim.complement
        && !aim.exact
        && aim.stay == Condition::True;
    match (&aim.comparison, aim.function) {
        _ if !is_plain => None,
        (None, FilterFunction::Max) => Some(None),
        (
            Some(QuantityComparison { relation: Relation::AtMost, bound }),
            FilterFunction::Forall,
        ) => Some(Some(bound)),
        (None | Some(_), _) => None,
    }
}

fn answer(found: &ProbReport, bound: Option<&Rational>, is_narrow: bool) -> BoundedProbability {
    let bounds = &found.bounds;
    let (holds, unknown) = match bound {
        Some(bound) if bounds.hi <= *bound => (Some(true), None),
        Some(bound) if bounds.lo > *bound => (Some(false), None),
        None if found.unknown.is_none() || is_narrow => (None, None),
        Some(_) | None => {
            let hint = "the predicates are too coarse to tell";
            (None, Some(found.unknown.clone().unwrap_or(UnknownReason::BoundInside { hint })))
        }
    };
    let (values, rounded) = match &found.shown {
        Ok(shown) => (Ok(shown.values.clone()), shown.rounded),
        Err(why) => (Err(why.clone()), false),
    };
    BoundedProbability {
        bounds: bounds.clone(),
        holds,
        vacuous: found.vacuous,
        unknown,
        values,
        rounded,
    }
}

fn numbers(found: &ProbReport, is_refined: bool) -> Value {
    let tests = ppa::tests(&found.queries);
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
            .map(|(origin, count)| (cegar::name(*origin).to_owned(), json!(count)))
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
