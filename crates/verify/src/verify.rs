//! The whole way from a request to a report: load, run, replay, report.

mod remarks;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use policert_bmc::BmcConfig;
use policert_bounds::Recorder;
use policert_engine_api::{
    Budget, CancelFlag, Event, Limits, Observer, Trace, UnknownReason, Verdict,
};
use policert_evidence::{Evidence, Invariant, check_invariant};
use policert_explore::ExplicitConfig;
use policert_ic3::Config as Ic3Config;
use policert_outcome::{ExitStatus, Failure, Outcome, OutputFiles, ReasonCode, VerdictWord};
use policert_ppa::{CegarConfig, Config as PpaConfig};
use policert_problem::{Problem, ProblemOptions};
use serde_json::Value;

use crate::engine_options::{self, EngineOption};
use crate::engines::{self, Answered, Assignment, EngineChoice, EngineRun};
use crate::probability::{self, ProbabilityOptions};
use crate::query_log::QueryLog;
use crate::report::{Report, Statistics, Times};
use crate::start_states::StartStatesRecord;

/// What to verify, and how.
#[derive(Clone, Debug)]
pub struct Request {
    /// The question.
    pub problem: ProblemSource,
    /// What answers. [default: the portfolio]
    pub engine: EngineChoice,
    /// Configuration of ppa, cegar or ic3: a preset's name, or a file. [default: native]
    pub preset: String,
    /// How explicit searches.
    pub explicit: ExplicitConfig,
    /// Options of cegar.
    pub cegar: CegarConfig,
    /// How bmc unrolls runs.
    pub bmc: BmcConfig,
    /// How probabilities are computed.
    pub probability: ProbabilityOptions,
    /// Options that the user named: one that the engine does not use is refused.
    pub named: Vec<EngineOption>,
    /// What may be used.
    pub limits: Limits,
    /// How many threads may be used. [default: 1]
    pub threads: u16,
    /// Where the queries about the policy are written: `docs/formats/queries.md`.
    pub record_queries: Option<PathBuf>,
    /// Whether evidence of probabilities is wanted; that of other verdicts comes in any case.
    pub evidence: bool,
    /// Whether to say which start states are proved safe.
    pub start_states: bool,
    /// All files that are written, also by the caller; none of them may be an input.
    pub outputs: OutputFiles,
}

impl Request {
    /// The request with all defaults, without limits: about a model by its file, about a problem by
    /// its options, or about one that is loaded.
    pub fn new(problem: impl Into<ProblemSource>) -> Self {
        Self {
            problem: problem.into(),
            engine: EngineChoice::default(),
            preset: "native".to_owned(),
            explicit: ExplicitConfig::default(),
            cegar: CegarConfig::default(),
            bmc: BmcConfig::default(),
            probability: ProbabilityOptions::default(),
            named: Vec::new(),
            limits: Limits::default(),
            threads: 1,
            record_queries: None,
            evidence: false,
            start_states: false,
            outputs: OutputFiles::default(),
        }
    }
}

/// Where a problem comes from.
#[derive(Clone, Debug)]
pub enum ProblemSource {
    /// From files.
    Files(Box<ProblemOptions>),
    /// It is there already.
    Loaded(Arc<Problem>),
}

impl ProblemSource {
    /// Returns the problem in the words of the user.
    #[must_use]
    pub fn options(&self) -> &ProblemOptions {
        match self {
            Self::Files(options) => options,
            Self::Loaded(problem) => problem.options(),
        }
    }
}

impl From<&Path> for ProblemSource {
    fn from(model: &Path) -> Self {
        ProblemOptions::new(model).into()
    }
}

impl From<&str> for ProblemSource {
    fn from(model: &str) -> Self {
        Path::new(model).into()
    }
}

impl From<ProblemOptions> for ProblemSource {
    fn from(options: ProblemOptions) -> Self {
        Self::Files(Box::new(options))
    }
}

impl From<Problem> for ProblemSource {
    fn from(problem: Problem) -> Self {
        Self::Loaded(Arc::new(problem))
    }
}

/// Answers a request. Every counterexample was replayed, and every invariant checked, before it is
/// returned.
pub fn verify(
    request: &Request,
    cancel: &CancelFlag,
    observer: &mut dyn Observer,
) -> Outcome<Report> {
    let begin = Instant::now();
    let mut outcome = Outcome::of(Report::empty(VerdictWord::Error), |outcome| {
        run(request, cancel, observer, begin, outcome)
    });
    if let Some(failure) = &outcome.failure {
        outcome.report = Report::empty(VerdictWord::from(failure));
    }
    outcome
}

