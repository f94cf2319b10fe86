//! Guided search as a member of the portfolio: it finds unsafe states, or says nothing.

use policert_engine_api::{
    Conclusion, Context, Engine, EngineError, Question, StopReason, UnknownReason, Verdict,
};
use policert_explore::guided;
use serde_json::json;

/// Looks at this many states at most.
const STATES: u32 = 20_000;

/// Looks for unsafe states where they seem near.
pub(super) struct Guided;

impl Engine for Guided {
    fn answer(
        &self,
        question: &Question<'_>,
        context: &mut Context<'_>,
    ) -> Result<Conclusion, EngineError> {
        let (budget, observer, _) = context.parts();
        let given = budget.limits().states.and_then(|limit| u32::try_from(limit).ok());
        let states = given.map_or(STATES, |limit| limit.min(STATES));
        let found = guided(question, question.policy, states, budget, observer)?;
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
        Ok(Conclusion {
            numbers: json!({ "expanded": found.counts.expanded_states }),
            ..Conclusion::new("guided", verdict, found.counts)
        })
    }
}
