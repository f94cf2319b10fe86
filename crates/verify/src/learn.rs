//! `policert train` on a model: a network that chooses labels.

mod files;

use std::path::{Path, PathBuf};
use std::time::Instant;

use policert_engine_api::{Budget, CancelFlag, EngineError, Event, Limits, Observer};
use policert_explore::StartSampler;
use policert_model::VarId;
use policert_policy::Filter;
use policert_policy::interface::{Binding, InputSource, Interface};
use policert_train::{
    DqnConfig, DqnEnding, DqnObserver, DqnProgress, DqnTask, DqnTrained, Objective, Rewards, Score,
    TrainError, train_dqn,
};
use serde::Serialize;

use crate::atomic_file::write_file;
use crate::report::SCHEMA_VERSION;
use crate::{
    ExitStatus, Failure, Input, Loaded, PolicyChoice, Task, TaskOptions, VERSION, peak_memory_mb,
};

pub use files::LearntFiles;

/// What to train, and how.
#[derive(Clone, Debug)]
pub struct LearnRequest {
    /// Model and property, which has an objective with a goal. Its policy does not matter.
    pub task: TaskOptions,
    /// What the network reads and chooses; else the property's interface, else all variables and
    /// all labels.
    pub interface: Option<PathBuf>,
    /// Which labels compete; else what the interface says, else all.
    pub filter: Option<Filter>,
    /// Parameters; whether labels are masked follows from the filter, and what has a
    /// field of its own here counts only without it.
    pub config: DqnConfig,
    /// Widths of the hidden layers; else what the interface says, else those of `config`.
    pub hidden: Option<Vec<usize>>,
    /// Weight of the objective's goal potential; else that of `config`.
    pub potential: Option<f64>,
    /// Weight of the objective's step reward; else that of `config`.
    pub step_cost: Option<f64>,
    /// What may be used.
    pub limits: Limits,
    /// The files that are written; else those beside the interface, which names the network.
    pub out: Option<LearntFiles>,
    /// Where to write what training can be continued from.
    pub checkpoint: Option<PathBuf>,
    /// Where to continue from.
    pub resume: Option<PathBuf>,
}

/// How a network does in random runs.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct RunsRecord {
    /// Runs.
    pub runs: u32,
    /// Share that reaches the goal, and no unsafe state before.
    pub success_rate: f64,
    /// Share that reaches an unsafe state before the goal.
    pub unsafe_rate: f64,
    /// Share that ends elsewhere: the label that was chosen is not applicable, or nothing can
    /// happen.
    pub stuck_rate: f64,
    /// Share that is cut off.
    pub cut_off_rate: f64,
    /// Mean sum of rewards, not discounted and without potential.
    pub mean_return: f64,
    /// Mean number of the policy's choices.
    pub mean_choices: f64,
}

impl From<&Score> for RunsRecord {
    fn from(score: &Score) -> Self {
        let share = |count: u32| f64::from(count) / f64::from(score.runs.max(1));
        Self {
            runs: score.runs,
            success_rate: score.success(),
            unsafe_rate: share(score.unsafe_runs),
            stuck_rate: share(score.stuck),
            cut_off_rate: share(score.cut_off),
            mean_return: score.mean_return,
            mean_choices: score.mean_choices,
        }
    }
}

/// What `policert train MODEL --json` writes.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct LearnReport {
    /// Version of the schema.
    pub schema_version: u32,
    /// Version of the program.
    pub version: String,
    /// The exit code.
    pub exit_code: u8,
    /// Why there is no competent network; `null` if there is.
    pub reason: Option<String>,
    /// Name of the model, and of the property.
    pub task: Option<(String, String)>,
    /// The files that were written.
    pub files: Vec<PathBuf>,
    /// The seed of the network that was kept.
    pub seed: u64,
    /// How that network does, in runs other than those that chose it.
    pub score: RunsRecord,
    /// Number of start states; `null` if there are too many to list.
    pub start_states: Option<usize>,
    /// Steps in the model, over all seeds.
    pub steps: u64,
    /// Steps of learning, over all seeds.
    pub updates: u64,
    /// What to know about the inputs.
    pub warnings: Vec<String>,
    /// The files that were read.
    pub inputs: Vec<Input>,
    /// Wall-clock time of the whole run in seconds.
    pub time_s: f64,
    /// Wall-clock time of training in seconds.
    pub training_s: f64,
    /// Peak resident memory in MB (10⁶ bytes), where the system tells.
    pub peak_memory_mb: Option<f64>,
}

