//! What can stand against a claim about a control loop.

use policert_engine_api::StopReason;
use thiserror::Error;

/// Says why a claim is not confirmed.
#[derive(Clone, PartialEq, Debug, Error)]
#[non_exhaustive]
pub enum LoopError {
    /// The check ended before it was done.
    #[error(transparent)]
    Stopped(#[from] StopReason),
    /// Something of the task that this check does not know.
    #[error("no check of {0}")]
    Unsupported(String),
    /// The parts leave something of the initial box out.
    #[error("the parts do not cover the initial box")]
    NotCovered,
    /// A step in the goal is claimed where no common one is asked for.
    #[error("the step in the goal means nothing: not all states are asked to be in it at once")]
    GoalStep,
    /// Something stands against the claim.
    #[error("part {part}, step {step}: {flaw}")]
    Flawed {
        /// The part, from 0.
        part: usize,
        /// The step.
        step: u32,
        /// What it is.
        flaw: LoopFlaw,
    },
}

/// What can stand against a claim at a step of a part.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum LoopFlaw {
    /// A box is not of the states of the task.
    #[error("a box has not as many sides as the task has variables")]
    Sides,
    /// An unsafe set may be met.
    #[error("a box meets an unsafe set, or leaves a set that is not to be left")]
    Unsafe,
    /// An unsafe set may be met on the way from this step to the next one.
    #[error("on the way to the next step, states may be unsafe")]
    UnsafeBetween,
    /// The goal is not reached.
    #[error("a box is not inside the goal")]
    Goal,
    /// Boxes are needed for controllers that read cells, else stretches of time.
    #[error("boxes are needed for controllers that read cells, and else a number of stretches")]
    Stretches,
    /// The controller is not defined.
    #[error("a box leaves the cells")]
    Cells,
    /// A box is cut into more parts than are looked at.
    #[error("a box meets more cells than are looked at")]
    ManyCells,
    /// The controller or the dynamics have no value, or no bounds.
    #[error("the controller or the dynamics have no value, or no bounds, somewhere in a box")]
    NoValue,
    /// The network may choose in too many ways.
    #[error("the network may choose in more ways than are followed")]
    ManyChoices,
    /// The boxes of the next step are not enough.
    #[error("states may come to lie outside the boxes of the next step")]
    Outside,
    /// Something is claimed that is not looked at.
    #[error(
        "boxes are claimed that show nothing: states end before, or are followed without boxes"
    )]
    Unused,
}
