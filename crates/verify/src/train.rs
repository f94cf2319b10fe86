//! `policert train`: a network for a control loop.

mod task_plant;

use std::path::PathBuf;
use std::time::Instant;

use policert_engine_api::{Budget, CancelFlag, Event, Limits, Observer};
use policert_numeric::Rational;
use policert_reach::Task;
use policert_train::{Activation, Cells, Config, Ending, Observation, TrainError, Trained, train};
use serde::Serialize;

use crate::atomic_file::write_file;
use crate::report::SCHEMA_VERSION;
use crate::{ExitStatus, Failure, VERSION, peak_memory_mb};
use task_plant::TaskPlant;

/// What to train, and how.
#[derive(Clone, Debug)]
pub struct TrainRequest {
    /// The task's file. Its controller does not matter, nor whether there is a file for it.
    pub task: PathBuf,
    /// Which of its instances.
    pub instance: Option<String>,
    /// What the network reads.
    pub observation: ObservationChoice,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Widths of the hidden layers.
    pub hidden: Vec<usize>,
    /// What they apply.
    pub activation: HiddenActivation,
    /// What may be used.
    pub limits: Limits,
    /// Where the network goes, an ONNX file.
    pub out: PathBuf,
}

/// What the network reads.
#[derive(Clone, PartialEq, Debug)]
pub enum ObservationChoice {
    /// The cell, of the task's grid.
    CellOfTask,
    /// The cell, of these widths between the first and the last edges of the task's grid; one for
    /// each variable, or one for all.
    CellOfWidth(Vec<Rational>),
    /// The state.
    State,
}

/// What hidden layers apply.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HiddenActivation {
    /// max(x, 0).
    Relu,
    /// The hyperbolic tangent.
    Tanh,
}

/// What `policert train --json` writes.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct TrainReport {
    /// Version of the schema.
    pub schema_version: u32,
    /// Version of the program.
    pub version: String,
    /// The exit code.
    pub exit_code: u8,
    /// Why there is no network that does as asked in every run; `null` if there is.
    pub reason: Option<String>,
    /// The task's name.
    pub task: Option<String>,
    /// The network's file, once it is written.
    pub network: Option<PathBuf>,
    /// The seed.
    pub seed: u64,
    /// Runs of the last evaluation that did as asked.
    pub solved: usize,
    /// All runs of that evaluation.
    pub runs: usize,
    /// Attempts begun.
    pub attempts: u32,
    /// Runs to learn from.
    pub episodes: u64,
    /// Their steps.
    pub steps: u64,
    /// Wall-clock time of the whole run in seconds.
    pub time_s: f64,
    /// Peak resident memory in MB (10⁶ bytes), where the system tells.
    pub peak_memory_mb: Option<f64>,
}

/// What came out.
#[derive(Debug)]
pub struct TrainOutcome {
    /// The result as data.
    pub report: TrainReport,
    /// What is wrong, if something is.
    pub failure: Option<Failure>,
    /// The network's file, if it could not be written.
    pub unwritten: Option<Failure>,
    /// The status that the run ends with: 0 if every run of the last evaluation did as asked, which
    /// is no proof.
    pub status: ExitStatus,
}

/// Trains a network for a task and writes it, also if it does not do as asked in every run.
pub fn train_network(
    request: &TrainRequest,
    cancel: &CancelFlag,
    observer: &mut dyn Observer,
) -> TrainOutcome {
    let begin = Instant::now();
    let mut report = TrainReport {
        schema_version: SCHEMA_VERSION,
        version: VERSION.to_owned(),
        exit_code: 0,
        reason: None,
        task: None,
        network: None,
        seed: request.seed,
        solved: 0,
        runs: 0,
        attempts: 0,
        episodes: 0,
        steps: 0,
        time_s: 0.0,
        peak_memory_mb: None,
    };
    let budget = Budget::new(request.limits.clone(), cancel.clone());
    let (status, failure, unwritten) = match run(request, budget, observer, &mut report) {
        Ok((status, unwritten)) => (status, None, unwritten),
        Err(failure) => {
            report.reason = Some(failure.to_string());
            (failure.status(), Some(failure), None)
        }
    };
    report.exit_code = status.code();
    report.time_s = begin.elapsed().as_secs_f64();
    report.peak_memory_mb = peak_memory_mb();
    TrainOutcome { report, failure, unwritten, status }
}

/// How training ends, and why the network could not be written if it could not.
fn run(
    request: &TrainRequest,
    mut budget: Budget,
    observer: &mut dyn Observer,
    report: &mut TrainReport,
) -> Result<(ExitStatus, Option<Failure>), Failure> {
    budget.cancel_flag().check()?;
    observer.event(Event::Phase("load"));
    let task = Task::read(&request.task, request.instance.as_deref())?;
    report.task = Some(task.name.clone());
    let observation = observation(&task, &request.observation)?;
    let mut plant = TaskPlant::new(&task)?;
    let config = Config {
        seed: request.seed,
        hidden: request.hidden.clone(),
        activation: match request.activation {
            HiddenActivation::Relu => Activation::Relu,
            HiddenActivation::Tanh => Activation::Tanh,
        },
        ..Config::default()
    };
    observer.event(Event::Phase("training"));
    let trained = train(&mut plant, &observation, &config, &mut budget, &mut |progress| {
        observer.event(Event::Training {
            attempt: progress.attempt,
            episode: progress.episode,
            solved: progress.evaluation.solved,
            runs: progress.evaluation.runs,
        });
    })?;
    fill(report, &trained);
    // Of a network that was stopped before anything is known about it there is no file.
    let unwritten = if trained.evaluation.runs > 0 {
        let bytes = trained.actor.to_onnx()?;
        let written = write_file(&request.out, &bytes);
        report.network = written.is_ok().then(|| request.out.clone());
        let what = request.out.display().to_string();
        written.map_err(|source| Failure::Output { what, source }).err()
    } else {
        None
    };
    let (status, reason) = match trained.ending {
        Ending::Solved => (ExitStatus::Safe, None),
        Ending::Exhausted => (ExitStatus::Unknown, Some("all attempts were made".to_owned())),
        Ending::Stopped(reason) => (ExitStatus::of_stop(reason), Some(reason.to_string())),
    };
    report.reason = reason;
    Ok((status, unwritten))
}

fn fill(report: &mut TrainReport, trained: &Trained) {
    report.solved = trained.evaluation.solved;
    report.runs = trained.evaluation.runs;
    report.attempts = trained.attempts;
    report.episodes = trained.episodes;
    report.steps = trained.steps;
}

fn observation(task: &Task, choice: &ObservationChoice) -> Result<Observation, Failure> {
    let grid = || {
        let missing = "the task has no [abstraction] with cells; --plain reads the state";
        task.grid.as_ref().ok_or_else(|| Failure::invalid(missing))
    };
    let axes = match choice {
        ObservationChoice::State => return Ok(Observation::State),
        ObservationChoice::CellOfTask => grid()?.axes().to_vec(),
        ObservationChoice::CellOfWidth(widths) => {
            grid()?.resized(widths).map_err(Failure::Usage)?.axes().to_vec()
        }
    };
    let edges = axes
        .iter()
        .map(|axis| (0..=axis.len()).map(|k| axis.edge(k).exact().to_f64()).collect::<Vec<f64>>());
    Ok(Observation::Cell(Cells::new(edges.collect())?))
}

impl From<TrainError> for Failure {
    fn from(error: TrainError) -> Self {
        match error {
            TrainError::Policy(error) => error.into(),
            TrainError::Engine(error) => error.into(),
            other => Self::invalid(other.to_string()),
        }
    }
}