/// What came out.
#[derive(Debug)]
pub struct LearnOutcome {
    /// The result as data.
    pub report: LearnReport,
    /// What is wrong, if something is.
    pub failure: Option<Failure>,
    /// A file that could not be written.
    pub unwritten: Option<Failure>,
    /// The status that the run ends with: 0 if the network is competent, which is no proof.
    pub status: ExitStatus,
}

/// How many start states are listed; beyond, they are drawn.
const LISTED_STARTS: usize = 1 << 17;

/// Trains a network that chooses labels and writes it, also if it is not competent.
pub fn learn_policy(
    request: &LearnRequest,
    cancel: &CancelFlag,
    observer: &mut dyn Observer,
) -> LearnOutcome {
    let begin = Instant::now();
    let mut report = LearnReport {
        schema_version: SCHEMA_VERSION,
        version: VERSION.to_owned(),
        exit_code: 0,
        reason: None,
        task: None,
        files: Vec::new(),
        seed: request.config.seed,
        score: RunsRecord::default(),
        start_states: None,
        steps: 0,
        updates: 0,
        warnings: Vec::new(),
        inputs: Vec::new(),
        time_s: 0.0,
        training_s: 0.0,
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
    LearnOutcome { report, failure, unwritten, status }
}

/// How training ends, and which file could not be written if one could not.
fn run(
    request: &LearnRequest,
    mut budget: Budget,
    observer: &mut dyn Observer,
    report: &mut LearnReport,
) -> Result<(ExitStatus, Option<Failure>), Failure> {
    budget.cancel_flag().check()?;
    observer.event(Event::Phase("load"));
    let mut task = load(request, &budget, report)?;
    report.task = Some((task.model.name.clone(), task.property.name.clone()));
    if task.property.goal.is_none() {
        return Err(Failure::invalid(format!(
            "{}: property `{}` has no objective with a goal: there is nothing to train for",
            property_file(&task),
            task.property.name
        )));
    }
    let rewards = rewards(request, &task)?;
    let (interface, binding, path) = interface(request, &task)?;
    report.warnings.extend(interface.warnings.iter().cloned());
    if !binding.never.is_empty() {
        task.model = task.model.clone().without_labels(&binding.never);
    }
    let property = &task.property;
    let out = match &request.out {
        Some(out) => out.clone(),
        None => LearntFiles::beside(&interface, path.as_deref(), &request.task.model)?,
    };
    let hidden = match (&request.hidden, &interface.elements, &out.interface) {
        (Some(hidden), Some(elements), None) if hidden != elements => {
            return Err(Failure::Usage(format!(
                "--hidden {hidden:?}: the interface says {elements:?}; --out NAME writes another one"
            )));
        }
        (Some(hidden), ..) => hidden.clone(),
        (None, Some(elements), _) => elements.clone(),
        (None, None, _) => request.config.hidden.clone(),
    };
    if let Some(missing) = property.interface.as_deref().filter(|path| !path.exists())
        && request.interface.is_none()
    {
        report.warnings.push(format!(
            "the interface that the property names is missing ({}): the network reads all \
             variables and chooses among all labels",
            missing.display()
        ));
    }
    let filter = request.filter.or(interface.filter).unwrap_or_default();
    let mask = filter == Filter::Applicable;
    let config = DqnConfig { mask, hidden, rewards, ..request.config.clone() };
    let objective = Objective {
        inputs: binding.variables().unwrap_or_default(),
        outputs: binding.outputs,
        potential: task.rewards.potential.clone(),
        step_reward: task.rewards.step_reward.clone(),
    };
    config.check()?;
    observer.event(Event::Phase("start states"));
    let question = task.question();
    let starts = StartSampler::new(&question, LISTED_STARTS, &mut budget)
        .map_err(|error| start_failure(error, &task))?;
    report.start_states = starts.listed().map(<[_]>::len);
    let fingerprint = fingerprint(request, report);
    let resumed = request.resume.as_deref().map(read_checkpoint).transpose()?;
    observer.event(Event::Phase("training"));
    let begin = Instant::now();
    let checkpoint = request.checkpoint.as_deref();
    let mut events = Events { observer, checkpoint, unwritten: None };
    let dqn = DqnTask {
        question: &question,
        objective: &objective,
        starts: &starts,
        fingerprint: &fingerprint,
    };
    let trained = train_dqn(dqn, &config, resumed.as_deref(), &mut budget, &mut events)
        .map_err(|error| train_failure(error, request))?;
    report.training_s = begin.elapsed().as_secs_f64();
    report.seed = trained.seed;
    report.score = RunsRecord::from(&trained.score);
    report.steps = trained.steps;
    report.updates = trained.updates;
    // Of a network that was stopped before it learnt anything there are no files.
    let unwritten = if trained.steps > 0 {
        files::write(&out, &task, (&interface, &objective), &config, &trained, report)?
    } else {
        None
    };
    let unwritten = unwritten.or_else(|| events.unwritten.take());
    let (status, reason) = end(&trained, &config);
    report.reason = reason;
    Ok((status, unwritten))
}

/// The status, and why the network is not as wanted if it is not.
fn end(trained: &DqnTrained, config: &DqnConfig) -> (ExitStatus, Option<String>) {
    match trained.ending {
        DqnEnding::Stopped(reason) => (ExitStatus::of_stop(reason), Some(reason.to_string())),
        DqnEnding::Done if trained.score.success() < config.competent => {
            let reason = "all steps were made, and the network is not competent";
            (ExitStatus::Unknown, Some(reason.to_owned()))
        }
        DqnEnding::Done => (ExitStatus::Safe, None),
    }
}

fn load(
    request: &LearnRequest,
    budget: &Budget,
    report: &mut LearnReport,
) -> Result<Task, Failure> {
    let options = TaskOptions { policy: PolicyChoice::None, ..request.task.clone() };
    let mut loaded = Loaded::default();
    let task = Task::load(&options, budget, &mut loaded);
    report.warnings = loaded.warnings;
    report.inputs = loaded.inputs;
    task
}

/// What is rewarded.
///
/// # Errors
/// The weight of something that the objective does not have.
fn rewards(request: &LearnRequest, task: &Task) -> Result<Rewards, Failure> {
    let weights = [
        (request.potential, task.rewards.potential.is_some(), "--potential", "goal-potential"),
        (request.step_cost, task.rewards.step_reward.is_some(), "--step-cost", "step-reward"),
    ];
    if let Some((.., option, key)) = weights.iter().find(|(weight, is, ..)| weight.is_some() && !is)
    {
        return Err(Failure::Usage(format!(
            "{option} has no effect: the objective of property `{}` has no `{key}`",
            task.property.name
        )));
    }
    let rewards = &request.config.rewards;
    Ok(Rewards {
        potential: request.potential.unwrap_or(rewards.potential),
        step_cost: request.step_cost.unwrap_or(rewards.step_cost),
        ..rewards.clone()
    })
}

/// The file in which the property is.
fn property_file(task: &Task) -> &str {
    task.record.property_file.as_deref().unwrap_or(&task.record.model)
}

/// The interface, what its names mean in the model, and its file if there is one.
fn interface(
    request: &LearnRequest,
    task: &Task,
) -> Result<(Interface, Binding, Option<PathBuf>), Failure> {
    let of_property = task.property.interface.as_deref().filter(|path| path.exists());
    let of_property = of_property.filter(|path| {
        path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("jani2nnet"))
    });
    if let Some(path) = request.interface.as_deref().or(of_property) {
        let interface = Interface::read(path)?;
        let binding = interface.bind_names(&task.model)?;
        if binding.inputs.is_empty() || binding.outputs.is_empty() {
            let message = "the interface lists no inputs or no outputs: there is nothing to train";
            return Err(Failure::invalid(format!("{}: {message}", path.display())));
        }
        return Ok((interface, binding, Some(path.to_owned())));
    }
    let model = &task.model;
    let outputs = model.operator_labels();
    if outputs.is_empty() {
        let file = &task.record.model;
        let message = "the model has no labels: there is nothing to choose from";
        return Err(Failure::invalid(format!("{file}: {message}")));
    }
    // Whatever never changes says nothing.
    let variables = model.variables.iter().enumerate().filter(|(_, v)| !v.domain.is_point());
    let inputs: Vec<VarId> = variables.map(|(i, _)| VarId::new(i)).collect();
    let names = outputs.iter().map(|&label| model.label_name(Some(label)).to_owned()).collect();
    let interface = Interface::of(model, &inputs, names).map_err(|name| {
        Failure::unsupported(format!("unsupported: interfaces cannot name variable `{name}`"))
    })?;
    let inputs = inputs.into_iter().map(InputSource::Variable).collect();
    Ok((interface, Binding { inputs, outputs, never: Vec::new() }, None))
}