fn run(
    request: &Request,
    cancel: &CancelFlag,
    observer: &mut dyn Observer,
    begin: Instant,
    outcome: &mut Outcome<Report>,
) -> Result<ExitStatus, Failure> {
    engine_options::check(request)?;
    cancel.check()?;
    // A preset of one engine says nothing about the others.
    let (ppa, ic3) = match request.engine {
        EngineChoice::Ic3 => (PpaConfig::default(), engines::ic3_preset(&request.preset)?),
        _ => (engines::preset(&request.preset)?, Ic3Config::default()),
    };
    engine_options::check_preset(request, &ppa)?;
    observer.event(Event::Phase("load"));
    let budget = Budget::new(request.limits.clone(), cancel.clone());
    let problem = match &request.problem {
        ProblemSource::Files(options) => {
            Problem::load_any(options, &budget, &mut outcome.remarks).map(Arc::new)
        }
        ProblemSource::Loaded(problem) => Ok(Arc::clone(problem)),
    };
    let inputs = outcome.remarks.inputs.iter();
    request.outputs.check_inputs(inputs.map(|input| input.path.as_path()))?;
    if let Err(Failure::Findings(findings)) = &problem {
        request.outputs.check_findings(findings)?;
    }
    let problem = problem?;
    let mut times = Times { load: begin.elapsed().as_secs_f64(), ..Times::default() };

    let asks_probability = probability::is_asked(&problem, request.engine, &request.probability)?;
    if request.engine == EngineChoice::Auto {
        let engine = if asks_probability { EngineChoice::Prob } else { EngineChoice::Auto };
        engine_options::check_engine(request, engine)?;
    }
    if asks_probability {
        remarks::refuse_probability(&problem, request.engine)?;
        let run = probability::Run {
            engine: request.engine,
            ppa: &ppa,
            cegar: request.cegar,
            options: &request.probability,
            limits: &request.limits,
            begin,
            cancel,
            evidence: request.evidence,
        };
        return probability(&problem, &run, observer, times, outcome);
    }
    let path = request.record_queries.as_deref();
    let mut log = path.map(|path| QueryLog::create(path, &problem)).transpose()?;
    let engines_begin = Instant::now();
    let mut notes = Notes { inner: observer, notes: Vec::new() };
    let limits = &request.limits;
    let Request { explicit, cegar, bmc, threads, .. } = *request;
    let assignment = Assignment {
        problem: &problem,
        ppa: &ppa,
        explicit,
        cegar,
        bmc,
        ic3: &ic3,
        limits,
        begin,
        cancel,
        threads,
    };
    let recorder = log.as_mut().map(|log| log as &mut dyn Recorder);
    let mut answered = engines::answer(request.engine, &assignment, &mut notes, recorder)?;
    let mut notes = notes.notes;
    match log.map(QueryLog::finish) {
        Some(Ok(count)) => {
            notes.push(format!("queries about the policy that were recorded: {count}"));
        }
        Some(Err(failure)) => outcome.keep_unwritten(Err(failure)),
        None => {}
    }
    times.engines = engines_begin.elapsed().as_secs_f64();

    let replay_begin = Instant::now();
    let run = &mut answered.run;
    let evidence = match (&run.verdict, &run.invariant) {
        (Verdict::Unsafe(trace), _) => {
            let evidence = evidence(&problem, run, trace)?;
            notes.extend(remarks::chance_note(&problem, &evidence));
            Some(evidence)
        }
        (Verdict::Safe { .. }, Some(boxes)) => {
            match check_invariant(&problem, boxes, limits, begin, cancel) {
                Ok(checked) => {
                    notes.push(checked.note(boxes.len()));
                    Some(Evidence::of_invariant(&problem, run.engine, boxes))
                }
                Err(Failure::Stopped(reason)) => {
                    notes.push(format!(
                        "an inductive invariant ({} boxes) was found, but checking it again did \
                         not end",
                        boxes.len()
                    ));
                    run.verdict = Verdict::Unknown(UnknownReason::Stopped(reason));
                    None
                }
                Err(other) => return Err(other),
            }
        }
        _ => None,
    };
    times.replay = replay_begin.elapsed().as_secs_f64();
    let run = &answered.run;
    let status = ExitStatus::of_verdict(&run.verdict);
    let verdict = run.verdict.clone();
    if let Verdict::Unknown(reason) = &verdict {
        outcome.explain(ReasonCode::from(reason), reason.to_string());
    }
    let starts = run.start_states.as_deref().filter(|_| request.start_states);
    let start_states = starts.map(|starts| StartStatesRecord::new(&problem, starts));
    let no_evidence = remarks::no_evidence(run);
    outcome.remarks.warnings.extend(run.warnings.iter().cloned());
    for note in run.notes.iter().cloned().chain(notes) {
        if !outcome.remarks.notes.contains(&note) {
            outcome.remarks.notes.push(note);
        }
    }
    let invariant = run.invariant.clone().filter(|_| evidence.is_some()).map(Invariant::new);
    let report = report(&problem, answered, times);
    outcome.report = Report { evidence, no_evidence, start_states, invariant, ..report };
    if let Verdict::Safe { vacuous } = verdict {
        let left = limits.time.map(|limit| limit.saturating_sub(begin.elapsed()));
        remarks::say_hollow(&problem, vacuous, left, cancel, outcome);
    }
    if request.start_states && outcome.report.start_states.is_none() {
        let why = "the abstraction is not complete";
        outcome.remarks.warnings.push(format!("nothing is written about start states: {why}"));
    }
    Ok(status)
}

