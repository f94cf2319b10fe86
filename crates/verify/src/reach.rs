//! `policert reach`: reachable boxes of a control loop.

mod explanation;
mod report;
mod without_effect;

use std::path::PathBuf;
use std::time::Instant;

use policert_engine_api::{Budget, CancelFlag, Event, Limits, Observer};
use policert_numeric::Rational;
use policert_reach::{
    AfterGoal, Config, Controller, GoalRule, Journal, NetworkArithmetic, ReachError, Relations,
    Task, analyse,
};

use crate::digest::{DigestError, Input, InputRole, digests};
use crate::plots::boxes::BoxesPicture;
use crate::plots::{CountsPicture, ImageFormat, save};
use crate::problem::policy_problems;
use crate::{ExitStatus, Failure, OutputFiles, Problem, peak_memory_mb};

use without_effect::refuse_without_effect;

pub use report::{
    BoundRecord, CounterexampleRecord, ObstacleRecord, PathRecord, ReachReport, ReachSemantics,
    ReachStatisticsRecord,
};

/// What to answer, and how.
#[derive(Clone, Debug)]
pub struct ReachRequest {
    /// The task's file.
    pub task: PathBuf,
    /// Which of its instances.
    pub instance: Option<String>,
    /// What it means to reach the goal, instead of what the task says.
    pub goal: Option<GoalRule>,
    /// Whether the unsafe set counts after the goal, instead of what the task says.
    pub after_goal: Option<AfterGoal>,
    /// How networks are evaluated.
    pub arithmetic: NetworkArithmetic,
    /// Whether states between samples count.
    pub between_samples: bool,
    /// How boxes are merged.
    pub aggregation: AggregationChoice,
    /// How often a part that is not verified is halved at most; else until the limits.
    pub refinements: Option<u32>,
    /// Threads.
    pub threads: u16,
    /// What may be used; states are the boxes of one part at one step.
    pub limits: Limits,
    /// File of finished parts, to be continued if it is there.
    pub journal: Option<PathBuf>,
    /// Whether the report has the boxes of every step.
    pub record: bool,
    /// Widths of the cells instead of the task's; one for each variable, or one for all.
    pub granularity: Option<Vec<Rational>>,
    /// A picture of the boxes.
    pub plot: Option<PlotRequest>,
    /// All files that are written, also by the caller; none of them may be an input.
    pub outputs: OutputFiles,
    /// A file for a picture of the number of boxes at each step, SVG or PNG by its ending.
    pub plot_counts: Option<PathBuf>,
}

/// How boxes are merged.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum AggregationChoice {
    /// With the distances of the task, by the relations as meant.
    #[default]
    OfTask,
    /// By the relations as the paper writes them.
    AsWritten,
    /// Not at all.
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

/// A picture of the reachable boxes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlotRequest {
    /// The file, SVG or PNG by its ending.
    pub file: PathBuf,
    /// The variables on the axes of each panel, by name or by position from 1; none means a panel
    /// of the first two that goal and unsafe set are about.
    pub planes: Vec<(String, String)>,
}

/// What came out.
#[derive(Debug)]
pub struct Reached {
    /// The result as data; also of runs without answer.
    pub report: ReachReport,
    /// What is wrong, if something is.
    pub failure: Option<Failure>,
    /// A file that could not be written.
    pub unwritten: Option<Failure>,
    /// The status that the run ends with.
    pub status: ExitStatus,
}

/// Trajectories in a picture.
const PLOTTED_TRAJECTORIES: u32 = 30;

/// Answers the question of a task file.
pub fn reach(request: &ReachRequest, cancel: &CancelFlag, observer: &mut dyn Observer) -> Reached {
    let begin = Instant::now();
    let budget = Budget::new(request.limits.clone(), cancel.clone());
    let mut report = ReachReport::empty();
    let (unwritten, failure) = match run(request, budget, observer, &mut report) {
        Ok(unwritten) => (unwritten, None),
        Err(failure) => (None, Some(failure)),
    };
    report.warnings.extend(unwritten.iter().map(|failure| format!("not written: {failure}")));
    if let Some(failure) = &failure {
        report.set_failure(failure);
    }
    report.time_s = begin.elapsed().as_secs_f64();
    report.peak_memory_mb = peak_memory_mb();
    let status = failure.as_ref().map_or_else(|| report.status, Failure::status);
    Reached { report, failure, unwritten, status }
}

