//! `policert reach`: reachable boxes of a control loop.

mod evidence;
mod explanation;
mod picture;
mod report;
mod without_effect;

use std::path::PathBuf;

use policert_engine_api::{Budget, CancelFlag, Event, Limits, Observer};
use policert_numeric::Rational;
use policert_outcome::{
    DigestError, ExitStatus, Failure, Finding, Input, InputRole, Outcome, OutputFiles, VERSION,
    VerdictWord, digests,
};
use policert_problem::control_loop::{failure, read};
use policert_reach::{
    Controller, LoopAnalysis, LoopRegion, ReachConfig, ReachError, ReachJournal, Relations, Task,
    analyse,
};

use without_effect::refuse_without_effect;

pub use policert_reach::{
    AfterGoal, Evaluation, GoalRule, InitialRange, NetworkArithmetic, Rounding, StateSetKind,
};

pub use picture::{LoopPicture, RegionPicture};
pub use report::{
    BoundRecord, CounterexampleRecord, ObstacleRecord, PathRecord, PhaseTimesRecord, ReachReport,
    ReachSemantics, ReachStatisticsRecord,
};

/// Says what to answer, and how.
#[derive(Clone, Debug)]
pub struct ReachRequest {
    /// The task's file.
    pub task: PathBuf,
    /// The name of the instance in the file.
    pub instance: Option<String>,
    /// The part of the initial box in which trajectories begin: ranges of variables.
    pub initial: Vec<InitialRange>,
    /// The meaning of reaching the goal, instead of the task's.
    pub goal: Option<GoalRule>,
    /// The rule for the unsafe set after the goal, instead of the task's.
    pub after_goal: Option<AfterGoal>,
    /// The arithmetic in which networks are evaluated.
    pub arithmetic: NetworkArithmetic,
    /// True if states between samples count.
    pub between_samples: bool,
    /// The way in which boxes are merged.
    pub aggregation: AggregationChoice,
    /// What sets of states are made of where the network reads the state.
    pub sets: StateSetKind,
    /// The greatest number of times that a part that is not verified is halved; `None` leaves it to
    /// the limits.
    pub refinements: Option<u32>,
    /// Threads.
    pub threads: u16,
    /// The limits of what may be used; states are the boxes of one part at one step.
    pub limits: Limits,
    /// File of finished parts, to be continued if it is there.
    pub journal: Option<PathBuf>,
    /// True if the report has the boxes of every step.
    pub record: bool,
    /// Widths of the cells instead of the task's; one for each variable, or one for all.
    pub granularity: Option<Vec<Rational>>,
    /// True if evidence of a verdict *safe* is wanted.
    pub evidence: bool,
    /// True if that evidence is to be checked before the verdict is returned.
    pub certify: bool,
    /// The planes of variables in which the boxes will be drawn, if they will: they are kept for that,
    /// with some trajectories.
    pub picture: Option<Vec<(String, String)>>,
    /// All files that are written, also by the caller; none of them may be an input.
    pub outputs: OutputFiles,
}

impl ReachRequest {
    /// The request with all defaults, without limits.
    #[must_use]
    pub fn new(task: PathBuf) -> Self {
        Self {
            task,
            instance: None,
            initial: Vec::new(),
            goal: None,
            after_goal: None,
            arithmetic: NetworkArithmetic::default(),
            between_samples: false,
            aggregation: AggregationChoice::OfTask,
            sets: StateSetKind::Auto,
            refinements: None,
            threads: 1,
            limits: Limits::default(),
            journal: None,
            record: false,
            granularity: None,
            evidence: false,
            certify: false,
            picture: None,
            outputs: OutputFiles::default(),
        }
    }
}

/// Says how boxes are merged.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum AggregationChoice {
    /// With the distances of the task, by the relations as meant.
    #[default]
    #[cfg_attr(feature = "clap", value(name = "task"))]
    OfTask,
    /// By the relations as the paper writes them.
    AsWritten,
    /// Not at all.
    #[cfg_attr(feature = "clap", value(name = "none"))]
    Nothing,
}

impl AggregationChoice {
    /// Its name in results.
    fn name(self) -> &'static str {
        match self {
            Self::OfTask => "task",
            Self::AsWritten => "as-written",
            Self::Nothing => "none",
        }
    }
}

/// Holds what a picture of the reachable boxes shows.
#[derive(Debug)]
pub struct Drawable {
    /// The task as it was answered.
    pub task: Task,
    /// Boxes and trajectories.
    pub analysis: LoopAnalysis,
    /// The variables on the axes of each panel.
    pub planes: Vec<(usize, usize)>,
}

/// Trajectories in a picture.
const PLOTTED_TRAJECTORIES: u32 = 30;

/// Answers the question of a task file.
pub fn reach(
    request: &ReachRequest,
    cancel: &CancelFlag,
    observer: &mut dyn Observer,
) -> Outcome<ReachReport> {
    let budget = Budget::new(request.limits.clone(), cancel.clone());
    let mut outcome =
        Outcome::of(ReachReport::empty(), |outcome| run(request, budget, observer, outcome));
    if let Some(failure) = &outcome.failure {
        outcome.report.verdict = VerdictWord::from(failure);
    }
    outcome
}

