//! `policert dataset`: states and what a policy chooses in them, to learn from.

mod states;
mod table;

use std::path::{Path, PathBuf};
use std::time::Instant;

use policert_engine_api::{Budget, CancelFlag, Event, Limits, Observer, StopReason};
use policert_explore::{Random, Rollout, StartSampler, Step};
use policert_model::State;
use policert_policy::{Choice, Filter, Policy};
use serde::Serialize;

use crate::atomic_file::write_text;
use crate::report::SCHEMA_VERSION;
use crate::{ExitStatus, Failure, Input, Loaded, Task, TaskOptions, VERSION};
use table::Table;

/// Which states, and where they go.
#[derive(Clone, Debug)]
pub struct DatasetRequest {
    /// Model, property and policy.
    pub task: TaskOptions,
    /// Random runs of the policy from start states; all states on them count.
    pub rollouts: u64,
    /// After how many steps a run is cut off.
    pub horizon: u32,
    /// A list of states besides: a CSV file with names of variables in its first line.
    pub states: Option<PathBuf>,
    /// Seed of all random numbers.
    pub seed: u64,
    /// What may be used.
    pub limits: Limits,
    /// The CSV file that is written.
    pub output: PathBuf,
}

/// What `policert dataset --json` writes.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct DatasetReport {
    /// Version of the schema.
    pub schema_version: u32,
    /// Version of the program.
    pub version: String,
    /// The exit code.
    pub exit_code: u8,
    /// Why there is no complete table; `null` if there is.
    pub reason: Option<String>,
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
    /// The files that were read.
    pub inputs: Vec<Input>,
    /// Wall-clock time in seconds.
    pub time_s: f64,
}

/// What came out.
#[derive(Debug)]
pub struct DatasetOutcome {
    /// The result as data.
    pub report: DatasetReport,
    /// What is wrong, if something is.
    pub failure: Option<Failure>,
    /// The table, if it could not be written.
    pub unwritten: Option<Failure>,
    /// The status that the run ends with.
    pub status: ExitStatus,
}

/// How many start states are listed; beyond, they are drawn.
const LISTED_STARTS: usize = 1 << 17;

/// Writes states and decisions of a policy as a table.
pub fn dataset(
    request: &DatasetRequest,
    cancel: &CancelFlag,
    observer: &mut dyn Observer,
) -> DatasetOutcome {
    let begin = Instant::now();
    let mut report = DatasetReport {
        schema_version: SCHEMA_VERSION,
        version: VERSION.to_owned(),
        exit_code: 0,
        reason: None,
        model: None,
        output: None,
        rollouts: 0,
        states: 0,
        rows: 0,
        without_choice: 0,
        rows_by_label: Vec::new(),
        inputs: Vec::new(),
        time_s: 0.0,
    };
    let (status, failure, unwritten) = match run(request, cancel, observer, &mut report) {
        Ok((None, unwritten)) => (ExitStatus::Safe, None, unwritten),
        Ok((Some(reason), unwritten)) => {
            report.reason = Some(reason.to_string());
            (ExitStatus::of_stop(reason), None, unwritten)
        }
        Err(failure) => {
            report.reason = Some(failure.to_string());
            (failure.status(), Some(failure), None)
        }
    };
    report.exit_code = status.code();
    report.time_s = begin.elapsed().as_secs_f64();
    DatasetOutcome { report, failure, unwritten, status }
}

/// Why it stopped early, if it did: then the table has what was found up to there. Then why the table
/// could not be written, if it could not.
fn run(
    request: &DatasetRequest,
    cancel: &CancelFlag,
    observer: &mut dyn Observer,
    report: &mut DatasetReport,
) -> Result<(Option<StopReason>, Option<Failure>), Failure> {
    cancel.check()?;
    observer.event(Event::Phase("load"));
    let mut loaded = Loaded::default();
    let mut budget = Budget::new(request.limits.clone(), cancel.clone());
    let task = Task::load(&request.task, &budget, &mut loaded);
    report.inputs = loaded.inputs;
    let task = task?;
    report.model = Some(task.model.name.clone());
    let policy = task.policy.as_ref().ok_or_else(|| {
        let message = "a dataset needs a policy: name one with --interface or --policy";
        Failure::Usage(message.to_owned())
    })?;
    let listed = match &request.states {
        Some(path) => states::read(path, &task.model)?,
        None => Vec::new(),
    };
    let question = task.question();
    let mut asking = Asking {
        rollout: Rollout::new(&question, policy.outputs()),
        policy,
        chooser: policy.chooser(),
        table: Table::new(&task.model, policy),
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
    match write_text(&request.output, asking.table.text()) {
        Ok(()) => report.output = Some(request.output.clone()),
        // The counts are an answer, too.
        Err(failure) => return Ok((stopped, Some(failure))),
    }
    Ok((stopped, None))
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
                if !matches!(step, Step::Moved { .. }) {
                    break;
                }
            }
            report.rollouts += 1;
        }
        Ok(None)
    }

    /// What the policy chooses in the current state, and a row for it.
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
            Choice::Nothing | Choice::Several(_) | Choice::Undecided => {
                report.without_choice += 1;
                choice.outputs().first().copied()
            }
        }
    }
}

/// Where a problem of a list of states is.
fn problem(path: &Path, line: usize, what: &str) -> Failure {
    Failure::invalid(format!("{}:{line}: {what}", path.display()))
}
