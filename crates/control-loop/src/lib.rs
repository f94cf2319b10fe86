//! Control loops as data: what a task file says.
//!
//! A [`Task`] is a control loop and a question about it: dynamics as expressions, a controller that
//! reads the state or the cell in which it lies, an initial box, a goal, and sets to be avoided.
//!
//! - **Task files**: `task/read.rs`.
//! - **Expressions**: [`ExpressionGraph`], with derivatives; [`Tape`] evaluates them over ranges.
//! - **Ranges**: [`ClosedRange`], outward-rounded or exact.
//! - **Sets**: [`LoopRegion`], bounds or a condition; [`Grid`], cells.

#![warn(missing_docs)]

mod condition;
mod disturbance;
mod edge;
mod error;
mod expression;
mod grid;
mod observation;
mod random;
mod range;
mod region;
mod task;

pub use condition::{StateCondition, Tighter, TighterOfEach};
pub use disturbance::{Changes, Disturbance, Gusts};
pub use edge::BoxEdge;
pub use error::ReachError;
pub use expression::{
    Comparisons, ExpressionError, ExpressionFunction, ExpressionGraph, ExpressionId,
    ExpressionNode, Tape,
};
pub use grid::{Axis, Cell, Grid};
pub use observation::Observation;
pub use random::next_bits;
pub use range::{ClosedRange, ExactRange};
pub use region::{Border, LoopRegion, RegionSide, UnsafeSet, UnsafeSide, exact_point, middle};
pub use task::{
    ActionMap, AfterGoal, Controller, Dynamics, DynamicsKind, GoalRule, InitialRange, LoopQuestion,
    Task,
};
