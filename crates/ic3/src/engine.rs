//! The engine: from a question to a verdict.

use policert_engine_api::{
    Budget, Counts, EngineError, Event, Observer, Question, Trace, UnknownReason, Verdict,
};
use policert_model::DomainRule;
use policert_numeric::IntBox;
use policert_policy::Policy;

use crate::algorithm::{SearchSettings, ic3};
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
    let mut search = SearchStatistics::default();
    let found = answer(question, config, &mut system, &mut search, budget, observer);
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
    Ok(Ic3Report { verdict, invariant, counts, search, queries: system.statistics() })
}

fn answer(
    question: &Question<'_>,
    config: &Ic3Config,
    system: &mut PolicySystem<'_>,
    search: &mut SearchStatistics,
    budget: &mut Budget,
    observer: &mut dyn Observer,
) -> Result<(Verdict, Option<Vec<IntBox>>), EngineError> {
    observer.event(Event::Phase("start states"));
    if let Some(start) = system.start().unsafe_state(question, budget)? {
        return Ok((Verdict::Unsafe(Trace { start, steps: Vec::new() }), None));
    }
    let vacuous = system.start().is_empty(budget)?;
    observer.event(Event::Phase("search for a path"));
    let settings =
        SearchSettings { rescheduling: config.rescheduling, open_states: config.depth_first };
    Ok(match ic3(system, settings, search, budget, observer)? {
        Ic3Outcome::Invariant(boxes) => (Verdict::Safe { vacuous }, Some(boxes)),
        Ic3Outcome::Path(start, steps) => {
            let steps: Vec<PolicyStep> = steps.into_iter().map(|(step, _)| step).collect();
            match steps.iter().find_map(|step| step.undecided.as_ref()) {
                Some(state) => (Verdict::Unknown(question.undecided_choice(state)), None),
                None => {
                    let steps = steps.into_iter().map(|step| step.step).collect();
                    (Verdict::Unsafe(Trace { start, steps }), None)
                }
            }
        }
    })
}
