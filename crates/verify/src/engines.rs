//! The engines behind one shape, and the choice between them.
//!
//! To add one: a file in `engines/` that turns its report into an [`EngineRun`], a variant of
//! [`EngineChoice`], and a place in the portfolio of `engines/auto.rs`.

mod auto;
mod bmc;
mod cegar;
mod explicit;
mod goal;
mod guided;
mod ic3;
mod ppa;

use std::time::Instant;

use policert_bounds::Recorder;
use policert_engine_api::{
    Aim, Budget, CancelFlag, Counts, EngineError, Limits, Observer, Question, StuckRule,
    UnknownReason, Verdict,
};
use policert_numeric::IntBox;
use policert_outcome::Failure;
use policert_problem::Problem;
use serde_json::Value;

use crate::report::Attempt;

pub(crate) use cegar::name as origin_name;
pub(crate) use ic3::preset as ic3_preset;
pub(crate) use ppa::preset;
pub(crate) use ppa::tests as tests_record;

/// What answers a question.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum EngineChoice {
    /// A portfolio: the cheap one first, until one is conclusive.
    #[default]
    Auto,
    /// Enumeration of states.
    Explicit,
    /// Policy predicate abstraction.
    Ppa,
    /// Policy predicate abstraction that finds its predicates.
    Cegar,
    /// Bounded model checking.
    Bmc,
    /// IC3 for policies.
    Ic3,
    /// Bounds of the probability of reaching an unsafe state.
    Prob,
    /// The same by policy predicate abstraction.
    ProbPpa,
    /// The same by policy predicate abstraction that finds its predicates.
    ProbCegar,
}

impl EngineChoice {
    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Explicit => "explicit",
            Self::Ppa => "ppa",
            Self::Cegar => "cegar",
            Self::Bmc => "bmc",
            Self::Ic3 => "ic3",
            Self::Prob => "prob",
            Self::ProbPpa => "prob-ppa",
            Self::ProbCegar => "prob-cegar",
        }
    }
}

/// What an engine found.
#[derive(Clone, Debug)]
pub(crate) struct EngineRun {
    /// Its name.
    pub engine: &'static str,
    /// Its configuration, where it has several.
    pub preset: Option<String>,
    /// The verdict.
    pub verdict: Verdict,
    /// Counts.
    pub counts: Counts,
    /// The abstract start states and which are proved safe, where the engine tells.
    pub start_states: Option<Vec<policert_ppa::StartRegion>>,
    /// The inductive invariant of a verdict *safe*, as boxes, where the engine has one.
    pub invariant: Option<Vec<IntBox>>,
    /// Numbers of this engine alone.
    pub numbers: Value,
    /// What to know before trusting the verdict.
    pub warnings: Vec<String>,
    /// What is worth knowing.
    pub notes: Vec<String>,
}

/// What all engines get.
#[derive(Clone, Copy)]
pub(crate) struct Assignment<'a> {
    /// The question.
    pub problem: &'a Problem,
    /// Configuration of ppa and cegar.
    pub ppa: &'a policert_ppa::Config,
    /// How explicit searches.
    pub explicit: policert_explore::ExplicitConfig,
    /// Options of cegar.
    pub cegar: policert_ppa::CegarConfig,
    /// How bmc unrolls runs.
    pub bmc: policert_bmc::BmcConfig,
    /// Configuration of ic3.
    pub ic3: &'a policert_ic3::Config,
    /// Limits of the whole run.
    pub limits: &'a Limits,
    /// When the run began.
    pub begin: Instant,
    /// The flag that stops it.
    pub cancel: &'a CancelFlag,
    /// How many threads may be used.
    pub threads: u16,
}

impl Assignment<'_> {
    /// A budget for one engine: what is left of the time, the memory limit, and at most this many
    /// states.
    fn budget(&self, states: Option<u64>) -> Budget {
        let limits = Limits {
            time: self.limits.time.map(|limit| limit.saturating_sub(self.begin.elapsed())),
            memory: self.limits.memory,
            states: states.into_iter().chain(self.limits.states).min(),
        };
        Budget::new(limits, self.cancel.clone())
    }

    /// As [`Assignment::budget`], with half of the time that is left unless it is the last engine.
    fn budget_share(&self, states: Option<u64>, is_last: bool) -> Budget {
        let left = self.limits.time.map(|limit| limit.saturating_sub(self.begin.elapsed()));
        let time = if is_last { left } else { left.map(|left| left / 2) };
        let states = states.into_iter().chain(self.limits.states).min();
        let limits = Limits { time, memory: self.limits.memory, states };
        Budget::new(limits, self.cancel.clone())
    }

    /// Whether the time of the whole run has passed.
    fn is_out_of_time(&self) -> bool {
        self.limits.time.is_some_and(|limit| self.begin.elapsed() >= limit)
    }
}

