//! `policert train` on a model: a network that chooses labels.

mod files;

use std::path::PathBuf;
use std::time::Instant;

use policert_engine_api::{Budget, CancelFlag, EngineError, Event, Limits, Observer};
use policert_explore::StartSampler;
use policert_model::VarId;
use policert_outcome::{ExitStatus, Failure, Input, Outcome, ReasonCode, VERSION};
use policert_policy::Filter;
use policert_policy::interface::{Binding, InputSource, Interface, VariablesOnly};
use policert_problem::{PolicySource, Problem, ProblemOptions};
use policert_train::{
    DqnConfig, DqnEnding, DqnObserver, DqnProgress, DqnTask, Objective, Rewards, TrainError,
    TrainingScore, train_dqn,
};
use serde::Serialize;

use crate::checkpoint::{self, CheckpointFile};
use crate::train;

pub use files::LearntFiles;

/// Says what to train, and how.
#[derive(Clone, Debug)]
pub struct LearnRequest {
    /// Model and property, which has an objective with a goal. Its policy does not matter.
    pub problem: ProblemOptions,
    /// The interface file, which says what the network reads and chooses; else it is the
    /// property's, else all variables and all labels.
    pub interface: Option<PathBuf>,
    /// The labels that compete; else those that the interface says, else all.
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
    /// The limits of what may be used.
    pub limits: Limits,
    /// The files that are written; else those beside the interface, which names the network.
    pub out: Option<LearntFiles>,
    /// The file to which the state of training is written, so that it can be continued.
    pub checkpoint: Option<PathBuf>,
    /// The file from which training is continued.
    pub resume: Option<PathBuf>,
}

/// Says how a network does in random runs.
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

