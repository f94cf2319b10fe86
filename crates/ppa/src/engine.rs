//! The engine: from a question, a policy and predicates to a verdict.

use policert_bounds::Recorder;
pub use policert_engine_api::StartRegion;
use policert_engine_api::{
    Budget, Counts, EngineError, Event, Id, Invariant, Observer, Question, StopReason, Trace,
    UnknownReason, Verdict,
};
use policert_model::{Condition, DomainRule, Region};
use policert_policy::Policy;

use crate::AbstractStateId;
use crate::abstraction::Abstraction;
use crate::concretise::{Concretisation, Concretised};
use crate::config::PpaConfig;
use crate::queries::QueryStats;
use crate::search::{AbstractFragment, StateInfo};

/// The most abstract unsafe states whose paths are tried for a concrete run.
const PATHS_TRIED: usize = 64;

/// Holds what the engine found.
#[derive(Debug)]
pub struct PpaReport {
    pub verdict: Verdict,
    /// Counts, partial after a stop.
    pub counts: Counts,
    /// Tests by kind.
    pub queries: QueryStats,
    /// The abstract start states; `None` where the fragment is not complete.
    pub start_states: Option<Vec<StartRegion>>,
    /// Of a safe verdict, if evidence is wanted, the concretisations of the abstract states: an
    /// inductive invariant.
    pub invariant: Option<Invariant>,
    /// Remarks for the user.
    pub notes: Vec<String>,
}

/// Builds the reachable fragment of the policy predicate abstraction and says what follows.
///
/// Without abstract unsafe states the policy is safe (Proposition 6). Otherwise the abstract
/// paths are tried for concrete runs; if none is found the verdict is unknown.
///
/// # Errors
/// Fails if the engine does not support something in the question, and on modelling errors. A stop
/// is a verdict *unknown*.
pub fn run(
    question: &Question<'_>,
    policy: Option<&Policy>,
    config: &PpaConfig,
    budget: &mut Budget,
    observer: &mut dyn Observer,
) -> Result<PpaReport, EngineError> {
    run_recorded(question, policy, config, budget, observer, None)
}

/// As [`run`]; `recorder` is told of the tests about the policy.
///
/// # Errors
/// As [`run`].
pub fn run_recorded(
    question: &Question<'_>,
    policy: Option<&Policy>,
    config: &PpaConfig,
    budget: &mut Budget,
    observer: &mut dyn Observer,
    recorder: Option<&mut dyn Recorder>,
) -> Result<PpaReport, EngineError> {
    if question.domain_rule == DomainRule::Error {
        return Err(EngineError::Unsupported(
            "engine ppa takes `--domain drop` only: whether an update that leaves its domain is \
             reachable is for engine explicit to say"
                .to_owned(),
        ));
    }
    let mut abstraction = Abstraction::new(question, policy)?;
    let added = abstraction.add_unsafe_atoms()?;
    let mut queries = abstraction.queries_for(config, recorder.map(|r| r as &mut dyn Recorder))?;
    let mut fragment = AbstractFragment::default();
    let mut built = abstraction.build(&mut queries, &mut fragment, budget, observer);
    let mut notes = Vec::from_iter(added_atoms(added));
    let mut verdict = None;
    let complete = built.is_ok();
    if built.is_ok() {
        match verdict_of(&abstraction, &fragment, budget, observer) {
            Ok(v) => verdict = Some(v),
            Err(error) => built = Err(error),
        }
    }
    let verdict = match (verdict, built) {
        (Some(verdict), _) => verdict,
        (None, Err(EngineError::Stop(reason))) => stopped(reason),
        (None, Err(EngineError::Undecided(text))) => {
            Verdict::Unknown(UnknownReason::SolverGaveUp(text))
        }
        (None, Err(error)) => return Err(error),
        (None, Ok(())) => return Err(EngineError::Internal("no verdict".to_owned())),
    };
    if policy.is_some() && !config.t_sat_pi.is_on() {
        notes.push(
            "relaxed tests alone decide transitions: the abstraction may have more of them than \
             the policy has"
                .to_owned(),
        );
    }
    if fragment.counts.dropped_outcomes > 0 {
        notes.push(format!(
            "{} abstract outcomes may leave a variable's domain; such an outcome is no transition",
            fragment.counts.dropped_outcomes
        ));
    }
    let stopped_early = question.stop_at_first_unsafe && fragment.first_unsafe.is_some();
    let start_states = (complete && !stopped_early).then(|| start_regions(&abstraction, &fragment));
    let queries = *queries.stats();
    let is_wanted = question.evidence && matches!(verdict, Verdict::Safe { .. });
    let invariant = is_wanted.then(|| {
        let ids = fragment.info.iter().map(|(id, _)| id);
        Invariant::new(ids.map(|id| owned_region(&abstraction, &fragment, id)).collect())
    });
    Ok(PpaReport { verdict, counts: fragment.counts, queries, start_states, invariant, notes })
}