fn run(
    request: &ReachRequest,
    budget: Budget,
    observer: &mut dyn Observer,
    outcome: &mut Outcome<ReachReport>,
) -> Result<ExitStatus, Failure> {
    budget.cancel_flag().check()?;
    observer.event(Event::Phase("load"));
    let mut task = read(&request.task, request.instance.as_deref())?;
    for (at, range) in request.initial.iter().enumerate() {
        if request.initial[..at].iter().any(|other| other.variable == range.variable) {
            let message = format!("initial: there are two ranges of {}", range.variable);
            return Err(Failure::Usage(message));
        }
        task.restrict_initial(range).map_err(failure)?;
        outcome.report.initial.push(range.to_string());
    }
    refuse_without_effect(request, &task)?;
    if let Some(goal) = request.goal {
        task.question.goal = goal;
    }
    if let Some(after_goal) = request.after_goal {
        task.question.after_goal = after_goal;
    }
    if request.aggregation == AggregationChoice::Nothing {
        task.aggregation = None;
    }
    if let Some(widths) = &request.granularity {
        let missing = "the task has no cells, so that they cannot have another granularity";
        let grid = task.grid.as_ref().ok_or_else(|| Failure::Usage(missing.to_owned()))?;
        task.grid = Some(grid.resized(widths).map_err(Failure::Usage)?);
    }
    let inputs = inputs(request, &task, &budget)?;
    request.outputs.check_inputs(inputs.iter().map(|input| input.path.as_path()))?;
    let key = run_key(request, &task, &inputs);
    outcome.remarks.inputs = inputs;
    outcome.report.task = Some(task.name.clone());
    outcome.report.aggregation = Some(request.aggregation.name());
    let planes = match &request.picture {
        Some(wanted) => planes(&task, wanted)?,
        None => Vec::new(),
    };
    let config = ReachConfig {
        threads: usize::from(request.threads),
        refinements: request.refinements,
        arithmetic: request.arithmetic,
        between_samples: request.between_samples,
        record: request.record || request.picture.is_some(),
        samples: if request.picture.is_some() || request.record { PLOTTED_TRAJECTORIES } else { 0 },
        relations: match request.aggregation {
            AggregationChoice::AsWritten => Relations::AsWritten,
            AggregationChoice::OfTask | AggregationChoice::Nothing => Relations::Meant,
        },
        sets: request.sets,
    };
    let mut journal = match &request.journal {
        Some(path) => Some(ReachJournal::open(path, &key).map_err(failure)?),
        None => None,
    };
    let analysis =
        analyse(&task, &config, journal.as_mut(), budget.fork(), observer).map_err(failure)?;
    let status = report::fill(outcome, &task, &config, &analysis, request.record);
    outcome
        .keep_unwritten(journal.as_mut().map_or(Ok(()), ReachJournal::finish).map_err(not_written));
    if request.evidence || request.certify {
        observer.event(Event::Phase("certify"));
        evidence::write_down(request, &task, &analysis, budget, outcome)?;
    }
    outcome.report.drawable = Some(Drawable { task, analysis, planes });
    Ok(status)
}

/// The variables on the axes of each panel.
fn planes(task: &Task, wanted: &[(String, String)]) -> Result<Vec<(usize, usize)>, Failure> {
    let find = |name: &String| {
        let position = name.parse::<usize>().ok().filter(|i| (1..=task.dimension()).contains(i));
        let named = task.state.iter().position(|known| known == name);
        named.or(position.map(|i| i - 1)).ok_or_else(|| {
            Failure::Usage(format!("`{name}` is no variable; there are {}", task.state.join(", ")))
        })
    };
    if wanted.is_empty() {
        return Ok(vec![usual_plane(task)]);
    }
    wanted.iter().map(|(x, y)| Ok((find(x)?, find(y)?))).collect()
}

/// The first two variables that goal and unsafe set are about, then the others.
fn usual_plane(task: &Task) -> (usize, usize) {
    let bounded = |i: &usize| {
        let regions = task.avoid.iter().map(|set| &set.region).chain(&task.goal);
        let mut sides = regions.filter_map(LoopRegion::sides).flatten();
        sides.any(|side| side.variable == *i)
    };
    let (mut first, others): (Vec<_>, Vec<_>) = (0..task.dimension()).partition(bounded);
    first.truncate(2);
    first.extend(others);
    let mut plane: Vec<usize> = first.into_iter().take(2).collect();
    plane.sort_unstable();
    (plane.first().copied().unwrap_or(0), plane.last().copied().unwrap_or(0))
}

/// A journal that could not be written is no wrong input.
fn not_written(error: ReachError) -> Failure {
    match error {
        ReachError::Io { file, source } => Failure::Output { what: file, source },
        other => failure(other),
    }
}

/// The files that were read.
fn inputs(request: &ReachRequest, task: &Task, budget: &Budget) -> Result<Vec<Input>, Failure> {
    let mut files = vec![(InputRole::Model, request.task.clone())];
    match &task.controller {
        Controller::CellNetwork(path) | Controller::StateNetwork(path) => {
            files.push((InputRole::Network, path.clone()));
        }
        Controller::CellFormula { .. } => {}
    }
    digests(files, budget).map_err(|(path, error)| match error {
        DigestError::Stop(reason) => Failure::Stopped(reason),
        DigestError::Io(error) => {
            let message = format!("{}: {error}", path.display());
            Failure::Findings(vec![Finding { file: Some(path), ..Finding::invalid(message) }])
        }
    })
}

/// All that the results of parts depend on, besides the version of the program.
fn run_key(request: &ReachRequest, task: &Task, inputs: &[Input]) -> String {
    let files: Vec<&str> = inputs.iter().map(|input| input.sha256.as_str()).collect();
    format!(
        "{} {} {:?} {:?} {:?} {} {:?} {:?} {:?} {}",
        VERSION,
        task.name,
        task.initial,
        task.question,
        request.arithmetic,
        request.between_samples,
        request.aggregation,
        request.sets,
        request.granularity,
        files.join(" ")
    )
}
