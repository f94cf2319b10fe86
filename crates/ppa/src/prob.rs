//! Probabilistic policy predicate abstraction: bounds of the greatest probability of reaching an
//! unsafe state under the policy (the appendix on probabilistic safety verification of neural
//! policies via predicate abstraction).
//!
//! | looking for | file |
//! |---|---|
//! | abstract state expansion (Algorithm 3) | `expansion.rs`, `distribution.rs` |
//! | the abstract MDP, MaxProb, the adversary | `abstract_mdp.rs`, `max_prob.rs` |
//! | refinement for a bound, and with the search for one (Algorithm 2) | `bound_search.rs` |
//! | counterexample analysis (CeAna) | `counterexample.rs`, `unsafe_paths.rs`, `maximal_realisation.rs` |
//! | proved lower bounds: concrete runs | `concrete_runs.rs`, `divergence.rs` |
//! | what the bounds rest on, for evidence | `valued_pieces.rs` |

mod abstract_mdp;
mod bound_search;
mod concrete_runs;
mod counterexample;
mod distribution;
mod divergence;
mod expansion;
mod max_prob;
mod maximal_realisation;
mod unsafe_paths;
mod valued_pieces;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use policert_engine_api::{Budget, Counts, EngineError, Event, Observer, Question, UnknownReason};
use policert_mdp::{ProbabilityBounds, SolveOptions};
use policert_model::{Condition, DomainRule, Probability};
use policert_numeric::Rational;
use policert_policy::Policy;
use serde::{Deserialize, Serialize};

use crate::abstraction::Abstraction;
use crate::cegar::{CegarConfig, Origin};
use crate::config::PpaConfig;
use crate::engine::added_atoms;
use crate::predicates::require_total;
use crate::queries::QueryStats;

pub use max_prob::MaxProbMethod;
pub use valued_pieces::Shown;

use abstract_mdp::{AbstractMdp, Expanding};
use bound_search::BoundSearch;
use max_prob::max_prob;

/// Options of the probabilistic engines.
#[derive(Clone, PartialEq, Debug)]
pub struct ProbConfig {
    /// The way in which the greatest abstract probability is found.
    pub method: MaxProbMethod,
    /// Width of the interval: of the abstract probability for given predicates, of the whole
    /// answer (p_Δ) where predicates are found.
    pub precision: f64,
    /// The bound: safe means that the greatest probability is at most this. `None` asks for the
    /// probability.
    pub bound: Option<Rational>,
    /// The most steps, of all paths together, that an analysis of a counterexample looks at.
    pub path_step_limit: usize,
    /// The most concrete states that runs from a start state may meet; more where these show too
    /// little.
    pub run_limit: usize,
    /// The counterexample analysis that comes first.
    pub analysis: CounterexampleAnalysis,
    /// Options of the refinement.
    pub cegar: CegarConfig,
}

/// Says what a refinement is learnt from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CounterexampleAnalysis {
    /// Sets of abstract unsafe paths, the probable ones first (CeAna); concrete runs where these
    /// are too many.
    Paths,
    /// Concrete runs under the abstract adversary.
    #[default]
    Runs,
}

impl Default for ProbConfig {
    fn default() -> Self {
        Self {
            method: MaxProbMethod::default(),
            precision: 0.05,
            bound: None,
            path_step_limit: 2000,
            run_limit: 1000,
            analysis: CounterexampleAnalysis::default(),
            cegar: CegarConfig::default(),
        }
    }
}

/// Holds what a probabilistic engine found.
#[derive(Debug)]
pub struct ProbReport {
    /// Bounds of the greatest probability of reaching an unsafe state, proved whatever ended the
    /// run.
    pub bounds: ProbabilityBounds,
    /// True if there is no start state.
    pub vacuous: bool,
    /// The reason why it ended before it had what was asked for.
    pub unknown: Option<UnknownReason>,
    /// Counts of the last abstraction.
    pub counts: Counts,
    /// Tests by kind.
    pub queries: QueryStats,
    /// Abstractions that were built.
    pub iterations: u64,
    /// Abstract states that were expanded, in all iterations; what was kept is not counted.
    pub expansions: u64,
    /// Refinements by what they came from.
    pub refinements: BTreeMap<Origin, u64>,
    /// The spurious counterexamples, counted by kind.
    pub spurious: Spurious,
    /// Remarks for the user.
    pub notes: Vec<String>,
    /// What the bounds rest on, or why there is nothing.
    pub shown: Result<Shown, String>,
}

