//! The result of a simulation as data: `docs/formats/simulate.schema.json`.

use policert_explore::{RunEnding, SimulationStatistics};
use policert_problem::{ProblemRecord, SemanticsRecord};
use serde::Serialize;

use super::{SimulatedModel, SimulatedRun, TraceRecord};

/// The report that `policert simulate --json` writes.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct SimulateReport {
    /// Name of the model.
    pub model: Option<String>,
    /// The question, as it was asked.
    pub task: Option<ProblemRecord>,
    /// The meaning of the runs.
    pub semantics: Option<SemanticsRecord>,
    /// Seed of all random numbers.
    pub seed: u64,
    /// After how many steps runs were cut off.
    pub step_limit: u32,
    /// True if runs went on beyond states of the goal.
    pub past_goal: bool,
    /// Number of start states; `null` where they are too many to list.
    pub start_states: Option<usize>,
    /// Runs made.
    pub runs: u64,
    /// Runs on which there is a state of the goal.
    pub reached_goal: u64,
    /// The way in which the runs ended.
    pub endings: EndingsRecord,
    /// Steps of all runs; `null` without runs.
    pub length: Option<LengthRecord>,
    /// The run that was asked for; `null` if none was, or none ended as it should.
    pub trace: Option<TraceRecord>,
    /// The same with all its states.
    #[serde(skip)]
    pub told: Option<SimulatedRun>,
    /// The model, once it is loaded: what its states are made of.
    #[serde(skip)]
    pub shape: Option<SimulatedModel>,
}

/// The runs by their endings.
#[derive(Clone, PartialEq, Default, Debug, Serialize)]
pub struct EndingsRecord {
    /// In an unsafe state.
    #[serde(rename = "unsafe")]
    pub unsafe_state: EndingRecord,
    /// In a state of the goal.
    pub goal: EndingRecord,
    /// In a terminal state.
    pub terminal: EndingRecord,
    /// Runs that end in a state in which nothing may happen.
    pub stuck: EndingRecord,
    /// With an outcome that is no transition.
    pub dropped: EndingRecord,
    /// Runs that end in a state in which the choice of the policy is undecided.
    pub undecided: EndingRecord,
    /// Cut off.
    pub cut_off: EndingRecord,
}

/// The runs that ended in one way.
#[derive(Clone, PartialEq, Default, Debug, Serialize)]
pub struct EndingRecord {
    /// Number of runs.
    pub runs: u64,
    /// Mean number of their steps; `null` without runs.
    pub mean_length: Option<f64>,
}

/// Numbers of steps.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct LengthRecord {
    /// Mean.
    pub mean: f64,
    /// Least.
    pub min: u32,
    /// Greatest.
    pub max: u32,
}

impl SimulateReport {
    pub(super) fn add(&mut self, statistics: &SimulationStatistics) {
        let ended = |ending| EndingRecord {
            runs: statistics.ended(ending).runs,
            mean_length: statistics.mean_length_of(ending),
        };
        self.runs = statistics.runs();
        self.reached_goal = statistics.reached_goal();
        self.endings = EndingsRecord {
            unsafe_state: ended(RunEnding::Unsafe),
            goal: ended(RunEnding::Goal),
            terminal: ended(RunEnding::Terminal),
            stuck: ended(RunEnding::Stuck),
            dropped: ended(RunEnding::Dropped),
            undecided: ended(RunEnding::Undecided),
            cut_off: ended(RunEnding::CutOff),
        };
        let ends = statistics.shortest().zip(statistics.longest());
        self.length = statistics.mean_length().zip(ends).map(|(mean, (min, max))| LengthRecord {
            mean,
            min,
            max,
        });
    }
}
