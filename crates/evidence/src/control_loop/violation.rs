//! Evidence that a control loop does not meet its specification: where trajectories begin, and what disturbs them.

use policert_certify::{LoopRun, LoopViolation, Stretches, ViolationError, check_violation};
use policert_control_loop::{Controller, Task};
use policert_engine_api::Budget;
use policert_numeric::Rational;
use policert_outcome::Failure;
use serde::{Deserialize, Serialize};

use super::{LoopFinding, compare_semantics, loop_network};
use crate::certify::File;

/// What the evidence means.
const SEMANTICS: &str = "from these states, with these disturbances, the loop does not meet the specification; a network in f64, \
     as computed, and everything else over the reals";

/// The same where the network reads the state.
const STATE_SEMANTICS: &str = "from these states, with these disturbances, the loop does not meet the specification; network and \
     dynamics over the reals";

/// Trajectories that do not meet the specification.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ViolationRecord {
    /// The step at which the first one is unsafe; null if the goal is missed.
    pub step: Option<u32>,
    /// Bits behind the point of the numbers in which they are followed; null for exact ones.
    pub bits: Option<u32>,
    /// Of differential equations: into how many stretches of time a step is cut.
    pub stretches: Option<u32>,
    /// Of differential equations: up to which order Taylor's formula is used.
    pub order: Option<u32>,
    /// The trajectories.
    pub trajectories: Vec<RunRecord>,
}

/// A trajectory.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RunRecord {
    /// The exact state in which it begins, by variable.
    pub start: Vec<String>,
    /// The exact disturbances of each step; empty where there are none.
    pub disturbances: Vec<Vec<String>>,
}

impl ViolationRecord {
    pub(super) fn new(claim: &LoopViolation) -> Self {
        let texts = |numbers: &Vec<Rational>| numbers.iter().map(Rational::to_string).collect();
        let run = |run: &LoopRun| RunRecord {
            start: texts(&run.start),
            disturbances: run.disturbances.iter().map(texts).collect(),
        };
        Self {
            step: claim.step,
            bits: claim.bits,
            stretches: claim.stretches.map(|stretches| stretches.count),
            order: claim.stretches.map(|stretches| stretches.order),
            trajectories: claim.runs.iter().map(run).collect(),
        }
    }

    /// What is claimed; `None` if that is not clear.
    fn claim(&self) -> Option<LoopViolation> {
        let numbers = |texts: &Vec<String>| -> Option<Vec<Rational>> {
            texts.iter().map(|text| text.parse().ok()).collect()
        };
        let run = |run: &RunRecord| {
            let disturbances = run.disturbances.iter().map(numbers).collect::<Option<_>>()?;
            Some(LoopRun { start: numbers(&run.start)?, disturbances })
        };
        let stretches = match (self.stretches, self.order) {
            (Some(count), Some(order)) => Some(Stretches { count, order }),
            (None, None) => None,
            (Some(_), None) | (None, Some(_)) => return None,
        };
        let runs = self.trajectories.iter().map(run).collect::<Option<_>>()?;
        Some(LoopViolation { step: self.step, bits: self.bits, stretches, runs })
    }
}

/// What evidence about a controller of this kind means.
pub(super) fn semantics(controller: &Controller) -> &'static str {
    match controller {
        Controller::StateNetwork(_) => STATE_SEMANTICS,
        Controller::CellNetwork(_) | Controller::CellFormula { .. } => SEMANTICS,
    }
}

pub(super) fn check(
    file: &File<'_>,
    task: &Task,
    budget: &mut Budget,
) -> Result<LoopFinding, Failure> {
    compare_semantics(file, semantics(&task.controller))?;
    let record: ViolationRecord = file.part("violation")?;
    let claim = record.claim().ok_or_else(|| file.wrong("violation"))?;
    let network = loop_network(task, budget)?;
    check_violation(task, network.as_ref(), &claim, budget).map_err(|error| match error {
        ViolationError::Stopped(reason) => Failure::Stopped(reason),
        error @ ViolationError::Unsupported(_) => {
            Failure::unsupported(format!("unsupported: {}: {error}", file.path().display()))
        }
        error => file.rejected(&error.to_string()),
    })?;
    Ok(LoopFinding::Unsafe { step: claim.step, trajectories: claim.runs.len() })
}