/// Answers a question about a probability.
fn probability(
    problem: &Problem,
    run: &probability::Run<'_>,
    observer: &mut dyn Observer,
    mut times: Times,
    outcome: &mut Outcome<Report>,
) -> Result<ExitStatus, Failure> {
    let begin = Instant::now();
    let mut notes = Notes { inner: observer, notes: Vec::new() };
    let status = probability::answer(problem, run, &mut notes, outcome)?;
    outcome.remarks.notes.append(&mut notes.notes);
    times.engines = begin.elapsed().as_secs_f64();
    let report = &mut outcome.report;
    if let Some(statistics) = &mut report.statistics {
        statistics.times_s = times;
    }
    let is_zero = report.probability.as_ref().is_some_and(|[_, hi]| hi == "0");
    let is_good = [VerdictWord::Safe, VerdictWord::Probability].contains(&report.verdict);
    let is_vacuous = report.vacuous;
    if is_zero && is_good || is_vacuous {
        remarks::say_hollow(problem, is_vacuous, run.left().time, run.cancel, outcome);
    }
    Ok(status)
}

/// Replays a trace and writes it down.
fn evidence(problem: &Problem, run: &EngineRun, trace: &Trace) -> Result<Evidence, Failure> {
    match policert_certify::replay(&problem.question(), problem.policy.as_ref(), trace) {
        Ok(replayed) => Ok(Evidence::of_trace(problem, run.engine, trace, replayed.end)),
        Err(error) => Err(Failure::Internal(format!(
            "the counterexample of engine {} does not replay: {error}",
            run.engine
        ))),
    }
}

fn report(problem: &Problem, answered: Answered, times: Times) -> Report {
    let Answered { run, attempts } = answered;
    let steps = match &run.verdict {
        Verdict::Unsafe(trace) => Some(trace.steps.len()),
        Verdict::Safe { .. } | Verdict::Unknown(_) => None,
    };
    let mut statistics =
        Statistics::new(run.engine, run.preset.as_deref(), &run.counts, steps, times);
    statistics.start_states_proved_safe = run
        .start_states
        .as_ref()
        .map(|starts| starts.iter().filter(|start| start.proved_safe).count() as u64);
    if run.numbers != Value::Null {
        statistics.engine.insert(run.engine.to_owned(), run.numbers);
    }
    Report {
        vacuous: matches!(run.verdict, Verdict::Safe { vacuous: true }),
        property: Some(problem.property.name.clone()),
        engine: Some(run.engine.to_owned()),
        preset: run.preset,
        attempts,
        semantics: Some(problem.semantics.clone()),
        statistics: Some(statistics),
        trace: match &run.verdict {
            Verdict::Unsafe(trace) => Some(trace.clone()),
            Verdict::Safe { .. } | Verdict::Unknown(_) => None,
        },
        ..Report::empty(VerdictWord::from(&run.verdict))
    }
}

/// Keeps the notes that engines send, and passes all events on.
struct Notes<'a> {
    inner: &'a mut dyn Observer,
    notes: Vec<String>,
}

impl Observer for Notes<'_> {
    fn event(&mut self, event: Event) {
        if let Event::Note(note) = &event
            && !self.notes.contains(note)
        {
            self.notes.push(note.clone());
        }
        self.inner.event(event);
    }
}
