//! `policert simulate`: random runs of a policy, how they end, and one of them step by step.

mod record;
mod trace;

use std::time::Instant;

use policert_engine_api::{Budget, CancelFlag, EngineError, Event, Limits, Observer, StopReason};
use policert_explore::{
    Ending, Random, Simulation, SimulationConfig, SimulationStatistics, StartSampler,
};
use policert_model::State;

use crate::{ExitStatus, Failure, Loaded, Task, TaskOptions};
use trace::trace;

pub use record::{EndingRecord, EndingWord, EndingsRecord, LengthRecord, SimulateReport};
pub use trace::{
    SimulatedModel, SimulatedRun, SimulatedStep, SimulatedVariable, TraceRecord, TraceStepRecord,
};

/// What is simulated.
#[derive(Clone, Debug)]
pub struct SimulateRequest {
    /// Model, property and policy; without policy labels are drawn uniformly.
    pub task: TaskOptions,
    /// Number of runs.
    pub runs: u64,
    /// After how many steps a run is cut off.
    pub steps: u32,
    /// Whether runs go on beyond states of the goal.
    pub past_goal: bool,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Which run is told step by step.
    pub trace: Option<TraceChoice>,
    /// What may be used.
    pub limits: Limits,
}

/// Which run is told step by step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TraceChoice {
    /// The first one.
    First,
    /// The first one that ends so.
    Ending(Ending),
}

/// What came out.
#[derive(Debug)]
pub struct SimulateOutcome {
    /// The result as data.
    pub report: SimulateReport,
    /// The model, once it is loaded.
    pub model: Option<SimulatedModel>,
    /// The run that was asked for, if there is one.
    pub run: Option<SimulatedRun>,
    /// What is wrong, if something is.
    pub failure: Option<Failure>,
    /// The status that the run ends with.
    pub status: ExitStatus,
}

/// How many start states are listed; beyond, they are drawn.
const LISTED_STARTS: usize = 1 << 17;

/// Runs a policy at random.
pub fn simulate(
    request: &SimulateRequest,
    cancel: &CancelFlag,
    observer: &mut dyn Observer,
) -> SimulateOutcome {
    let begin = Instant::now();
    let mut report = SimulateReport::new(request);
    let (mut model, mut told) = (None, None);
    let (status, failure) =
        match run(request, cancel, observer, &mut report, (&mut model, &mut told)) {
            Ok(None) => (ExitStatus::Safe, None),
            Ok(Some(reason)) => {
                report.reason = Some(reason.to_string());
                (ExitStatus::of_stop(reason), None)
            }
            Err(failure) => {
                report.reason = Some(failure.to_string());
                (failure.status(), Some(failure))
            }
        };
    report.exit_code = status.code();
    report.time_s = begin.elapsed().as_secs_f64();
    SimulateOutcome { report, model, run: told, failure, status }
}

/// Why it stopped early, if it did: then the runs that ended before count.
fn run(
    request: &SimulateRequest,
    cancel: &CancelFlag,
    observer: &mut dyn Observer,
    report: &mut SimulateReport,
    (model, told): (&mut Option<SimulatedModel>, &mut Option<SimulatedRun>),
) -> Result<Option<StopReason>, Failure> {
    cancel.check()?;
    observer.event(Event::Phase("load"));
    let mut loaded = Loaded::default();
    let mut budget = Budget::new(request.limits.clone(), cancel.clone());
    let task = Task::load(&request.task, &budget, &mut loaded);
    report.warnings = loaded.warnings;
    report.notes = loaded.notes;
    report.inputs = loaded.inputs;
    let task = task?;
    if request.past_goal && task.property.goal.is_none() {
        return Err(Failure::Usage(format!(
            "--past-goal has no effect: property `{}` has no objective with a goal",
            task.property.name
        )));
    }
    *model = Some(SimulatedModel::new(&task.model));
    report.model = Some(task.model.name.clone());
    report.task = Some(task.record.clone());
    report.semantics = Some(task.semantics.clone());
    let question = task.question();
    observer.event(Event::Phase("start states"));
    let starts = match StartSampler::new(&question, LISTED_STARTS, &mut budget) {
        Ok(starts) => starts,
        Err(error) => return stopped(error),
    };
    report.start_states = starts.listed().map(<[State]>::len);
    observer.event(Event::Phase("runs"));
    let config = SimulationConfig { steps: request.steps, past_goal: request.past_goal };
    let mut simulation = Simulation::new(&question, task.policy.as_ref(), config);
    let mut statistics = SimulationStatistics::default();
    let mut random = Random::new(request.seed);
    let mut wanted = request.trace;
    let mut start = State::new();
    let mut end = Ok(None);
    for number in 1..=request.runs {
        // Each run has numbers of its own, whatever happened in those before.
        let mut numbers = random.fork();
        let seed = numbers.state();
        let run = starts
            .draw(&mut start, &mut numbers)
            .and_then(|()| simulation.run(&start, &mut numbers, &mut budget, &mut |_| ()));
        let run = match run {
            Ok(run) => run,
            Err(error) => {
                end = stopped(error);
                break;
            }
        };
        statistics.add(&run);
        let is_wanted = wanted.is_some_and(|choice| match choice {
            TraceChoice::First => true,
            TraceChoice::Ending(ending) => ending == run.ending,
        });
        if is_wanted {
            wanted = None;
            // The same numbers give the same run.
            let mut numbers = Random::new(seed);
            let mut budget = Budget::unlimited();
            starts.draw(&mut start, &mut numbers)?;
            let traced = trace(&task, number, &start, &mut simulation, &mut numbers, &mut budget)?;
            report.trace = Some(TraceRecord::new(&task.model, &traced));
            *told = Some(traced);
        }
    }
    report.add(&statistics);
    end
}

/// A stop is no failure: the runs up to there count.
fn stopped(error: EngineError) -> Result<Option<StopReason>, Failure> {
    match error {
        EngineError::Stop(reason) => Ok(Some(reason)),
        other => Err(other.into()),
    }
}