/// Says why counterexamples were spurious, and how often they were real.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Spurious {
    /// (i-a) A path has no run in the environment.
    pub path: u64,
    /// (i-b) A path has no run under the policy.
    pub path_under_policy: u64,
    /// (ii-a) Paths have runs in the environment, but not from one start state.
    pub set: u64,
    /// (ii-b) Paths have runs under the policy, but not from one start state.
    pub set_under_policy: u64,
    /// A concrete run leaves the abstract paths.
    pub run: u64,
    /// Counterexamples that are real.
    pub real: u64,
}

/// A stop or an open query as a reason; other errors stay errors.
fn reason_of(error: EngineError) -> Result<UnknownReason, EngineError> {
    match error {
        EngineError::Stop(reason) => Ok(UnknownReason::Stopped(reason)),
        EngineError::Undecided(text) => Ok(UnknownReason::SolverGaveUp(text)),
        error => Err(error),
    }
}

/// Bounds the greatest probability with the predicates of the property (prob-PPA).
///
/// # Errors
/// Fails if the engine does not support something in the question, and on modelling errors. A stop
/// is not an error: the bounds stand.
pub fn prob_ppa(
    question: &Question<'_>,
    policy: Option<&Policy>,
    config: &PpaConfig,
    prob: &ProbConfig,
    budget: &mut Budget,
    observer: &mut dyn Observer,
) -> Result<ProbReport, EngineError> {
    refuse(question, "prob-ppa")?;
    let mut property = question.property.clone();
    let listed = std::mem::take(&mut property.predicates);
    let question = &Question { property: &property, ..question.clone() };
    let abstraction = Abstraction::new(question, policy)?;
    refuse_probabilities(&abstraction)?;
    let mut queries = abstraction.queries(config)?;
    let mut mdp = AbstractMdp::new(&abstraction);
    let mut predicates = 0;
    for predicate in &listed {
        require_total(&predicate.condition, abstraction.predicates.domains(), &predicate.text)?;
        let (predicate, new) = mdp.tree.predicate(&predicate.condition);
        predicates += u64::from(new);
        mdp.tree.split_everywhere(predicate);
    }
    let unsafe_atoms = abstraction.predicates.candidates(&question.property.unsafe_condition);
    let mut added = 0;
    for atom in &unsafe_atoms {
        let (predicate, new) = mdp.tree.predicate(atom);
        added += usize::from(new);
        mdp.tree.split_everywhere(predicate);
    }
    predicates += added as u64;
    observer.event(Event::Phase("abstract probability"));
    let mut expanding = Expanding {
        mdp: &mut mdp,
        abstraction: &abstraction,
        queries: &mut queries,
        observer,
        expanded: 0,
        transitions: 0,
    };
    let found = max_prob(&mut expanding, prob.method, &solve_options(prob.precision), budget);
    let (expanded, transitions) = (expanding.expanded, expanding.transitions);
    let (mut bounds, mut unknown) = match found {
        Ok(found) => (found.bounds, found.stopped.map(UnknownReason::Stopped)),
        Err(error) => (ProbabilityBounds::unknown(), Some(reason_of(error)?)),
    };
    bounds.lo = Rational::ZERO;
    let mut shown = Err("the search did not end".to_owned());
    if unknown.is_none() {
        observer.event(Event::Phase("concrete runs"));
        let mut search = BoundSearch::new(&abstraction, mdp, prob.clone());
        match search.lower_bound(&mut queries, budget) {
            Ok(lower) => bounds.lo = lower.min(bounds.hi.clone()),
            Err(EngineError::Stop(_)) => {}
            Err(error) => unknown = Some(reason_of(error)?),
        }
        shown = search.shown(&mut queries, budget, observer)?;
        mdp = search.into_mdp();
    }
    let mut counts = counts_of(&mdp, expanded, transitions);
    counts.predicates = Some(predicates);
    Ok(ProbReport {
        vacuous: mdp.start().is_some_and(<[u32]>::is_empty),
        bounds,
        unknown,
        counts,
        queries: *queries.stats(),
        iterations: 1,
        expansions: mdp.expansions,
        refinements: BTreeMap::new(),
        spurious: Spurious::default(),
        notes: added_atoms(added).into_iter().chain(notes(&mdp)).collect(),
        shown,
    })
}