impl From<&TrainingScore> for RunsRecord {
    fn from(score: &TrainingScore) -> Self {
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

/// The report that `policert train MODEL --json` writes.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct LearnReport {
    /// Name of the model, and of the property.
    pub task: Option<(String, String)>,
    /// The files that were written.
    pub files: Vec<PathBuf>,
    /// The seed of the network that was kept.
    pub seed: u64,
    /// The results of that network, in runs other than those that chose it.
    pub score: RunsRecord,
    /// Number of start states; `null` if there are too many to list.
    pub start_states: Option<usize>,
    /// Steps in the model, over all seeds.
    pub steps: u64,
    /// Steps of learning, over all seeds.
    pub updates: u64,
    /// Wall-clock time of training in seconds.
    pub training_s: f64,
}

/// The greatest number of start states that are listed; if there are more, they are drawn.
const LISTED_STARTS: usize = 1 << 17;

/// Trains a network that chooses labels and writes it, also if it is not competent. The status is
/// [`ExitStatus::Safe`] if it is competent, which is no proof.
pub fn learn_policy(
    request: &LearnRequest,
    cancel: &CancelFlag,
    observer: &mut dyn Observer,
) -> Outcome<LearnReport> {
    let report = LearnReport { seed: request.config.seed, ..LearnReport::default() };
    let budget = Budget::new(request.limits.clone(), cancel.clone());
    Outcome::of(report, |outcome| run(request, budget, observer, outcome))
}

fn run(
    request: &LearnRequest,
    mut budget: Budget,
    observer: &mut dyn Observer,
    outcome: &mut Outcome<LearnReport>,
) -> Result<ExitStatus, Failure> {
    budget.cancel_flag().check()?;
    observer.event(Event::Phase("load"));
    let options = ProblemOptions { policy: PolicySource::None, ..request.problem.clone() };
    let mut problem = Problem::load(&options, &budget, &mut outcome.remarks)?;
    let (report, warnings) = (&mut outcome.report, &mut outcome.remarks.warnings);
    report.task = Some((problem.model.name.clone(), problem.property.name.clone()));
    if problem.property.goal.is_none() {
        return Err(Failure::invalid(format!(
            "{}: property `{}` has no objective with a goal: there is nothing to train for",
            property_file(&problem),
            problem.property.name
        )));
    }
    let rewards = rewards(request, &problem)?;
    let (interface, binding, path) = interface(request, &problem)?;
    warnings.extend(interface.warnings.iter().cloned());
    if !binding.never.is_empty() {
        problem.model = problem.model.clone().without_labels(&binding.never);
    }
    let property = &problem.property;
    let out = match &request.out {
        Some(out) => out.clone(),
        None => LearntFiles::beside(&interface, path.as_deref(), &request.problem.model)?,
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
        warnings.push(format!(
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
        potential: problem.rewards.potential.clone(),
        step_reward: problem.rewards.step_reward.clone(),
    };
    config.check().map_err(train::failure)?;
    observer.event(Event::Phase("start states"));
    let question = problem.question();
    let starts = StartSampler::new(&question, LISTED_STARTS, &mut budget)
        .map_err(|error| start_failure(error, &problem))?;
    report.start_states = starts.listed().map(<[_]>::len);
    let fingerprint = fingerprint(request, &problem.inputs);
    let resumed = request.resume.as_deref().map(checkpoint::read).transpose()?;
    observer.event(Event::Phase("training"));
    let begin = Instant::now();
    let checkpoint = CheckpointFile::new(request.checkpoint.as_deref());
    let mut events = Events { observer, checkpoint };
    let dqn = DqnTask {
        question: &question,
        objective: &objective,
        starts: &starts,
        fingerprint: &fingerprint,
    };
    let trained = train_dqn(dqn, &config, resumed.as_deref(), &mut budget, &mut events)
        .map_err(|error| checkpoint::failure(error, request.resume.as_deref()))?;
    report.training_s = begin.elapsed().as_secs_f64();
    report.seed = trained.seed;
    report.score = RunsRecord::from(&trained.score);
    report.steps = trained.steps;
    report.updates = trained.updates;
    // Of a network that was stopped before it learnt anything there are no files.
    let unwritten = events.checkpoint.unwritten.take();
    if trained.steps > 0 {
        let written =
            files::write(&out, &problem, (&interface, &objective), &config, &trained, report)?;
        outcome.keep_unwritten(written);
    }
    outcome.keep_unwritten(unwritten.map_or(Ok(()), Err));
    Ok(match trained.ending {
        DqnEnding::Stopped(reason) => outcome.stop(reason),
        DqnEnding::Done if trained.score.success() < config.competent => {
            let reason = "all steps were made, and the network is not competent";
            outcome.explain(ReasonCode::Other, reason);
            ExitStatus::Unknown
        }
        DqnEnding::Done => ExitStatus::Safe,
    })
}

/// Returns what is rewarded.
///
/// # Errors
/// The weight of something that the objective does not have.
fn rewards(request: &LearnRequest, problem: &Problem) -> Result<Rewards, Failure> {
    let weights = [
        (request.potential, problem.rewards.potential.is_some(), "--potential", "goal-potential"),
        (request.step_cost, problem.rewards.step_reward.is_some(), "--step-cost", "step-reward"),
    ];
    if let Some((.., option, key)) = weights.iter().find(|(weight, is, ..)| weight.is_some() && !is)
    {
        return Err(Failure::Usage(format!(
            "{option} has no effect: the objective of property `{}` has no `{key}`",
            problem.property.name
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
fn property_file(problem: &Problem) -> &str {
    problem.record.property_file.as_deref().unwrap_or(&problem.record.model)
}

/// The interface, what its names mean in the model, and its file if there is one.
fn interface(
    request: &LearnRequest,
    problem: &Problem,
) -> Result<(Interface, Binding, Option<PathBuf>), Failure> {
    let of_property = problem.property.interface.as_deref().filter(|path| path.exists());
    let of_property = of_property.filter(|path| {
        path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("jani2nnet"))
    });
    if let Some(path) = request.interface.as_deref().or(of_property) {
        let interface = Interface::read(path)?;
        let binding = interface.bind_names(&problem.model, &VariablesOnly)?;
        if binding.inputs.is_empty() || binding.outputs.is_empty() {
            let message = "the interface lists no inputs or no outputs: there is nothing to train";
            return Err(Failure::invalid(format!("{}: {message}", path.display())));
        }
        if binding.variables().is_none() || !interface.groups.is_empty() {
            let message = "a network can be trained for a list of variables only: the interface \
                           computes inputs, or names the inputs of a graph";
            return Err(Failure::unsupported(format!(
                "unsupported: {}: {message}",
                path.display()
            )));
        }
        return Ok((interface, binding, Some(path.to_owned())));
    }
    let model = &problem.model;
    let outputs = model.operator_labels();
    if outputs.is_empty() {
        let file = &problem.record.model;
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
fn fingerprint(request: &LearnRequest, inputs: &[Input]) -> String {
    let digests: Vec<&str> = inputs.iter().map(|input| input.sha256.as_str()).collect();
    let ProblemOptions { property, constants, domain, terminal, initial_states, .. } =
        &request.problem;
    let rules = (constants, domain, terminal, initial_states);
    format!("{VERSION} {digests:?} {property:?} {rules:?}")
}

fn start_failure(error: EngineError, problem: &Problem) -> Failure {
    match error {
        EngineError::Unsupported(what) => {
            Failure::unsupported(format!("{}: unsupported: {what}", property_file(problem)))
        }
        other => other.into(),
    }
}

/// Passes on what training tells.
struct Events<'a> {
    observer: &'a mut dyn Observer,
    checkpoint: CheckpointFile<'a>,
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
        self.checkpoint.is_wanted()
    }

    fn checkpoint(&mut self, bytes: Vec<u8>) -> Result<(), TrainError> {
        self.checkpoint.write(&bytes);
        Ok(())
    }
}
