//! The façade: load a problem, choose an engine by configuration, run it, replay its evidence,
//! report. This is the boundary of the library; the command line adds arguments and printing.
//!
//! - [`verify()`] answers a [`Request`]; the result is a [`Report`], with evidence where there is some.
//! - [`reach()`] computes the reachable boxes of a control loop.
//! - [`check()`] looks at a model, a property and a policy without a verdict.
//!
//! What a problem is stands in `policert-problem`; evidence and its check in `policert-evidence`.
//!
//! **Architecture invariant**: a verdict *unsafe* leaves this crate only after its trace was
//! replayed by `policert-certify`. Stops, errors and panics are no verdicts.

mod check;
mod engine_options;
mod engines;
mod hollow;
mod probability;
mod query_log;
mod reach;
mod report;
mod start_states;
mod verify;

pub use policert_explore::{BmcConfig, BmcSolver, ExplicitConfig};
pub use policert_mdp::Method as ProbabilityMethod;
pub use policert_ppa::{
    BrokenRequirements, CegarConfig, CounterexampleAnalysis, MaxProbMethod, Scope, SearchOrder,
    SplitConfig, SplitPoint, SplitUntil, SplitVariable,
};
pub use policert_reach::{AfterGoal, Evaluation, GoalRule, NetworkArithmetic, Rounding};

pub use check::{
    CheckReport, DomainExit, DomainExits, LabelSummary, ModelSummary, OperatorCount, PolicySummary,
    PropertySummary, check,
};
pub use engine_options::EngineOption;
pub use engines::EngineChoice;
pub use hollow::{Hollow, HollowCode};
pub use policert_model::BY_ZERO;
pub use probability::ProbabilityOptions;
pub use query_log::{
    AnswerRecord, ConditionRecord, LinearRecord, QUERY_LOG_VERSION, QueryLogHeader, QueryRecord,
    SideRecord, VariableRecord,
};
pub use reach::{
    AggregationChoice, BoundRecord, CounterexampleRecord, Drawable, ObstacleRecord, PathRecord,
    ReachReport, ReachRequest, ReachSemantics, ReachStatisticsRecord, reach,
};
pub use report::{Attempt, Report, Statistics, Times};
pub use start_states::{StartStateRecord, StartStatesRecord};
pub use verify::{Request, verify};

/// Returns the version, the commit that the program was built from if that is known, and the version
/// of Z3 if the program has it: `0.1.0 (commit 0123456789ab, Z3 5.4.1.0)`.
#[must_use]
pub fn version_with_parts(commit: Option<&str>) -> String {
    let commit = commit.map(|commit| format!("commit {commit}"));
    let parts: Vec<String> = commit.into_iter().chain(std::iter::once(z3_version())).collect();
    format!("{} ({})", policert_outcome::VERSION, parts.join(", "))
}

#[cfg(feature = "z3")]
fn z3_version() -> String {
    format!("Z3 {}", policert_smt::Z3Solver::version())
}

#[cfg(not(feature = "z3"))]
fn z3_version() -> String {
    "without Z3".to_owned()
}
