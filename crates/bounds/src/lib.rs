//! The decision oracle: is there a state in this region where the policy chooses this output?
//!
//! An [`Oracle`] answers [`SelectionQuery`]s about a network policy over integer boxes, soundly
//! and completely; a [`DecisionMap`] shares the work of all queries about one region. The stages,
//! cheapest first: *tighten* (the conditions alone), *recall* (what earlier queries found),
//! *enumerate* (all points of small boxes), *guess* (likely witnesses), *bound* (backward linear
//! relaxation of score differences, with rigorous rounding-error terms), *split* (bisection by
//! influence, down to points; hard queries over the reals for a while).
//!
//! A [`RealOracle`] answers the same question over the reals: [`Oracle::decide_relaxed`], and
//! linear inequalities over the inputs and scores of a network in general. See
//! `docs/algorithms/decision-oracle.md`.
//!
//! **Architecture invariant**: a refutation is a proof. Floating point refutes only through
//! bounds that include their rounding errors, and a witness counts only after exact checks; a
//! number that overflowed, or is none, decides nothing. A stop of the budget is an `Err`.

mod asked;
mod bound;
mod climb;
mod config;
mod contract;
mod decision_map;
mod enumerate;
mod frame;
mod guess;
mod inputs;
mod interval;
mod joint;
mod kernel;
mod leaf;
mod linearised;
mod memory;
mod normal_form;
mod oracle;
mod output_set;
mod planes;
mod prepared;
mod program;
mod query;
mod real;
mod refutations;
mod refute;
mod refute_trees;
mod relaxation;
mod relaxed;
mod relaxed_trees;
mod search;
mod split;
mod statistics;
mod symbolic;
mod tighten;
mod tree_bounds;
mod witness;

#[cfg(test)]
#[path = "../tests/decide/generator.rs"]
#[expect(dead_code, reason = "shared with the tests of the public interface")]
mod generator;

pub use policert_engine_api::{AskedQuery, Recorder, Values};

pub use config::OracleConfig;
pub use decision_map::DecisionMap;
pub use oracle::Oracle;
pub use output_set::OutputSet;
pub use query::SelectionQuery;
pub use real::{
    PrepareError, RealAnswer, RealOracle, RealStatistics, RecordedMultipliers, RecordedStep,
    UndecidedReason, contradict,
};
pub use statistics::{OracleStatistics, Stage, StageStatistics};
