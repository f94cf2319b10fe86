//! `policert train`: a network for a control loop.

mod task_plant;

use std::path::PathBuf;

use policert_engine_api::{Budget, CancelFlag, Event, Limits, Observer};
use policert_numeric::Rational;
use policert_outcome::{ExitStatus, Failure, Outcome, ReasonCode, write_file};
use policert_problem::control_loop;
use policert_reach::Task;
use policert_train::{
    Cells, DdpgConfig, LayerActivation, Observation, TrainError, Trained, TrainingEnding, train,
};
use serde::Serialize;

use task_plant::TaskPlant;

/// Says what to train, and how.
#[derive(Clone, Debug)]
pub struct TrainRequest {
    /// The task's file. Its controller does not matter, nor whether there is a file for it.
    pub task: PathBuf,
    /// The name of the instance in the file.
    pub instance: Option<String>,
    /// The inputs of the network.
    pub observation: ObservationChoice,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Widths of the hidden layers.
    pub hidden: Vec<usize>,
    /// The activation function of the hidden layers.
    pub activation: HiddenActivation,
    /// The limits of what may be used.
    pub limits: Limits,
    /// The file to which the network is written, in ONNX.
    pub out: PathBuf,
}

impl TrainRequest {
    /// The request with all defaults: two hidden layers of 20 with tanh, on the cells of the task, with
    /// the seed 1.
    #[must_use]
    pub fn new(task: PathBuf, out: PathBuf) -> Self {
        Self {
            task,
            instance: None,
            observation: ObservationChoice::CellOfTask,
            seed: 1,
            hidden: vec![20, 20],
            activation: HiddenActivation::Tanh,
            limits: Limits::default(),
            out,
        }
    }
}

/// Says what the network reads.
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

/// Says what hidden layers apply.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum HiddenActivation {
    /// max(x, 0).
    Relu,
    /// The hyperbolic tangent.
    Tanh,
}

/// The report that `policert train --json` writes.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct TrainReport {
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
}

/// Trains a network for a task and writes it, also if it does not do as asked in every run. The status
/// is [`ExitStatus::Safe`] if every run of the last evaluation did as asked, which is no proof.
pub fn train_network(
    request: &TrainRequest,
    cancel: &CancelFlag,
    observer: &mut dyn Observer,
) -> Outcome<TrainReport> {
    let report = TrainReport { seed: request.seed, ..TrainReport::default() };
    let budget = Budget::new(request.limits.clone(), cancel.clone());
    Outcome::of(report, |outcome| run(request, budget, observer, outcome))
}

fn run(
    request: &TrainRequest,
    mut budget: Budget,
    observer: &mut dyn Observer,
    outcome: &mut Outcome<TrainReport>,
) -> Result<ExitStatus, Failure> {
    budget.cancel_flag().check()?;
    observer.event(Event::Phase("load"));
    let task = control_loop::read(&request.task, request.instance.as_deref())?;
    let report = &mut outcome.report;
    report.task = Some(task.name.clone());
    let observation = observation(&task, &request.observation)?;
    let mut plant = TaskPlant::new(&task)?;
    let config = DdpgConfig {
        seed: request.seed,
        hidden: request.hidden.clone(),
        activation: match request.activation {
            HiddenActivation::Relu => LayerActivation::Relu,
            HiddenActivation::Tanh => LayerActivation::Tanh,
        },
        ..DdpgConfig::default()
    };
    observer.event(Event::Phase("training"));
    let trained = train(&mut plant, &observation, &config, &mut budget, &mut |progress| {
        observer.event(Event::Training {
            attempt: progress.attempt,
            episode: progress.episode,
            solved: progress.evaluation.solved,
            runs: progress.evaluation.runs,
        });
    });
    let trained = trained.map_err(failure)?;
    fill(report, &trained);
    // Of a network that was stopped before anything is known about it there is no file.
    if trained.evaluation.runs > 0 {
        let bytes = trained.actor.to_onnx().map_err(failure)?;
        let written = write_file(&request.out, &bytes);
        report.network = written.is_ok().then(|| request.out.clone());
        let what = request.out.display().to_string();
        outcome.keep_unwritten(written.map_err(|source| Failure::Output { what, source }));
    }
    Ok(match trained.ending {
        TrainingEnding::Solved => ExitStatus::Safe,
        TrainingEnding::Exhausted => {
            outcome.explain(ReasonCode::Other, "all attempts were made");
            ExitStatus::Unknown
        }
        TrainingEnding::Stopped(reason) => outcome.stop(reason),
    })
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
    Ok(Observation::Cell(Cells::new(edges.collect()).map_err(failure)?))
}

/// Turns an error of training into the failure of a run.
pub(crate) fn failure(error: TrainError) -> Failure {
    match error {
        TrainError::Policy(error) => error.into(),
        TrainError::Engine(error) => error.into(),
        TrainError::Setting(what) => Failure::Usage(what),
        other => Failure::invalid(other.to_string()),
    }
}