/// Fills the report; the result is a file that could not be written.
fn run(
    request: &ReachRequest,
    budget: Budget,
    observer: &mut dyn Observer,
    report: &mut ReachReport,
) -> Result<Option<Failure>, Failure> {
    budget.cancel_flag().check()?;
    // A name that no picture can have is noticed before the work.
    let format = |file: &PathBuf| ImageFormat::of(file);
    let boxes_format = request.plot.as_ref().map(|plot| format(&plot.file)).transpose()?;
    let counts_format = request.plot_counts.as_ref().map(format).transpose()?;
    observer.event(Event::Phase("load"));
    let mut task = Task::read(&request.task, request.instance.as_deref())?;
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
    report.inputs = inputs(request, &task, &budget)?;
    request.outputs.check_inputs(report.inputs.iter().map(|input| input.path.as_path()))?;
    report.task = Some(task.name.clone());
    report.aggregation = Some(request.aggregation.name());
    let plot = request.plot.as_ref().zip(boxes_format);
    let planes = match plot {
        Some((plot, _)) => planes(&task, &plot.planes)?,
        None => Vec::new(),
    };
    let config = Config {
        threads: usize::from(request.threads),
        refinements: request.refinements,
        arithmetic: request.arithmetic,
        between_samples: request.between_samples,
        record: request.record || plot.is_some(),
        samples: if plot.is_some() { PLOTTED_TRAJECTORIES } else { 0 },
        relations: match request.aggregation {
            AggregationChoice::AsWritten => Relations::AsWritten,
            AggregationChoice::OfTask | AggregationChoice::Nothing => Relations::Meant,
        },
    };
    let mut journal = match &request.journal {
        Some(path) => Some(Journal::open(path, &run_key(request, &task, &report.inputs))?),
        None => None,
    };
    let analysis = analyse(&task, &config, journal.as_mut(), budget, observer)?;
    report.fill(&task, &config, &analysis, request.record);
    let mut written = vec![journal.as_mut().map_or(Ok(()), Journal::finish).map_err(not_written)];
    if let Some((plot, format)) = plot {
        let picture = BoxesPicture::new(&task, &analysis, &planes);
        written.push(save(&picture, format, &plot.file));
    }
    if let Some((file, format)) = request.plot_counts.as_ref().zip(counts_format) {
        let counts = &analysis.statistics.boxes_per_step;
        written.push(save(&CountsPicture::of_run(&task.name, counts), format, file));
    }
    Ok(written.into_iter().find_map(Result::err))
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
    let regions = [&task.avoid, &task.goal];
    let bounded = |i: &usize| {
        let mut sides = regions.iter().filter_map(|r| r.as_ref()).flat_map(|r| r.sides());
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
        other => other.into(),
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
            Failure::Problems(vec![Problem { file: Some(path), ..Problem::invalid(message) }])
        }
    })
}

/// All that the results of parts depend on, besides the version of the program.
fn run_key(request: &ReachRequest, task: &Task, inputs: &[Input]) -> String {
    let files: Vec<&str> = inputs.iter().map(|input| input.sha256.as_str()).collect();
    format!(
        "{} {} {:?} {:?} {} {:?} {:?} {}",
        crate::VERSION,
        task.name,
        task.question,
        request.arithmetic,
        request.between_samples,
        request.aggregation,
        request.granularity,
        files.join(" ")
    )
}

impl From<ReachError> for Failure {
    fn from(error: ReachError) -> Self {
        match error {
            ReachError::Usage(message) => Self::Usage(message),
            ReachError::Stop(reason) => Self::Stopped(reason),
            ReachError::Unsupported(_) => Self::unsupported(error.to_string()),
            ReachError::Policy(error) => Self::Problems(policy_problems(&error)),
            ReachError::Invalid { ref file, line, column, .. } => {
                let file = Some(PathBuf::from(file));
                let problem = Problem::invalid(error.to_string());
                Self::Problems(vec![Problem {
                    file,
                    line: Some(line),
                    column: Some(column),
                    ..problem
                }])
            }
            ReachError::Io { ref file, .. } => {
                let file = Some(PathBuf::from(file));
                Self::Problems(vec![Problem { file, ..Problem::invalid(error.to_string()) }])
            }
            other => Self::invalid(other.to_string()),
        }
    }
}
