//! The result of a run as versioned data: `docs/formats/result.md`.

use policert_engine_api::{Counts, StopReason, UnknownReason, Verdict};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{ExitStatus, FileRecord, Hollow, Input, Problem, SemanticsRecord, VERSION};

/// Version of the schema. It grows when the meaning of a field changes or a field goes; new
/// fields may come without.
pub const SCHEMA_VERSION: u32 = 1;

/// What `policert verify --json` writes.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Report {
    /// [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Version of the program.
    pub version: String,
    /// The verdict in a word.
    pub verdict: VerdictWord,
    /// Whether the verdict holds because there is nothing to check.
    pub vacuous: bool,
    /// Why a good verdict says nothing about the policy, if so.
    pub hollow: Vec<Hollow>,
    /// Why the answer is not known, or what is wrong; `None` for conclusive answers.
    pub reason: Option<String>,
    /// The same for programs.
    pub reason_code: Option<ReasonCode>,
    /// Of a question about a probability: lower and upper bound, exact decimals rounded outwards.
    pub probability: Option<[String; 2]>,
    /// The exact value, where it is known: an integer or a fraction.
    pub value: Option<String>,
    /// The exit code.
    pub exit_code: u8,
    /// Name of the property.
    pub property: Option<String>,
    /// The engine that the answer comes from.
    pub engine: Option<String>,
    /// Its configuration, where it has several.
    pub preset: Option<String>,
    /// What every engine that was considered found, in order.
    pub attempts: Vec<Attempt>,
    /// What the verdict means.
    pub semantics: Option<SemanticsRecord>,
    /// Counts of the engine that the answer comes from.
    pub statistics: Option<Statistics>,
    /// What to know before trusting the verdict.
    pub warnings: Vec<String>,
    /// What is worth knowing.
    pub notes: Vec<String>,
    /// What is wrong with the inputs.
    pub errors: Vec<Problem>,
    /// The files that were read.
    pub inputs: Vec<Input>,
    /// The evidence file, if one was asked for.
    pub evidence_file: Option<FileRecord>,
    /// The file of start states, if one was asked for.
    pub start_states_file: Option<FileRecord>,
    /// Wall-clock time of the whole run in seconds.
    pub time_s: f64,
    /// Peak resident memory in MB (10⁶ bytes), where the system tells.
    pub peak_memory_mb: Option<f64>,
}

impl Report {
    /// A report that says nothing yet.
    #[must_use]
    pub fn empty() -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            version: VERSION.to_owned(),
            verdict: VerdictWord::Error,
            vacuous: false,
            hollow: Vec::new(),
            reason: None,
            reason_code: None,
            probability: None,
            value: None,
            exit_code: ExitStatus::Internal.code(),
            property: None,
            engine: None,
            preset: None,
            attempts: Vec::new(),
            semantics: None,
            statistics: None,
            warnings: Vec::new(),
            notes: Vec::new(),
            errors: Vec::new(),
            inputs: Vec::new(),
            evidence_file: None,
            start_states_file: None,
            time_s: 0.0,
            peak_memory_mb: None,
        }
    }
}

/// A verdict in a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum VerdictWord {
    /// No unsafe state is reachable.
    Safe,
    /// An unsafe state is reachable.
    Unsafe,
    /// Not known.
    Unknown,
    /// No verdict was asked for but a probability, and it is bounded.
    Probability,
    /// The input is wrong.
    Invalid,
    /// The input uses an unsupported feature.
    Unsupported,
    /// A mistake of this program, or a result that could not be written.
    Error,
}

impl From<&Verdict> for VerdictWord {
    fn from(verdict: &Verdict) -> Self {
        match verdict {
            Verdict::Safe { .. } => Self::Safe,
            Verdict::Unsafe(_) => Self::Unsafe,
            Verdict::Unknown(_) => Self::Unknown,
        }
    }
}

/// Why there is no conclusive answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ReasonCode {
    /// The time limit.
    Time,
    /// The memory limit.
    Memory,
    /// The limit on states.
    States,
    /// The limit on the length of paths.
    Steps,
    /// The user interrupted it.
    Interrupted,
    /// An abstract path to an unsafe state, spurious or not decided.
    AbstractPath,
    /// A choice of the policy that is not decided.
    UndecidedChoice,
    /// A run misses the goal only if chance goes against it for ever.
    Chance,
    /// A solver gave up on a query that has to be decided.
    SolverGaveUp,
    /// An input of a network that is not bounded.
    UnboundedInput,
    /// A network that is not made of linear pieces.
    NotPiecewiseLinear,
    /// Something else.
    Other,
    /// The input is wrong.
    Invalid,
    /// The input uses an unsupported feature.
    Unsupported,
    /// The command line is wrong.
    Usage,
    /// A mistake of this program.
    Internal,
}