/// Names what training depends on beside its parameters.
fn fingerprint(request: &LearnRequest, report: &LearnReport) -> String {
    let digests: Vec<&str> = report.inputs.iter().map(|input| input.sha256.as_str()).collect();
    let TaskOptions { property, constants, domain, terminal, initial_states, .. } = &request.task;
    let rules = (constants, domain, terminal, initial_states);
    format!("{VERSION} {digests:?} {property:?} {rules:?}")
}

fn read_checkpoint(path: &Path) -> Result<Vec<u8>, Failure> {
    policert_files::read(path)
        .map_err(|error| Failure::invalid(format!("--resume {}: {error}", path.display())))
}

fn start_failure(error: EngineError, task: &Task) -> Failure {
    match error {
        EngineError::Unsupported(what) => {
            Failure::unsupported(format!("{}: unsupported: {what}", property_file(task)))
        }
        other => other.into(),
    }
}

fn train_failure(error: TrainError, request: &LearnRequest) -> Failure {
    match (error, &request.resume) {
        (TrainError::Checkpoint(what), Some(path)) => {
            Failure::invalid(format!("--resume {}: {what}", path.display()))
        }
        (error, _) => error.into(),
    }
}

/// Passes on what training tells.
struct Events<'a> {
    observer: &'a mut dyn Observer,
    checkpoint: Option<&'a Path>,
    /// Why the last checkpoint is missing, if it is: training goes on without.
    unwritten: Option<Failure>,
}

impl DqnObserver for Events<'_> {
    fn progress(&mut self, progress: &DqnProgress) {
        let score = &progress.score;
        self.observer.event(Event::Learning {
            seed: progress.seed,
            step: progress.step,
            mean_return: score.mean_return,
            goal: score.goal,
            unsafe_runs: score.unsafe_runs,
            runs: score.runs,
        });
    }

    fn wants_checkpoints(&self) -> bool {
        self.checkpoint.is_some()
    }

    fn checkpoint(&mut self, bytes: Vec<u8>) -> Result<(), TrainError> {
        let Some(path) = self.checkpoint else { return Ok(()) };
        let what = || format!("--checkpoint {}", path.display());
        let written = write_file(path, &bytes);
        self.unwritten = written.err().map(|source| Failure::Output { what: what(), source });
        Ok(())
    }
}
