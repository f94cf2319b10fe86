//! The portfolio: a cheap look at the model, then its members until one is conclusive.
//!
//! Few states: explicit search. Otherwise guided search for an unsafe state, explicit search of the
//! first states, abstraction refinement, IC3, and explicit search as far as the memory reaches. With
//! several threads, members run side by side, and the first conclusive one stops the others.

mod side_by_side;

use std::time::Instant;

use policert_bounds::Recorder;
use policert_engine_api::{
    Budget, EngineError, Observer, StopReason, StuckRule, UnknownReason, Verdict,
};
use policert_model::{DomainRule, Model};
use policert_outcome::{Failure, available_memory};

use super::{
    Answered, Assignment, EngineRun, attempt, cegar, explicit, guided, ic3, result_text, settled,
};
use crate::report::Attempt;

/// States of the first look.
const FIRST_LOOK: u32 = 200_000;
/// Memory where nothing is known, in bytes.
const DEFAULT_MEMORY: u64 = 2_000_000_000;

/// A member of the portfolio.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Member {
    Guided,
    /// Explicit search of at most so many states.
    Explicit(u64),
    Cegar,
    Ic3,
}

impl Member {
    fn name(self) -> &'static str {
        match self {
            Self::Guided => "guided",
            Self::Explicit(_) => "explicit",
            Self::Cegar => "cegar",
            Self::Ic3 => "ic3",
        }
    }

    /// Runs it; not as an answer yet.
    fn run(
        self,
        assignment: &Assignment<'_>,
        budget: &mut Budget,
        observer: &mut dyn Observer,
        recorder: Option<&mut dyn Recorder>,
    ) -> Result<EngineRun, EngineError> {
        match self {
            Self::Guided => guided::run(assignment, budget, observer),
            Self::Explicit(_) => explicit::run(assignment, budget, observer),
            Self::Cegar => cegar::run(assignment, budget, observer, recorder),
            Self::Ic3 => ic3::run(assignment, 1, budget, observer),
        }
    }

    fn states(self) -> Option<u64> {
        match self {
            Self::Explicit(states) => Some(states),
            Self::Guided | Self::Cegar | Self::Ic3 => None,
        }
    }
}

/// Runs the portfolio on at most `threads` threads.
pub(super) fn run(
    assignment: &Assignment<'_>,
    threads: u16,
    observer: &mut dyn Observer,
    mut recorder: Option<&mut dyn Recorder>,
) -> Result<Answered, Failure> {
    let question = assignment.problem.question();
    let all = states_in_memory(assignment);
    let few = points(&assignment.problem.model) <= f64::from(FIRST_LOOK);
    let builds = question.build_all || question.keep_going;
    let mut portfolio = Portfolio::default();
    let mut members = match (few || builds, threads > 1) {
        (true, _) => vec![Member::Explicit(all), Member::Cegar],
        (false, true) => vec![Member::Guided, Member::Explicit(all), Member::Cegar, Member::Ic3],
        (false, false) => vec![
            Member::Guided,
            Member::Explicit(all.min(FIRST_LOOK.into())),
            Member::Cegar,
            Member::Ic3,
            Member::Explicit(all),
        ],
    };
    if question.domain_rule == DomainRule::Error {
        members.retain(|member| !matches!(member, Member::Cegar | Member::Ic3));
        let why = "it does not decide whether an update that leaves a domain is reachable";
        portfolio.pass_over("cegar", why);
        portfolio.pass_over("ic3", why);
    }
    if question.stuck == StuckRule::Unsafe {
        members.retain(|member| !matches!(member, Member::Cegar | Member::Ic3));
        let why = "it does not tell where a run gets stuck";
        portfolio.pass_over("cegar", why);
        portfolio.pass_over("ic3", why);
    }
    if threads > 1 && members.len() > 1 && recorder.is_none() && !few {
        side_by_side::run(&mut portfolio, assignment, &members, threads.into(), observer)?;
        return portfolio.finish();
    }
    let mut members = members.into_iter().peekable();
    while let Some(member) = members.next() {
        let begin = Instant::now();
        let is_last = members.peek().is_none();
        let mut budget = assignment.budget_share(member.states(), is_last);
        // The borrow of the recorder ends with the call.
        let recorder = recorder.as_mut().map(|recorder| &mut **recorder as &mut dyn Recorder);
        let run = member.run(assignment, &mut budget, observer, recorder);
        let run = run.map(|run| of_memory(run, member, assignment));
        if portfolio.note(member, run, begin, assignment.is_out_of_time())? == Next::Stop {
            break;
        }
    }
    for member in members {
        portfolio.pass_over(member.name(), "the run had ended");
    }
    portfolio.finish()
}

/// The last limit of states is one of memory, unless the user gave it.
fn of_memory(mut run: EngineRun, member: Member, assignment: &Assignment<'_>) -> EngineRun {
    if let Verdict::Unknown(UnknownReason::Stopped(StopReason::States(limit))) = run.verdict
        && assignment.limits.states.is_none()
        && member == Member::Explicit(limit)
        && limit > FIRST_LOOK.into()
    {
        run.verdict = Verdict::Unknown(UnknownReason::Stopped(StopReason::Memory));
    }
    run
}

/// Whether to go on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Continue,
    Stop,
}

#[derive(Default)]
struct Portfolio {
    attempts: Vec<Attempt>,
    last: Option<EngineRun>,
    refused: Vec<EngineError>,
}

impl Portfolio {
    fn pass_over(&mut self, engine: &str, why: &str) {
        // One that has two turns is named once.
        if self.attempts.iter().any(|attempt| attempt.engine == engine) {
            return;
        }
        let result = format!("not tried: {why}");
        self.attempts.push(Attempt { engine: engine.to_owned(), result, time_s: None });
    }

    /// Notes that a member was stopped by another.
    fn stopped(&mut self, member: Member, why: &str, begin: Instant) {
        self.attempts.push(attempt(member.name(), format!("stopped: {why}"), begin));
    }

    /// Notes what a member found. `is_over`: whether the time of the whole run has passed.
    fn note(
        &mut self,
        member: Member,
        run: Result<EngineRun, EngineError>,
        begin: Instant,
        is_over: bool,
    ) -> Result<Next, Failure> {
        let engine = member.name();
        match settled(engine, run) {
            Ok(run) => {
                self.attempts.push(attempt(engine, result_text(&run.verdict), begin));
                let next = match &run.verdict {
                    // A member may have had a share of the time only.
                    Verdict::Unknown(UnknownReason::Stopped(StopReason::Time)) if !is_over => {
                        Next::Continue
                    }
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
            // Another member may meet an unsafe state before the error.
            Err(error @ EngineError::Modelling(_)) if member == Member::Guided => {
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
    let bits = assignment.problem.model.variables.iter().map(|v| match v.domain.count() {
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