/// The answer and how it came about.
pub(crate) struct Answered {
    /// The engine that the answer comes from.
    pub run: EngineRun,
    /// All engines that were considered.
    pub attempts: Vec<Attempt>,
}

/// Runs what was chosen. `recorder` is told of the queries about the policy.
pub(crate) fn answer(
    choice: EngineChoice,
    assignment: &Assignment<'_>,
    observer: &mut dyn Observer,
    recorder: Option<&mut dyn Recorder>,
) -> Result<Answered, Failure> {
    refuse(choice, &assignment.problem.question())?;
    let begin = Instant::now();
    let mut budget = assignment.budget(None);
    let reaches_goal = assignment.problem.question().aim == Aim::ReachGoal;
    let run = match choice {
        EngineChoice::Auto | EngineChoice::Explicit if reaches_goal => {
            settled("explicit", goal::run(assignment, &mut budget, observer))
        }
        EngineChoice::Auto => {
            return auto::run(assignment, assignment.threads, observer, recorder);
        }
        EngineChoice::Explicit => {
            settled("explicit", explicit::run(assignment, &mut budget, observer))
        }
        EngineChoice::Ppa => settled("ppa", ppa::run(assignment, &mut budget, observer, recorder)),
        EngineChoice::Cegar => {
            settled("cegar", cegar::run(assignment, &mut budget, observer, recorder))
        }
        EngineChoice::Bmc => settled("bmc", bmc::run(assignment, &mut budget, observer)),
        EngineChoice::Ic3 => {
            settled("ic3", ic3::run(assignment, assignment.threads, &mut budget, observer))
        }
        EngineChoice::Prob | EngineChoice::ProbPpa | EngineChoice::ProbCegar => {
            return Err(Failure::Internal("prob answers no question about safety".to_owned()));
        }
    };
    let run = run?;
    let attempts = vec![attempt(run.engine, result_text(&run.verdict), begin)];
    Ok(Answered { run, attempts })
}

/// Refuses a question that an engine does not answer.
pub(crate) fn refuse(choice: EngineChoice, question: &Question<'_>) -> Result<(), Failure> {
    let option = match (question.aim, question.stuck) {
        (Aim::ReachGoal, _) => "--reach-goal",
        (Aim::AvoidUnsafe, StuckRule::Unsafe) => "--stuck unsafe",
        (Aim::AvoidUnsafe, StuckRule::Allowed) => return Ok(()),
    };
    let engine = match choice {
        EngineChoice::Auto | EngineChoice::Explicit => return Ok(()),
        EngineChoice::Ppa => "ppa",
        EngineChoice::Cegar => "cegar",
        EngineChoice::Bmc => "bmc",
        EngineChoice::Ic3 => "ic3",
        EngineChoice::Prob => "prob",
        EngineChoice::ProbPpa => "prob-ppa",
        EngineChoice::ProbCegar => "prob-cegar",
    };
    Err(Failure::Usage(format!(
        "{option} is not supported by engine {engine}; explicit and auto answer it"
    )))
}

/// A stop, and a query that stayed open, are an answer too: unknown.
fn settled(
    engine: &'static str,
    run: Result<EngineRun, EngineError>,
) -> Result<EngineRun, EngineError> {
    let reason = match run {
        Err(EngineError::Stop(reason)) => UnknownReason::Stopped(reason),
        Err(EngineError::Undecided(text)) => UnknownReason::SolverGaveUp(text),
        other => return other,
    };
    Ok(EngineRun {
        engine,
        preset: None,
        verdict: Verdict::Unknown(reason),
        counts: Counts::default(),
        start_states: None,
        invariant: None,
        numbers: Value::Null,
        warnings: Vec::new(),
        notes: Vec::new(),
    })
}

fn attempt(engine: &str, result: String, begin: Instant) -> Attempt {
    Attempt { engine: engine.to_owned(), result, time_s: Some(begin.elapsed().as_secs_f64()) }
}

fn result_text(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Safe { vacuous: false } => "safe".to_owned(),
        Verdict::Safe { vacuous: true } => "safe (vacuous)".to_owned(),
        Verdict::Unsafe(trace) => match trace.steps.len() {
            1 => "unsafe in 1 step".to_owned(),
            n => format!("unsafe in {n} steps"),
        },
        Verdict::Unknown(reason) => format!("unknown: {reason}"),
    }
}
