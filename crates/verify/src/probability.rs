//! Questions whose answer is a probability: from the loaded task to a report.
//!
//! The Markov decision process that the policy leaves is built state by state, and solved with
//! bounds from both sides. Where a limit stops that, what is not known counts as 0 for the lower
//! bound and as 1 for the upper one.

mod abstraction;
mod answer;
mod induced;
mod path;
mod record;
mod valued_states;

use std::time::Instant;

use policert_engine_api::{Budget, CancelFlag, Event, Limits, Observer};
use policert_evidence::Evidence;
use policert_mdp::Method;
use policert_numeric::Rational;
use policert_outcome::{ExitStatus, Failure, Outcome};
use policert_ppa::{CegarConfig, Config, CounterexampleAnalysis, MaxProbMethod, ProbConfig};
use policert_problem::{ProbabilityQuestion, Problem};

use crate::engines::EngineChoice;
use crate::report::Report;
use answer::Answer;

/// How probabilities are computed.
#[derive(Clone, PartialEq, Debug)]
pub struct ProbabilityOptions {
    /// Width of the interval. \[default: that of the engine, see [`ProbabilityOptions::width`]\]
    pub precision: Option<f64>,
    /// Whether to compute the exact value. \[default: no\]
    pub exact: bool,
    /// How upper bounds are found. \[default: interval iteration\]
    pub method: Method,
    /// Safe means: the greatest probability of reaching an unsafe state is at most this.
    /// \[default: the probability itself is asked for\]
    pub bound: Option<Rational>,
    /// Which part of an abstraction is built. \[default: on the fly\]
    pub max_prob: MaxProbMethod,
    /// What prob-cegar learns from. \[default: concrete runs\]
    pub counterexamples: CounterexampleAnalysis,
}

impl Default for ProbabilityOptions {
    fn default() -> Self {
        let method = Method::default();
        Self {
            precision: None,
            exact: false,
            method,
            bound: None,
            max_prob: MaxProbMethod::default(),
            counterexamples: CounterexampleAnalysis::default(),
        }
    }
}

impl ProbabilityOptions {
    /// The width of the interval that an engine ends with: what was asked for, else 0.05 where
    /// predicates are found, and 1e-6 elsewhere.
    #[must_use]
    pub fn width(&self, engine: EngineChoice) -> f64 {
        self.precision.unwrap_or(match engine {
            EngineChoice::ProbCegar => ProbConfig::default().precision,
            EngineChoice::Auto
            | EngineChoice::Explicit
            | EngineChoice::Ppa
            | EngineChoice::Cegar
            | EngineChoice::Bmc
            | EngineChoice::Ic3
            | EngineChoice::Prob
            | EngineChoice::ProbPpa => 1e-6,
        })
    }
}

/// What a run may use, and how it goes.
pub(crate) struct Run<'a> {
    /// What answers.
    pub engine: EngineChoice,
    /// Configuration of the tests of prob-ppa and prob-cegar.
    pub ppa: &'a Config,
    /// Options of the refinement of prob-cegar.
    pub cegar: CegarConfig,
    /// How probabilities are computed.
    pub options: &'a ProbabilityOptions,
    /// Limits of the whole run.
    pub limits: &'a Limits,
    /// When it began.
    pub begin: Instant,
    /// The flag that stops it.
    pub cancel: &'a CancelFlag,
    /// Whether evidence is wanted.
    pub evidence: bool,
}

impl Run<'_> {
    /// The width of the interval that the run ends with.
    pub(crate) fn width(&self) -> f64 {
        self.options.width(self.engine)
    }

    /// What is left of the limits.
    pub(crate) fn left(&self) -> Limits {
        let time = self.limits.time.map(|limit| limit.saturating_sub(self.begin.elapsed()));
        Limits { time, ..self.limits.clone() }
    }
}

/// Whether a task asks for a probability.
///
/// # Errors
/// An engine that cannot answer the question.
pub(crate) fn is_asked(
    problem: &Problem,
    engine: EngineChoice,
    options: &ProbabilityOptions,
) -> Result<bool, Failure> {
    match (problem.standard.is_some(), engine) {
        (true, EngineChoice::Auto | EngineChoice::Prob) => Ok(true),
        (true, _) => Err(Failure::Usage(format!(
            "property `{}` asks for a probability: leave --engine out, or choose prob",
            problem.property.name
        ))),
        (false, EngineChoice::Prob | EngineChoice::ProbPpa | EngineChoice::ProbCegar) => Ok(true),
        (false, EngineChoice::Auto) => Ok(options.bound.is_some()),
        (false, _) if options.bound.is_some() => Err(Failure::Usage(
            "--bound goes with --engine prob, prob-ppa or prob-cegar".to_owned(),
        )),
        (false, _) => Ok(false),
    }
}

/// Answers a question about a probability.
///
/// # Errors
/// A property that is not supported, or a modelling error.
pub(crate) fn answer(
    problem: &Problem,
    run: &Run<'_>,
    observer: &mut dyn Observer,
    outcome: &mut Outcome<Report>,
) -> Result<ExitStatus, Failure> {
    if matches!(run.engine, EngineChoice::ProbPpa | EngineChoice::ProbCegar) {
        if problem.is_markov_chain {
            let what = "abstraction of models of the type dtmc: choose --engine prob";
            return Err(Failure::unsupported(format!("unsupported: {what}")));
        }
        let status = abstraction::answer(problem, run, observer, outcome)?;
        let why = "abstractions have no evidence of probabilities; engine prob has some";
        why.clone_into(&mut outcome.report.no_evidence);
        return Ok(status);
    }
    let asked = ProbabilityQuestion::new(problem, run.options.bound.as_ref())?;
    let found = induced::find(problem, &asked, run, observer)?;
    let answer = Answer::new(&asked, &found)?;
    let status = record::report(problem, &asked, &found, &answer, run, outcome);
    let report = &mut outcome.report;
    report.no_evidence.clear();
    if run.evidence {
        match &found.values {
            Ok(values) => {
                let mut budget = Budget::new(run.left(), run.cancel.clone());
                observer.event(Event::Phase("evidence"));
                match Evidence::of_bounds(problem, &asked, values, &mut budget)? {
                    Ok(evidence) => report.evidence = Some(evidence),
                    // Bounds of exact solutions are rounded state by state.
                    Err(why) if why.is_stop() || found.solving.exact_components > 0 => {
                        report.no_evidence = why.to_string();
                    }
                    Err(why) => return Err(Failure::Internal(format!("not confirmed: {why}"))),
                }
            }
            Err(why) => (*why).clone_into(&mut report.no_evidence),
        }
    }
    Ok(status)
}
