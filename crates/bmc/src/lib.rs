//! Bounded model checking: is there a path of length L from a start state to an unsafe one, for
//! L = 0, 1, 2, …? (PPA 2022, Section 8.2)
//!
//! Two ways to unroll: boxes of states, whose choices the decision oracle tells (`boxes`), and
//! one formula for Z3 that grows by a step at a time (`formula`). Either finds shortest paths;
//! either ends with *safe* once there is no longer path that matters.

mod boxes;
#[cfg(feature = "z3")]
mod formula;
mod found;
mod run_back;

use policert_engine_api::{
    Budget, Configuration, ConfigurationError, Counts, EngineError, Observer, Preset, Question,
    Setting, Trace, UnknownReason, Verdict, configuration::zero_is_none,
};
use policert_model::DomainRule;
use policert_numeric::IntBox;
use policert_policy::Policy;
use serde::{Deserialize, Serialize};

/// The solver that unrolls runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BmcSolver {
    /// Boxes of states and the decision oracle.
    #[default]
    Native,
    /// Z3, with one copy of the network for each step. Needs the feature `z3`.
    Z3,
}

/// Says how runs are unrolled.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct BmcConfig {
    /// The solver that unrolls. [default: native]
    pub solver: BmcSolver,
    /// The greatest length that is looked at. [default: no limit]
    #[serde(with = "zero_is_none")]
    pub steps: Option<u32>,
    /// True if Z3 is asked for each length if there is a loop-free path of that length at all; if
    /// not, the policy is safe. Boxes are always unrolled into new states only. [default: true]
    pub loop_free: bool,
}

impl Default for BmcConfig {
    fn default() -> Self {
        Self { solver: BmcSolver::Native, steps: None, loop_free: true }
    }
}

impl Configuration for BmcConfig {
    fn presets() -> Vec<Preset> {
        vec![
            ("native", include_str!("../../../configs/bmc/native.toml")),
            ("z3", include_str!("../../../configs/bmc/z3.toml")),
        ]
    }

    fn check(&self, given: &[Setting]) -> Result<(), ConfigurationError> {
        let refused = |why: &str| Err(ConfigurationError::Setting(format!("loop-free {why}")));
        match given.iter().any(|setting| setting.key == "loop-free") {
            true if self.solver == BmcSolver::Native => refused(
                "has no effect: boxes are unrolled into new states only; it goes with solver=z3",
            ),
            true if !self.loop_free && self.steps.is_none() => {
                refused("is needed without a limit: give steps=N, too")
            }
            true | false => Ok(()),
        }
    }
}

/// Holds what bounded model checking found.
#[derive(Clone, PartialEq, Debug)]
pub struct BmcReport {
    /// The answer. Unsafe comes with a path of shortest length, unless a choice of the policy on
    /// a shorter one is undecided.
    pub verdict: Verdict,
    /// Counts of states, those in boxes; zero for Z3, which knows paths only.
    pub counts: Counts,
    /// The reason for which lengths were left that nothing is said about; `None` if no longer path
    /// matters, and after an unsafe path that the search was to end with.
    pub stopped: Option<UnknownReason>,
    /// Of a safe verdict by boxes, if evidence is wanted: all states that are reached, as disjoint
    /// boxes.
    pub reached: Option<Vec<IntBox>>,
    /// Lengths and effort.
    pub stats: BmcStats,
}

/// Reports what a search by length came to: the first unsafe path stands whatever ended the search.
fn report(
    ended: Result<Verdict, EngineError>,
    first_unsafe: Option<Trace>,
    counts: Counts,
    stats: BmcStats,
) -> Result<BmcReport, EngineError> {
    let verdict = match ended {
        Ok(verdict) => verdict,
        Err(EngineError::Stop(reason)) => Verdict::Unknown(UnknownReason::Stopped(reason)),
        Err(EngineError::Undecided(text)) => Verdict::Unknown(UnknownReason::SolverGaveUp(text)),
        Err(error) => return Err(error),
    };
    let stopped = match &verdict {
        Verdict::Unknown(reason) => Some(reason.clone()),
        Verdict::Safe { .. } | Verdict::Unsafe(_) => None,
    };
    let verdict = first_unsafe.map_or(verdict, Verdict::Unsafe);
    Ok(BmcReport { verdict, counts, stopped, reached: None, stats })
}

/// Says how far the unrolling came, and what it took.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BmcStats {
    /// The greatest length of which it is known whether there is an unsafe path; `None` if it is
    /// known of none.
    pub checked: Option<u32>,
    /// Boxes of states that were found.
    pub boxes: u64,
    /// Questions about the policy, or to Z3.
    pub queries: u64,
}

/// Unrolls runs from the start states until an unsafe state is reached, no further path matters,
/// or a limit is reached; without policy every label is allowed. With
/// [`Question::keep_going`] an unsafe state does not end the search, only the paths through it.
///
/// A stop of the budget is part of the report: what was checked until then stands.
///
/// # Errors
/// A modelling error in a reachable state, or a model or policy that cannot be unrolled:
/// unsupported.
pub fn bmc(
    question: &Question<'_>,
    policy: Option<&Policy>,
    config: &BmcConfig,
    budget: &mut Budget,
    observer: &mut dyn Observer,
) -> Result<BmcReport, EngineError> {
    if question.domain_rule == DomainRule::Error {
        return Err(EngineError::Unsupported(
            "bounded model checking does not decide whether an update that leaves a domain is \
             reachable; engine explicit does"
                .to_owned(),
        ));
    }
    match config.solver {
        BmcSolver::Native => boxes::unroll(question, policy, config, budget, observer),
        #[cfg(feature = "z3")]
        BmcSolver::Z3 => formula::unroll(question, policy, config, budget, observer),
        #[cfg(not(feature = "z3"))]
        BmcSolver::Z3 => Err(EngineError::Unsupported(
            "this build has no Z3, which bounded model checking by Z3 needs: `./x build` makes one \
             that has; boxes of states need no Z3"
                .to_owned(),
        )),
    }
}