/// Returns what a user should know of predicates that no one listed.
pub(crate) fn added_atoms(count: usize) -> Option<String> {
    (count > 0).then(|| {
        format!("the predicates do not tell all unsafe states: atoms of the unsafe condition added: {count}")
    })
}

fn stopped(reason: StopReason) -> Verdict {
    Verdict::Unknown(UnknownReason::Stopped(reason))
}

/// The verdict that a complete fragment gives.
fn verdict_of(
    abstraction: &Abstraction<'_>,
    fragment: &AbstractFragment,
    budget: &mut Budget,
    observer: &mut dyn Observer,
) -> Result<Verdict, EngineError> {
    let Some(first) = fragment.first_unsafe else {
        return Ok(Verdict::Safe { vacuous: fragment.counts.start_states == 0 });
    };
    observer.event(Event::Phase("concretise abstract paths"));
    match concrete_run(abstraction, fragment, budget)? {
        Some(trace) => Ok(Verdict::Unsafe(trace)),
        None => {
            let steps = fragment.info[first].depth as usize;
            Ok(Verdict::Unknown(UnknownReason::AbstractPath { steps }))
        }
    }
}

/// A run along one of the abstract unsafe paths, the shortest first.
fn concrete_run(
    abstraction: &Abstraction<'_>,
    fragment: &AbstractFragment,
    budget: &mut Budget,
) -> Result<Option<Trace>, EngineError> {
    let mut concretisation = Concretisation::new(abstraction);
    // A path of no steps needs no search, however many start states there are.
    let at_start = |(_, info): &(AbstractStateId, &StateInfo)| info.is_start && info.is_unsafe;
    if fragment.info.iter().any(|entry| at_start(&entry))
        && let Some(start) = abstraction.question.unsafe_start_state(budget)?
    {
        return Ok(Some(Trace { start, steps: Vec::new() }));
    }
    let paths = fragment.info.iter().filter(|(_, info)| info.is_unsafe).map(|(id, _)| id);
    let paths: Vec<AbstractStateId> = paths.take(PATHS_TRIED).collect();
    let start = concretisation.start_layers(fragment, &paths, budget)?;
    for last in paths {
        debug_assert!(last.to_index() < fragment.info.len());
        if let Concretised::Run(trace) = concretisation.follow(fragment, last, &start, budget)? {
            return Ok(Some(trace));
        }
    }
    Ok(None)
}

/// The abstract start states of a complete fragment, in the order of their ids.
fn start_regions(abstraction: &Abstraction<'_>, fragment: &AbstractFragment) -> Vec<StartRegion> {
    let start_region = |(id, proved_safe)| {
        let Region { sides, conditions } = owned_region(abstraction, fragment, id);
        StartRegion { sides, conditions, proved_safe }
    };
    fragment.safe_start_states().into_iter().map(start_region).collect()
}

/// The states that an abstract state stands for.
fn owned_region(
    abstraction: &Abstraction<'_>,
    fragment: &AbstractFragment,
    id: AbstractStateId,
) -> Region<Condition> {
    let region = abstraction.predicates.concretisation(&fragment.states.state(id));
    Region { sides: region.sides, conditions: region.conditions.into_iter().cloned().collect() }
}
