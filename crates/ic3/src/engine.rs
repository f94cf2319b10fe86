//! The engine: from a question to a verdict.

use policert_engine_api::{
    Budget, Counts, EngineError, Event, Observer, Question, Trace, UnknownReason, Verdict,
};
use policert_model::{DomainRule, State};
use policert_numeric::IntBox;
use policert_policy::Policy;

use crate::algorithm::{Extent, SearchSettings, ic3, short_path};
use crate::config::Ic3Config;
use crate::outcome::Ic3Outcome;
use crate::policy_system::{PolicyStep, PolicySystem, SystemStatistics};
use crate::search_statistics::SearchStatistics;

/// Holds what the engine found.
#[derive(Clone, PartialEq, Debug)]
pub struct Ic3Report {
    /// The answer.
    pub verdict: Verdict,
    /// With *safe*: boxes whose union contains every start state and no unsafe state, and that no
    /// transition leaves which the policy allows.
    pub invariant: Option<Vec<IntBox>>,
    /// Counts: the start states selected, the states whose successors were computed.
    pub counts: Counts,
    /// Counters of the search.
    pub search: SearchStatistics,
    /// Questions that were asked.
    pub queries: SystemStatistics,
}

/// Searches for a path to an unsafe state, and for an invariant that excludes all.
///
/// A stop of the budget is a verdict *unknown*. Without policy every label is allowed. Reasons are
/// generalised by this many threads.
///
/// # Errors
/// Fails if the engine does not support something in the question, and on modelling errors in
/// reachable states.
pub fn run(
    question: &Question<'_>,
    policy: Option<&Policy>,
    config: &Ic3Config,
    threads: usize,
    budget: &mut Budget,
    observer: &mut dyn Observer,
) -> Result<Ic3Report, EngineError> {
    if question.domain_rule == DomainRule::Error {
        return Err(EngineError::Unsupported(
            "engine ic3 takes `--domain drop` only: whether an update that leaves its domain is \
             reachable is for engine explicit to say"
                .to_owned(),
        ));
    }
    let mut system = PolicySystem::new(question, policy, config, threads)?;
    let (mut search, mut queries) = (SearchStatistics::default(), SystemStatistics::default());
    let mut context = Progress { search: &mut search, queries: &mut queries, budget, observer };
    let found = answer(question, policy, config, &mut system, &mut context);
    let (verdict, invariant) = match found {
        Ok(found) => found,
        Err(EngineError::Stop(reason)) => (Verdict::Unknown(UnknownReason::Stopped(reason)), None),
        Err(EngineError::Undecided(text)) => {
            (Verdict::Unknown(UnknownReason::SolverGaveUp(text)), None)
        }
        Err(error) => return Err(error),
    };
    let counts = Counts {
        start_states: search.start_states,
        expanded_states: search.obligations,
        unsafe_states: u64::from(matches!(verdict, Verdict::Unsafe(_))),
        ..Counts::default()
    };
    let queries = queries.plus(system.statistics());
    Ok(Ic3Report { verdict, invariant, counts, search, queries })
}

/// What an answer takes, and what is told of it.
struct Progress<'a> {
    search: &'a mut SearchStatistics,
    /// Questions about short paths.
    queries: &'a mut SystemStatistics,
    budget: &'a mut Budget,
    observer: &'a mut dyn Observer,
}

fn answer(
    question: &Question<'_>,
    policy: Option<&Policy>,
    config: &Ic3Config,
    system: &mut PolicySystem<'_>,
    context: &mut Progress<'_>,
) -> Result<(Verdict, Option<Vec<IntBox>>), EngineError> {
    context.observer.event(Event::Phase("start states"));
    if let Some(start) = system.start().unsafe_state(question, context.budget)? {
        return Ok((Verdict::Unsafe(Trace { start, steps: Vec::new() }), None));
    }
    let vacuous = system.start().is_empty(context.budget)?;
    if config.short_paths > 0
        && let Some(verdict) = verdict_by_short_path(question, policy, config.short_paths, context)?
    {
        return Ok((verdict, None));
    }
    let Progress { search, budget, observer, .. } = context;
    observer.event(Event::Phase("search for a path"));
    let settings =
        SearchSettings { rescheduling: config.rescheduling, open_states: config.depth_first };
    Ok(match ic3(system, settings, search, budget, *observer)? {
        Ic3Outcome::Invariant(boxes) => (Verdict::Safe { vacuous }, Some(boxes)),
        Ic3Outcome::Path(start, steps) => match trace(start, steps) {
            Ok(trace) => (Verdict::Unsafe(trace), None),
            Err(state) => (Verdict::Unknown(question.undecided_choice(&state)), None),
        },
    })
}

/// The run along a path; a state in which it is undecided whether the policy goes that way, if there is one.
fn trace(start: State, steps: Vec<(PolicyStep, State)>) -> Result<Trace, State> {
    let step = |(PolicyStep { step, undecided }, _)| undecided.map_or(Ok(step), Err);
    Ok(Trace { start, steps: steps.into_iter().map(step).collect::<Result<_, _>>()? })
}

/// Most obligations that are looked at for a short path.
const OBLIGATIONS_FOR_SHORT_PATHS: u64 = 500;

/// Looks for a path of at most so many steps. Many policies that are unsafe are so after few steps, and the reasons of
/// large networks that hold whatever N are dear. What it learns is not kept.
fn verdict_by_short_path(
    question: &Question<'_>,
    policy: Option<&Policy>,
    steps: usize,
    context: &mut Progress<'_>,
) -> Result<Option<Verdict>, EngineError> {
    let config = Ic3Config::of_short_paths();
    let mut system = PolicySystem::new(question, policy, &config, 1)?;
    let extent = Extent { steps, obligations: OBLIGATIONS_FOR_SHORT_PATHS };
    let Progress { search, queries, budget, observer } = context;
    let found = short_path(&mut system, extent, search, budget, *observer);
    **queries = system.statistics();
    Ok(match found {
        Ok(Some(Ic3Outcome::Path(start, steps))) => trace(start, steps).ok().map(Verdict::Unsafe),
        // Invariants are left to the search that makes them small.
        Ok(Some(Ic3Outcome::Invariant(_)) | None) | Err(EngineError::Undecided(_)) => None,
        Err(error) => return Err(error),
    })
}
