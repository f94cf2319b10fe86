//! `policert dataset`: states and what a policy chooses in them, to learn from.

mod states;
mod table;

use std::path::{Path, PathBuf};

use policert_engine_api::{Budget, CancelFlag, Event, Limits, Observer, StopReason};
use policert_explore::{Random, Rollout, RunStep, StartSampler};
use policert_model::State;
use policert_outcome::{ExitStatus, Failure, Outcome, OutputFiles, write_text};
use policert_policy::{Choice, Filter, Policy};
use policert_problem::{Problem, ProblemOptions};
use serde::Serialize;

use table::Table;

/// Says which states, and where they go.
#[derive(Clone, Debug)]
pub struct DatasetRequest {
    /// Model, property and policy.
    pub problem: ProblemOptions,
    /// Random runs of the policy from start states; all states on them count.
    pub rollouts: u64,
    /// After how many steps a run is cut off.
    pub horizon: u32,
    /// A list of states besides: a CSV file with names of variables in its first line.
    pub states: Option<PathBuf>,
    /// Seed of all random numbers.
    pub seed: u64,
    /// The limits of what may be used.
    pub limits: Limits,
    /// The CSV file that is written.
    pub output: PathBuf,
}

impl DatasetRequest {
    /// The request with all defaults: states of 1000 runs of at most 200 steps, with the seed 1.
    #[must_use]
    pub fn new(problem: ProblemOptions, output: PathBuf) -> Self {
        Self {
            problem,
            rollouts: 1000,
            horizon: 200,
            states: None,
            seed: 1,
            limits: Limits::default(),
            output,
        }
    }
}

/// The report that `policert dataset --json` writes.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct DatasetReport {
    /// Name of the model.
    pub model: Option<String>,
    /// The file, once it is written.
    pub output: Option<PathBuf>,
    /// Runs made.
    pub rollouts: u64,
    /// States in which the policy was asked.
    pub states: u64,
    /// Rows of the table: different inputs of the policy.
    pub rows: usize,
    /// States in which no single label is chosen: they have no row.
    pub without_choice: u64,
    /// By label of the policy: its rows.
    pub rows_by_label: Vec<(String, usize)>,
}

/// The greatest number of start states that are listed; if there are more, they are drawn.
const LISTED_STARTS: usize = 1 << 17;

/// Writes states and decisions of a policy as a table. After a stop it has what was found up to there.
pub fn dataset(
    request: &DatasetRequest,
    cancel: &CancelFlag,
    observer: &mut dyn Observer,
) -> Outcome<DatasetReport> {
    Outcome::of(DatasetReport::default(), |outcome| run(request, cancel, observer, outcome))
}

fn run(
    request: &DatasetRequest,
    cancel: &CancelFlag,
    observer: &mut dyn Observer,
    outcome: &mut Outcome<DatasetReport>,
) -> Result<ExitStatus, Failure> {
    cancel.check()?;
    observer.event(Event::Phase("load"));
    let mut budget = Budget::new(request.limits.clone(), cancel.clone());
    let problem = Problem::load(&request.problem, &budget, &mut outcome.remarks)?;
    OutputFiles::new([("--output", Some(request.output.as_path()))])
        .check_inputs(problem.inputs.iter().map(|input| input.path.as_path()))?;
    let report = &mut outcome.report;
    report.model = Some(problem.model.name.clone());
    let policy = problem.policy.as_ref().ok_or_else(|| {
        let message = "a dataset needs a policy: name one with --interface or --policy";
        Failure::Usage(message.to_owned())
    })?;
    let listed = match &request.states {
        Some(path) => states::read(path, &problem.model)?,
        None => Vec::new(),
    };
    let question = problem.question();
    let mut asking = Asking {
        rollout: Rollout::new(&question, policy.outputs()),
        policy,
        chooser: policy.chooser(),
        table: Table::new(&problem.model, policy),
        inputs: Vec::new(),
    };
    observer.event(Event::Phase("states"));
    let mut random = Random::new(request.seed);
    let mut stopped = None;
    for state in &listed {
        if let Err(reason) = budget.poll() {
            stopped = Some(reason);
            break;
        }
        asking.rollout.enter(state)?;
        asking.ask(report);
    }
    if request.rollouts > 0 && stopped.is_none() {
        let starts = StartSampler::new(&question, LISTED_STARTS, &mut budget)?;
        stopped = asking.run(request, &starts, &mut random, &mut budget, report)?;
    }
    report.rows = asking.table.rows();
    report.rows_by_label = asking.table.rows_by_label();
    let written = write_text(&request.output, asking.table.text());
    report.output = written.is_ok().then(|| request.output.clone());
    // The counts are an answer, too.
    outcome.keep_unwritten(written);
    Ok(stopped.map_or(ExitStatus::Safe, |reason| outcome.stop(reason)))
}

/// The policy, where a run stands, and what was found.
struct Asking<'a> {
    rollout: Rollout<'a>,
    policy: &'a Policy,
    chooser: policert_policy::Chooser<'a>,
    table: Table,
    inputs: Vec<i64>,
}

impl Asking<'_> {
    fn run(
        &mut self,
        request: &DatasetRequest,
        starts: &StartSampler,
        random: &mut Random,
        budget: &mut Budget,
        report: &mut DatasetReport,
    ) -> Result<Option<StopReason>, Failure> {
        let mut start = State::new();
        for _ in 0..request.rollouts {
            // Each run has numbers of its own, whatever happened in those before.
            let mut random = random.fork();
            starts.draw(&mut start, &mut random)?;
            self.rollout.enter(&start)?;
            for _ in 0..request.horizon {
                if let Err(reason) = budget.poll() {
                    return Ok(Some(reason));
                }
                let rollout = &self.rollout;
                if rollout.is_unsafe() || rollout.is_goal() || rollout.is_terminal() {
                    break;
                }
                let output = self.ask(report);
                let step = self.rollout.step(output, &mut random)?;
                if !matches!(step, RunStep::Moved { .. }) {
                    break;
                }
            }
            report.rollouts += 1;
        }
        Ok(None)
    }

    /// Returns what the policy chooses in the current state, and a row for it.
    fn ask(&mut self, report: &mut DatasetReport) -> Option<usize> {
        let state = self.rollout.state();
        self.inputs.clear();
        self.policy.read_inputs(state, &mut self.inputs);
        let choice = self.chooser.choose(&self.inputs, self.rollout.applicable());
        report.states += 1;
        let by_mask = self.policy.semantics().filter == Filter::Applicable;
        match choice {
            Choice::One(output) => {
                // With a filter, the same inputs may have another choice in another state: the
                // first one counts.
                self.table.add(&self.inputs, output, by_mask);
                Some(output)
            }
            Choice::Nothing | Choice::Several(_) | Choice::Undecided { .. } => {
                report.without_choice += 1;
                choice.outputs().first().copied()
            }
        }
    }
}

/// Returns where a problem of a list of states is.
fn problem(path: &Path, line: usize, what: &str) -> Failure {
    Failure::invalid(format!("{}:{line}: {what}", path.display()))
}