/// Bounds the greatest probability, or compares it with a bound, with predicates that it finds
/// (prob-CEGAR).
///
/// # Errors
/// Fails if the engine does not support something in the question, and on modelling errors. A stop
/// is not an error: the bounds stand.
pub fn prob_cegar(
    question: &Question<'_>,
    policy: Option<&Policy>,
    config: &PpaConfig,
    prob: &ProbConfig,
    budget: &mut Budget,
    observer: &mut dyn Observer,
) -> Result<ProbReport, EngineError> {
    refuse(question, "prob-cegar")?;
    if policy.is_some() && !config.t_sat_pi.is_on() {
        return Err(EngineError::Unsupported(format!(
            "engine prob-cegar needs the exact transition test, which preset {} leaves out: an \
             abstract step that only the relaxed test allows could not be refined away",
            config.name
        )));
    }
    let mut property = question.property.clone();
    let listed = std::mem::take(&mut property.predicates);
    let question = &Question { property: &property, ..question.clone() };
    let abstraction = Abstraction::new(question, policy)?;
    refuse_probabilities(&abstraction)?;
    let mut queries = abstraction.queries(config)?;
    queries.limit_boxes(prob.cegar.box_limit);
    let mut first: Vec<Condition> = Vec::new();
    for predicate in listed {
        require_total(&predicate.condition, abstraction.predicates.domains(), &predicate.text)?;
        first.push(predicate.condition);
    }
    let mut search = BoundSearch::new(&abstraction, AbstractMdp::new(&abstraction), prob.clone());
    search.begin_with(first);
    let unknown = match search.run(&mut queries, budget, observer) {
        Ok(unknown) => unknown,
        Err(error) => Some(reason_of(error)?),
    };
    let shown = search.shown(&mut queries, budget, observer)?;
    Ok(search.report(unknown, shown, &queries))
}

fn refuse(question: &Question<'_>, engine: &str) -> Result<(), EngineError> {
    if question.domain_rule == DomainRule::Error {
        return Err(EngineError::Unsupported(format!(
            "engine {engine} takes `--domain drop` only: whether an update that leaves its domain \
             is reachable is for engine explicit to say"
        )));
    }
    Ok(())
}

/// Refuses operators whose probabilities depend on the state.
fn refuse_probabilities(abstraction: &Abstraction<'_>) -> Result<(), EngineError> {
    for operator in abstraction.operators.all() {
        if operator.destinations.iter().any(|d| matches!(d.probability, Probability::Expr(_))) {
            return Err(EngineError::Unsupported(format!(
                "{} has a probability that depends on the state; engine prob takes it",
                abstraction.question.model.display_operator(&operator.key)
            )));
        }
    }
    Ok(())
}

fn counts_of(mdp: &AbstractMdp, expanded: u64, transitions: u64) -> Counts {
    Counts {
        reachable_states: mdp.states() as u64,
        expanded_states: expanded,
        transitions,
        start_states: mdp.start().map_or(0, |start| start.len() as u64),
        unsafe_states: (0..u32::try_from(mdp.states()).unwrap_or(u32::MAX))
            .filter(|&state| mdp.is_unsafe(state))
            .count() as u64,
        dropped_outcomes: mdp.may_drop.len() as u64,
        ..Counts::default()
    }
}

fn notes(mdp: &AbstractMdp) -> Vec<String> {
    match mdp.may_drop.len() {
        0 => Vec::new(),
        count => vec![format!(
            "{count} abstract outcomes may leave a variable's domain; such an outcome is no \
             transition, its probability is lost"
        )],
    }
}

/// Returns what the abstract MDP is solved with.
fn solve_options(precision: f64) -> SolveOptions {
    SolveOptions { precision, ..SolveOptions::default() }
}
