//! The portfolio: explicit search while the states are few, then predicate abstraction if the
//! property gives predicates, then explicit search as far as the memory reaches.

use std::time::Instant;

use policert_bounds::Recorder;
use policert_engine_api::{EngineError, Observer, StopReason, UnknownReason, Verdict};
use policert_model::{DomainRule, Model};

use super::{Answered, Assignment, EngineRun, attempt, explicit, ppa, result_text, settled};
use crate::Failure;
use crate::memory::available_memory;
use crate::report::Attempt;

/// States of the first look.
const FIRST_LOOK: u32 = 200_000;
/// Memory where nothing is known, in bytes.
const DEFAULT_MEMORY: u64 = 2_000_000_000;

/// Runs the portfolio.
pub(super) fn run(
    assignment: &Assignment<'_>,
    observer: &mut dyn Observer,
    recorder: Option<&mut dyn Recorder>,
) -> Result<Answered, Failure> {
    let mut portfolio = Portfolio { attempts: Vec::new(), last: None, refused: Vec::new() };
    let all = states_in_memory(assignment);
    let task = assignment.task;
    let without_ppa = if task.property.predicates.is_empty() {
        Some("there are no predicates")
    } else if task.question().domain_rule == DomainRule::Error {
        Some("it does not decide whether an update that leaves a domain is reachable")
    } else {
        None
    };
    if let Some(why) = without_ppa {
        portfolio.explicit(assignment, all, observer)?;
        portfolio.pass_over("ppa", why);
        return portfolio.finish();
    }
    let few = points(&task.model) <= f64::from(FIRST_LOOK);
    let first = if few { all } else { all.min(FIRST_LOOK.into()) };
    if portfolio.explicit(assignment, first, observer)? == Next::Stop {
        portfolio.pass_over("ppa", "the run had ended");
        return portfolio.finish();
    }
    let begin = Instant::now();
    let run = ppa::run(assignment, &mut assignment.budget(None), observer, recorder);
    if portfolio.note("ppa", run, begin)? == Next::Stop || first == all {
        return portfolio.finish();
    }
    portfolio.explicit(assignment, all, observer)?;
    portfolio.finish()
}

/// Whether to go on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Continue,
    Stop,
}

struct Portfolio {
    attempts: Vec<Attempt>,
    last: Option<EngineRun>,
    refused: Vec<EngineError>,
}

impl Portfolio {
    fn explicit(
        &mut self,
        assignment: &Assignment<'_>,
        states: u64,
        observer: &mut dyn Observer,
    ) -> Result<Next, Failure> {
        let begin = Instant::now();
        let run = explicit::run(assignment, &mut assignment.budget(Some(states)), observer);
        self.note("explicit", run, begin)
    }

    fn pass_over(&mut self, engine: &str, why: &str) {
        let result = format!("not tried: {why}");
        self.attempts.push(Attempt { engine: engine.to_owned(), result, time_s: None });
    }

    fn note(
        &mut self,
        engine: &'static str,
        run: Result<EngineRun, EngineError>,
        begin: Instant,
    ) -> Result<Next, Failure> {
        match settled(engine, run) {
            Ok(run) => {
                self.attempts.push(attempt(engine, result_text(&run.verdict), begin));
                let next = match &run.verdict {
                    Verdict::Unknown(UnknownReason::Stopped(
                        StopReason::Time | StopReason::Memory | StopReason::Interrupted,
                    )) => Next::Stop,
                    Verdict::Unknown(_) => Next::Continue,
                    _ => Next::Stop,
                };
                self.last = Some(run);
                Ok(next)
            }
            Err(error @ EngineError::Unsupported(_)) => {
                self.attempts.push(attempt(engine, error.to_string(), begin));
                self.refused.push(error);
                Ok(Next::Continue)
            }
            Err(error) => Err(error.into()),
        }
    }

    fn finish(self) -> Result<Answered, Failure> {
        match (self.last, self.refused.into_iter().next()) {
            (Some(run), _) => Ok(Answered { run, attempts: self.attempts }),
            (None, Some(error)) => Err(error.into()),
            (None, None) => Err(Failure::Internal("no engine ran".to_owned())),
        }
    }
}

/// How many states explicit search may store: half of the memory that may be used, by an estimate
/// of what a state takes.
fn states_in_memory(assignment: &Assignment<'_>) -> u64 {
    let free = available_memory().unwrap_or(DEFAULT_MEMORY);
    let memory = assignment.limits.memory.map_or(free, |limit| limit.min(free));
    let bits = assignment.task.model.variables.iter().map(|v| match v.domain.count() {
        Some(count) => u64::from(128 - count.leading_zeros()),
        None => 64,
    });
    let packed = bits.sum::<u64>().div_ceil(64) * 8;
    // The state itself, its slot in the table, where it came from, and its place in the queue.
    let bytes = packed + 40;
    (memory / 2 / bytes).max(1000)
}

/// Points of the domains, roughly; infinite if a variable is unbounded.
fn points(model: &Model) -> f64 {
    let sizes = model.variables.iter().map(|v| match v.domain.count() {
        #[expect(clippy::cast_precision_loss, reason = "an order of magnitude")]
        Some(count) => count as f64,
        None => f64::INFINITY,
    });
    sizes.product()
}
