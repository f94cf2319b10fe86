//! The façade: a problem, an engine by configuration, a verdict with evidence. This is the boundary of
//! the library; the command line adds arguments and printing.
//!
//! - [`verify()`] answers a [`Request`] about a [`Problem`], from files or made of parts; the
//!   [`Outcome`] has a [`Report`] with the verdict and what shows it: a [`Trace`], an
//!   [`Invariant`] or [`ProbabilityBounds`].
//! - [`reach`] computes the reachable boxes of a control loop.
//! - [`check`] looks at a model, a property and a policy without a verdict.
//! - [`query_log`] is the format of recorded queries about a policy.
//!
//! ```
//! use policert_verify::{CancelFlag, ProblemOptions, Request, Silent, VerdictWord, verify};
//!
//! let model = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/icy_road/model.jani");
//! let mut problem = ProblemOptions::new(model.as_ref());
//! problem.property = Some("hasty".to_owned());
//! let outcome = verify(&Request::new(problem), &CancelFlag::default(), &mut Silent);
//! assert_eq!(outcome.report.verdict, VerdictWord::Unsafe);
//! let trace = outcome.report.trace.expect("a verdict *unsafe* has its trace");
//! assert_eq!(trace.steps.len(), 7);
//! ```
//!
//! **Architecture invariant**: a verdict *unsafe* leaves this crate only after its trace was
//! replayed by `policert-certify`. Stops, errors and panics are no verdicts.

#![warn(missing_docs)]

pub mod check;
mod engine_option;
mod engine_options;
mod engines;
mod hollow;
pub mod query_log;
pub mod reach;
mod report;
mod request;
mod start_states;
mod verify;

pub use policert_engine_api::{
    Attempt, CancelFlag, Conclusion, Context, Engine, Invariant, Limits, Observer,
    ProbabilityBounds, Setting, Silent, Trace, TraceStep,
};
pub use policert_evidence::Evidence;
pub use policert_outcome::{ExitStatus, Failure, Outcome, ReasonCode, VerdictWord};
pub use policert_problem::{PolicySource, Problem, ProblemOptions};

pub use engine_option::EngineOption;
pub use engines::{AnsweredQuestions, Registration, Registry};
pub use hollow::{Hollow, HollowCode};
pub use report::{Report, Statistics, Times};
pub use request::{ProblemSource, Request};
pub use start_states::{StartStateRecord, StartStatesRecord};
pub use verify::verify;

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
