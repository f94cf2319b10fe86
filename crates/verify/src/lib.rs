//! The façade: load a task, choose an engine by configuration, run it, replay its evidence,
//! report. This is the boundary of the library; the command line adds arguments and printing.
//!
//! - [`verify()`] answers a [`Request`]; the result is a [`Report`], with [`Evidence`] where there is some.
//! - [`query()`] decides a VNN-LIB property of a network over the reals.
//! - [`reach()`] computes the reachable boxes of a control loop.
//! - [`train_network()`] trains a network for a control loop, [`learn_policy()`] one that chooses the
//!   labels of a model.
//! - [`dataset()`] writes states and what a policy chooses in them.
//! - [`convert()`] writes a question for other model checkers.
//! - [`simulate()`] runs a policy at random.
//! - [`certify()`] checks evidence from its file.
//! - [`check()`] looks at a model, a property and a policy without a verdict.
//! - [`ExitStatus`] is how a run ended.
//!
//! **Architecture invariant**: a verdict *unsafe* leaves this crate only after its trace was
//! replayed by `policert-certify`, and *sat* only after its witness was checked exactly. Stops, errors and panics are no verdicts.

mod atomic_file;
mod certify;
mod check;
mod convert;
mod dataset;
mod decimal;
mod digest;
mod engine_options;
mod engines;
mod evidence;
mod exit_status;
mod failure;
mod hollow;
mod invariant_check;
mod learn;
mod memory;
mod optional_file;
mod output_files;
mod plots;
mod probability;
mod problem;
mod query;
mod query_log;
mod reach;
mod report;
mod semantics_record;
mod simulate;
mod start_states;
mod task;
mod train;
mod verify;

pub use policert_certify::OverStarts;
pub use policert_convert::PolicyEncoding;
pub use policert_engine_api::{
    CancelFlag, Event, Limits, Observer, Silent, StopReason, resident_memory,
};
pub use policert_explore::{BmcConfig, BmcSolver, Ending, ExplicitConfig};
pub use policert_mdp::Method as ProbabilityMethod;
pub use policert_numeric::Rational;
pub use policert_policy::{Filter, Numbers, Ties};
pub use policert_ppa::{
    BrokenRequirements, CegarConfig, CounterexampleAnalysis, MaxProbMethod, Scope, SearchOrder,
    SplitConfig, SplitPoint, SplitUntil, SplitVariable, Splits,
};
pub use policert_reach::{AfterGoal, Evaluation, GoalRule, NetworkArithmetic, Rounding};
pub use policert_train::{DqnConfig, Rewards};

pub use atomic_file::{Destination, remove_unfinished, write_json, write_text};
pub use certify::{CertifyOutcome, CertifyReport, CertifyRequest, certify};
pub use check::{
    CheckReport, Checked, DomainExit, DomainExits, LabelSummary, ModelSummary, OperatorCount,
    PolicySummary, PropertySummary, check,
};
pub use convert::{ConvertFormat, ConvertOutcome, ConvertReport, ConvertRequest, convert};
pub use dataset::{DatasetOutcome, DatasetReport, DatasetRequest, dataset};
pub use digest::{FileDigest, Input, InputRole, file_digest};
pub use engine_options::EngineOption;
pub use engines::EngineChoice;
pub use evidence::{
    EVIDENCE_VERSION, EdgeRecord, EndKind, EndRecord, Evidence, Mover, OperatorRecord,
    PolicyRecord, Proof, ScoreRecord, StepRecord, ValueRecord, WitnessPathRecord,
    WitnessStepRecord,
};
pub use exit_status::ExitStatus;
pub use failure::Failure;
pub use hollow::{Hollow, HollowCode};
pub use learn::{LearnOutcome, LearnReport, LearnRequest, LearntFiles, RunsRecord, learn_policy};
pub use memory::{available_memory, peak_memory_mb};
pub use optional_file::{FileRecord, write_or_remove};
pub use output_files::OutputFiles;
pub use plots::{
    CountsPicture, GranularityPicture, ImageFormat, LinesPlot, PairsPlot, ReachResult, TimePair,
    plot_counts, plot_granularity, plot_lines, plot_pairs,
};
pub use policert_model::BY_ZERO;
pub use probability::ProbabilityOptions;
pub use problem::{Problem, ProblemKind};
pub use query::{
    AnswerWord, NetworkSummary, Queried, QueryReport, QueryRequest, QueryStatistics, VnnlibSummary,
    Witness, WitnessValue, query,
};
pub use query_log::{
    AnswerRecord, ConditionRecord, LinearRecord, QUERY_LOG_VERSION, QueryLogHeader, QueryRecord,
    SideRecord, VariableRecord,
};
pub use reach::{
    AggregationChoice, BoundRecord, CounterexampleRecord, ObstacleRecord, PathRecord, PlotRequest,
    ReachReport, ReachRequest, ReachSemantics, ReachStatisticsRecord, Reached, reach,
};
pub use report::{Attempt, ReasonCode, Report, SCHEMA_VERSION, Statistics, Times, VerdictWord};
pub use semantics_record::{Domain, QuestionAim, SemanticsRecord, StartRule, StuckStates};
pub use simulate::{
    EndingRecord, EndingWord, EndingsRecord, LengthRecord, SimulateOutcome, SimulateReport,
    SimulateRequest, SimulatedModel, SimulatedRun, SimulatedStep, SimulatedVariable, TraceChoice,
    TraceRecord, TraceStepRecord, simulate,
};
pub use start_states::{StartStateRecord, StartStatesRecord};
pub use task::{
    HollowFact, InitialStates, Loaded, PolicyChoice, Predicates, Probabilities, StateSpace, Task,
    TaskOptions, TaskRecord, TerminalChoice,
};
pub use train::{
    HiddenActivation, ObservationChoice, TrainOutcome, TrainReport, TrainRequest, train_network,
};
pub use verify::{Request, Verified, verify};

/// Reads a decimal number, exactly.
#[must_use]
pub fn decimal(text: &str) -> Option<policert_numeric::Rational> {
    policert_numeric::Rational::parse_decimal(text.trim())
}

/// Version of the program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Returns the version, the commit that the program was built from if that is known, and the version
/// of Z3 if the program has it: `0.1.0 (commit 0123456789ab, Z3 5.4.1.0)`.
#[must_use]
pub fn version_with_parts(commit: Option<&str>) -> String {
    let commit = commit.map(|commit| format!("commit {commit}"));
    let parts: Vec<String> = commit.into_iter().chain(std::iter::once(z3_version())).collect();
    format!("{VERSION} ({})", parts.join(", "))
}

#[cfg(feature = "z3")]
fn z3_version() -> String {
    format!("Z3 {}", policert_smt::Z3Solver::version())
}

#[cfg(not(feature = "z3"))]
fn z3_version() -> String {
    "without Z3".to_owned()
}
