//! `policert simulate`: random runs of a policy, how they end, and one of them step by step.

mod record;
mod trace;

use policert_engine_api::{Budget, CancelFlag, Event, Limits, Observer};
use policert_explore::{
    Random, RunEnding, Simulation, SimulationConfig, SimulationStatistics, StartSampler,
};
use policert_model::State;
use policert_outcome::{ExitStatus, Failure, Outcome};
use policert_problem::{Problem, ProblemOptions};

use trace::trace;

pub use record::{EndingRecord, EndingsRecord, LengthRecord, SimulateReport};
pub use trace::{
    SimulatedModel, SimulatedRun, SimulatedStep, SimulatedVariable, TraceRecord, TraceStepRecord,
};

/// Says what is simulated.
#[derive(Clone, Debug)]
pub struct SimulateRequest {
    /// Model, property and policy; without policy labels are drawn uniformly.
    pub problem: ProblemOptions,
    /// Number of runs.
    pub runs: u64,
    /// After how many steps a run is cut off.
    pub steps: u32,
    /// True if runs go on beyond states of the goal.
    pub past_goal: bool,
    /// Seed of all random numbers.
    pub seed: u64,
    /// The run that is told step by step.
    pub trace: Option<TraceChoice>,
    /// The limits of what may be used.
    pub limits: Limits,
}

impl SimulateRequest {
    /// The request with all defaults: 1000 runs of at most 200 steps, with the seed 1.
    #[must_use]
    pub fn new(problem: ProblemOptions) -> Self {
        Self {
            problem,
            runs: 1000,
            steps: 200,
            past_goal: false,
            seed: 1,
            trace: None,
            limits: Limits::default(),
        }
    }
}

/// Says which run is told step by step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TraceChoice {
    /// The first one.
    First,
    /// The first one that ends so.
    Ending(RunEnding),
}

/// The greatest number of start states that are listed; if there are more, they are drawn.
const LISTED_STARTS: usize = 1 << 17;

/// Runs a policy at random. After a stop the runs that ended before count.
pub fn simulate(
    request: &SimulateRequest,
    cancel: &CancelFlag,
    observer: &mut dyn Observer,
) -> Outcome<SimulateReport> {
    let report = SimulateReport {
        seed: request.seed,
        step_limit: request.steps,
        past_goal: request.past_goal,
        ..SimulateReport::default()
    };
    Outcome::of(report, |outcome| match run(request, cancel, observer, outcome) {
        Err(Failure::Stopped(reason)) if outcome.report.model.is_some() => Ok(outcome.stop(reason)),
        result => result,
    })
}

fn run(
    request: &SimulateRequest,
    cancel: &CancelFlag,
    observer: &mut dyn Observer,
    outcome: &mut Outcome<SimulateReport>,
) -> Result<ExitStatus, Failure> {
    cancel.check()?;
    observer.event(Event::Phase("load"));
    let mut budget = Budget::new(request.limits.clone(), cancel.clone());
    let problem = Problem::load(&request.problem, &budget, &mut outcome.remarks)?;
    if request.past_goal && problem.property.goal.is_none() {
        return Err(Failure::Usage(format!(
            "--past-goal has no effect: property `{}` has no objective with a goal",
            problem.property.name
        )));
    }
    let report = &mut outcome.report;
    report.shape = Some(SimulatedModel::new(&problem.model));
    report.model = Some(problem.model.name.clone());
    report.task = Some(problem.record.clone());
    report.semantics = Some(problem.semantics.clone());
    let question = problem.question();
    observer.event(Event::Phase("start states"));
    let starts = StartSampler::new(&question, LISTED_STARTS, &mut budget)?;
    report.start_states = starts.listed().map(<[State]>::len);
    observer.event(Event::Phase("runs"));
    let config = SimulationConfig { steps: request.steps, past_goal: request.past_goal };
    let mut simulation = Simulation::new(&question, problem.policy.as_ref(), config);
    let mut statistics = SimulationStatistics::default();
    let mut random = Random::new(request.seed);
    let mut wanted = request.trace;
    let mut start = State::new();
    let mut end = Ok(ExitStatus::Safe);
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
                end = Err(error.into());
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
            let traced =
                trace(&problem, number, &start, &mut simulation, &mut numbers, &mut budget)?;
            report.trace = Some(TraceRecord::new(&problem.model, &traced));
            report.told = Some(traced);
        }
    }
    report.add(&statistics);
    end
}