impl ReasonCode {
    /// The code of a reason not to know.
    #[must_use]
    pub fn of_unknown(reason: &UnknownReason) -> Self {
        match reason {
            UnknownReason::Stopped(StopReason::Time) => Self::Time,
            UnknownReason::Stopped(StopReason::Memory) => Self::Memory,
            UnknownReason::Stopped(StopReason::States(_)) => Self::States,
            UnknownReason::Stopped(StopReason::Interrupted) => Self::Interrupted,
            UnknownReason::AbstractPath { .. } => Self::AbstractPath,
            UnknownReason::UndecidedChoice { .. } => Self::UndecidedChoice,
            UnknownReason::ChanceForEver { .. } => Self::Chance,
            UnknownReason::StepLimit { .. } => Self::Steps,
            UnknownReason::SolverGaveUp(_) => Self::SolverGaveUp,
            _ => Self::Other,
        }
    }
}

/// An engine that ran, or was passed over.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Attempt {
    /// Name of the engine.
    pub engine: String,
    /// What came out of it: a verdict, or why not.
    pub result: String,
    /// Wall-clock time in seconds; `None` if it was passed over.
    pub time_s: Option<f64>,
}

/// Counts, which mean the same for every engine; `null` where the engine does not count such things.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Statistics {
    /// Predicates of the abstraction.
    pub predicates: Option<u64>,
    /// Start states: abstract ones for abstractions, else concrete ones.
    pub start_states: Option<u64>,
    /// States whose successors were computed.
    pub expanded_states: Option<u64>,
    /// States reached, start states included.
    pub reachable_states: Option<u64>,
    /// Distinct (source, target) pairs.
    pub transitions: Option<u64>,
    /// Unsafe states among the reached ones.
    pub unsafe_states: Option<u64>,
    /// Transitions of the counterexample.
    pub counterexample_steps: Option<u64>,
    /// Outcomes that were no transition because they leave a domain.
    pub dropped_outcomes: Option<u64>,
    /// Start states from which no unsafe state is reachable; where the engine tells.
    pub start_states_proved_safe: Option<u64>,
    /// Wall-clock time by phase in seconds.
    pub times_s: Times,
    /// Numbers of one engine alone, under its name.
    #[serde(flatten)]
    pub engine: Map<String, Value>,
}

/// Wall-clock time by phase in seconds.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Times {
    /// Reading model, property and policy.
    pub load: f64,
    /// All engines.
    pub engines: f64,
    /// Replaying the counterexample.
    pub replay: f64,
}

impl Statistics {
    /// Counts of an engine, of which some have presets that count other things.
    #[must_use]
    pub fn new(
        engine: &str,
        preset: Option<&str>,
        counts: &Counts,
        counterexample_steps: Option<usize>,
        times_s: Times,
    ) -> Self {
        // A search backwards, and a formula, know no states one by one; boxes of states have no
        // transitions; entries of distributions are no pairs of states.
        let (starts, states, transitions, dropped) = match (engine, preset) {
            ("bmc", Some("z3")) => (false, false, false, false),
            ("bmc", _) => (true, true, false, false),
            ("ic3", _) => (true, false, false, false),
            ("prob" | "prob-ppa" | "prob-cegar", _) => (true, true, false, true),
            _ => (true, true, true, true),
        };
        Self {
            predicates: counts.predicates,
            start_states: starts.then_some(counts.start_states),
            expanded_states: states.then_some(counts.expanded_states),
            reachable_states: states.then_some(counts.reachable_states),
            transitions: transitions.then_some(counts.transitions),
            unsafe_states: states.then_some(counts.unsafe_states),
            counterexample_steps: counterexample_steps.map(|steps| steps as u64),
            dropped_outcomes: dropped.then_some(counts.dropped_outcomes),
            start_states_proved_safe: None,
            times_s,
            engine: Map::new(),
        }
    }
}
