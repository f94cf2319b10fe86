//! Guided search as a member of the portfolio: it finds unsafe states, or says nothing.

use policert_engine_api::{Budget, EngineError, Observer, StopReason, UnknownReason, Verdict};
use policert_explore::guided;
use serde_json::json;

use super::{Assignment, EngineRun};

/// Looks at so many states at most.
pub(super) const STATES: u32 = 20_000;

pub(super) fn run(
    assignment: &Assignment<'_>,
    budget: &mut Budget,
    observer: &mut dyn Observer,
) -> Result<EngineRun, EngineError> {
    let problem = assignment.problem;
    let question = problem.question();
    let given = assignment.limits.states.and_then(|limit| u32::try_from(limit).ok());
    let states = given.map_or(STATES, |limit| limit.min(STATES));
    let found = guided(&question, problem.policy.as_ref(), states, budget, observer)?;
    let verdict = match found.trace {
        Some(trace) => Verdict::Unsafe(trace),
        None if found.limit_reached => {
            Verdict::Unknown(UnknownReason::Stopped(StopReason::States(states.into())))
        }
        None => {
            let states = found.counts.reachable_states;
            Verdict::Unknown(UnknownReason::NoneFound { states })
        }
    };
    Ok(EngineRun {
        engine: "guided",
        preset: None,
        verdict,
        start_states: None,
        invariant: None,
        numbers: json!({ "expanded": found.counts.expanded_states }),
        counts: found.counts,
        warnings: Vec::new(),
        notes: Vec::new(),
    })
}
