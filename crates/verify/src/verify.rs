//! The whole way from a request to a report: load, run, replay, report.

mod remarks;

use std::path::PathBuf;
use std::time::Instant;

use policert_bounds::Recorder;
use policert_engine_api::{
    Budget, CancelFlag, Event, Limits, Observer, Trace, UnknownReason, Verdict,
};
use policert_explore::{BmcConfig, ExplicitConfig};
use policert_ic3::Config as Ic3Config;
use policert_ppa::{CegarConfig, Config as PpaConfig};
use serde_json::Value;

use crate::engine_options::{self, EngineOption};
use crate::engines::{self, Answered, Assignment, EngineChoice, EngineRun};
use crate::invariant_check;
use crate::probability::{self, ProbabilityOptions};
use crate::query_log::QueryLog;
use crate::report::{ReasonCode, Report, Statistics, Times, VerdictWord};
use crate::start_states::StartStatesRecord;
use crate::{
    Evidence, ExitStatus, Failure, Loaded, OutputFiles, Task, TaskOptions, peak_memory_mb,
};

/// What to verify, and how.
#[derive(Clone, Debug)]
pub struct Request {
    /// The question.
    pub task: TaskOptions,
    /// What answers.
    pub engine: EngineChoice,
    /// Configuration of ppa, cegar or ic3: a preset's name, or a file.
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
    /// How many threads may be used.
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

/// What came out of a request.
#[derive(Debug)]
pub struct Verified {
    /// The result as data; also of runs without verdict.
    pub report: Report,
    /// The evidence of the verdict: of an unsafe one, and of a safe one where the engine has an
    /// invariant.
    pub evidence: Option<Evidence>,
    /// Which start states are proved safe, if that was asked for and the engine tells.
    pub start_states: Option<StartStatesRecord>,
    /// Why there is no evidence, where there is none.
    pub no_evidence: String,
    /// Why there is no verdict.
    pub failure: Option<Failure>,
    /// A file that could not be written.
    pub unwritten: Option<Failure>,
    /// The status that the run ends with.
    pub status: ExitStatus,
}

/// Answers a request. Every counterexample was replayed, and every invariant checked, before it is
/// returned.
pub fn verify(request: &Request, cancel: &CancelFlag, observer: &mut dyn Observer) -> Verified {
    let begin = Instant::now();
    let mut loaded = Loaded::default();
    let result = run(request, cancel, observer, begin, &mut loaded);
    let mut verified = match result {
        Ok(verified) => verified,
        Err(failure) => without_verdict(failure, loaded),
    };
    verified.report.time_s = begin.elapsed().as_secs_f64();
    verified.report.peak_memory_mb = peak_memory_mb();
    verified
}

fn run(
    request: &Request,
    cancel: &CancelFlag,
    observer: &mut dyn Observer,
    begin: Instant,
    loaded: &mut Loaded,
) -> Result<Verified, Failure> {
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
    let task = Task::load_any(&request.task, &budget, loaded);
    request.outputs.check_inputs(loaded.inputs.iter().map(|input| input.path.as_path()))?;
    if let Err(Failure::Problems(problems)) = &task {
        request.outputs.check_problems(problems)?;
    }
    let task = task?;
    let mut times = Times { load: begin.elapsed().as_secs_f64(), ..Times::default() };

    let asks_probability = probability::is_asked(&task, request.engine, &request.probability)?;
    if request.engine == EngineChoice::Auto {
        let engine = if asks_probability { EngineChoice::Prob } else { EngineChoice::Auto };
        engine_options::check_engine(request, engine)?;
    }
    if asks_probability {
        remarks::refuse_probability(&task, request.engine)?;
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
        return probability(&task, &run, observer, times);
    }
    let path = request.record_queries.as_deref();
    let mut log = path.map(|path| QueryLog::create(path, &task)).transpose()?;
    let engines_begin = Instant::now();
    let mut notes = Notes { inner: observer, notes: Vec::new() };
    let limits = &request.limits;
    let Request { explicit, cegar, bmc, threads, .. } = *request;
    let assignment = Assignment {
        task: &task,
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
    let mut unwritten = None;
    match log.map(QueryLog::finish) {
        Some(Ok(count)) => {
            notes.push(format!("queries about the policy that were recorded: {count}"));
        }
        Some(Err(failure)) => unwritten = Some(failure),
        None => {}
    }
    times.engines = engines_begin.elapsed().as_secs_f64();

    let replay_begin = Instant::now();
    let run = &mut answered.run;
    let evidence = match (&run.verdict, &run.invariant) {
        (Verdict::Unsafe(trace), _) => {
            let evidence = evidence(&task, run, trace)?;
            notes.extend(remarks::chance_note(&task, &evidence));
            Some(evidence)
        }
        (Verdict::Safe { .. }, Some(boxes)) => {
            match invariant_check::check(&task, boxes, limits, begin, cancel) {
                Ok(checked) => {
                    notes.push(checked.note(boxes.len()));
                    Some(Evidence::of_invariant(&task, run.engine, boxes))
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
    let status = ExitStatus::of_verdict(&answered.run.verdict);
    let verdict = answered.run.verdict.clone();
    let starts = answered.run.start_states.as_deref().filter(|_| request.start_states);
    let start_states = starts.map(|starts| StartStatesRecord::new(&task, starts));
    let no_evidence = remarks::no_evidence(&answered.run);
    let mut report = report(&task, answered, notes, times);
    if let Verdict::Safe { vacuous } = verdict {
        let left = limits.time.map(|limit| limit.saturating_sub(begin.elapsed()));
        remarks::say_hollow(&task, vacuous, left, cancel, &mut report);
    }
    if request.start_states && start_states.is_none() {
        let why = "the abstraction is not complete";
        report.warnings.push(format!("nothing is written about start states: {why}"));
    }
    report.warnings.extend(unwritten.iter().map(|failure| format!("not written: {failure}")));
    Ok(Verified { report, evidence, start_states, no_evidence, failure: None, unwritten, status })
}

/// Answers a question about a probability.
fn probability(
    task: &Task,
    run: &probability::Run<'_>,
    observer: &mut dyn Observer,
    mut times: Times,
) -> Result<Verified, Failure> {
    let begin = Instant::now();
    let mut notes = Notes { inner: observer, notes: Vec::new() };
    let (mut report, status, evidence, no_evidence) = probability::answer(task, run, &mut notes)?;
    times.engines = begin.elapsed().as_secs_f64();
    if let Some(statistics) = &mut report.statistics {
        statistics.times_s = times;
    }
    report.warnings.splice(0..0, task.warnings.iter().cloned());
    report.notes.extend(task.notes.iter().cloned().chain(notes.notes));
    report.inputs.clone_from(&task.inputs);
    let is_zero = report.probability.as_ref().is_some_and(|[_, hi]| hi == "0");
    let is_good = [VerdictWord::Safe, VerdictWord::Probability].contains(&report.verdict);
    if is_zero && is_good || report.vacuous {
        remarks::say_hollow(task, report.vacuous, run.left().time, run.cancel, &mut report);
    }
    Ok(Verified {
        report,
        evidence,
        start_states: None,
        no_evidence,
        failure: None,
        unwritten: None,
        status,
    })
}

/// Replays a trace and writes it down.
fn evidence(task: &Task, run: &EngineRun, trace: &Trace) -> Result<Evidence, Failure> {
    match policert_certify::replay(&task.question(), task.policy.as_ref(), trace) {
        Ok(replayed) => Ok(Evidence::new(task, run.engine, trace, replayed.end)),
        Err(error) => Err(Failure::Internal(format!(
            "the counterexample of engine {} does not replay: {error}",
            run.engine
        ))),
    }
}

fn report(task: &Task, answered: Answered, engine_notes: Vec<String>, times: Times) -> Report {
    let Answered { run, attempts } = answered;
    let steps = match &run.verdict {
        Verdict::Unsafe(trace) => Some(trace.steps.len()),
        _ => None,
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
    let vacuous = matches!(run.verdict, Verdict::Safe { vacuous: true });
    let mut warnings = task.warnings.clone();
    warnings.extend(run.warnings);
    let mut notes = task.notes.clone();
    notes.extend(run.notes);
    for note in engine_notes {
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    let (reason, reason_code) = match &run.verdict {
        Verdict::Unknown(reason) => {
            (Some(reason.to_string()), Some(ReasonCode::of_unknown(reason)))
        }
        _ => (None, None),
    };
    Report {
        verdict: VerdictWord::from(&run.verdict),
        vacuous,
        reason,
        reason_code,
        exit_code: ExitStatus::of_verdict(&run.verdict).code(),
        property: Some(task.property.name.clone()),
        engine: Some(run.engine.to_owned()),
        preset: run.preset,
        attempts,
        semantics: Some(task.semantics.clone()),
        statistics: Some(statistics),
        warnings,
        notes,
        inputs: task.inputs.clone(),
        ..Report::empty()
    }
}

/// The report of a run that ended without verdict.
fn without_verdict(failure: Failure, loaded: Loaded) -> Verified {
    let status = failure.status();
    let (verdict, code) = match (&failure, status) {
        (Failure::Stopped(reason), _) => {
            (VerdictWord::Unknown, ReasonCode::of_unknown(&UnknownReason::Stopped(*reason)))
        }
        (_, ExitStatus::Invalid) => (VerdictWord::Invalid, ReasonCode::Invalid),
        (_, ExitStatus::Unsupported) => (VerdictWord::Unsupported, ReasonCode::Unsupported),
        (_, ExitStatus::Usage) => (VerdictWord::Error, ReasonCode::Usage),
        _ => (VerdictWord::Error, ReasonCode::Internal),
    };
    let report = Report {
        verdict,
        reason: Some(failure.to_string()),
        reason_code: Some(code),
        exit_code: status.code(),
        warnings: loaded.warnings,
        notes: loaded.notes,
        errors: match &failure {
            Failure::Problems(problems) => problems.clone(),
            _ => Vec::new(),
        },
        inputs: loaded.inputs,
        ..Report::empty()
    };
    Verified {
        report,
        evidence: None,
        start_states: None,
        no_evidence: "there is no verdict".to_owned(),
        failure: Some(failure),
        unwritten: None,
        status,
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
