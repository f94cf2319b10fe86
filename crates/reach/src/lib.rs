//! Reachable boxes of continuous control loops under a network (BBReach).
//!
//! A [`Task`] is a control loop: dynamics as expressions, a controller that reads the cell in which
//! the state lies, an initial box, a goal and an unsafe set. [`analyse`] answers whether every
//! trajectory reaches the goal and avoids the unsafe set: *safe*, proved by boxes that contain all
//! reachable states; *unsafe*, shown by a trajectory; or unknown, with the box that stands against
//! it.
//!
//! - **Algorithm 1**: [`ReachableSets`]; its steps are [`segment()`], [`Post`] and [`aggregate()`]
//!   (Algorithm 2).
//! - **Networks that read the state**: Taylor models (`taylor.rs`), or affine forms
//!   (`policy/state.rs`) and zonotopes through the linearised loop (`linearised.rs`).
//! - **Arithmetic**: [`ClosedRange`], outward-rounded or exact.
//! - **Expressions**: [`ExpressionGraph`], with derivatives; [`Tape`] evaluates them over ranges.
//!
//! **Architecture invariant**: every box contains all states that it stands for, rounding
//! included. Overflow, NaN and expressions without a value end in *unknown*.

#![warn(missing_docs)]

mod aggregate;
mod analysis;
mod component;
mod condition;
mod disturbance;
mod edge;
mod error;
mod expression;
mod flow;
mod grid;
mod journal;
mod linearised;
mod observation;
mod outcome;
mod policy;
mod post;
mod random;
mod range;
mod reachable_sets;
mod region;
mod segment;
mod state_sets;
mod task;
mod taylor;
mod trajectory;
mod zonotope;

pub use aggregate::{Adjacency, Aggregation, Relations, aggregate};
pub use analysis::{
    Counterexample, LoopAnalysis, ReachConfig, ReachStatistics, ReachVerdict, RefinementEnd,
    ReportedTrajectory, StateBox, StateRange, UnknownCause, analyse,
};
pub use component::Component;
pub use condition::StateCondition;
pub use disturbance::{Changes, Disturbance, Gusts};
pub use edge::BoxEdge;
pub use error::ReachError;
pub use expression::{
    ExpressionError, ExpressionFunction, ExpressionGraph, ExpressionId, ExpressionNode, Tape,
};
pub use grid::{Axis, Cell, Grid};
pub use journal::ReachJournal;
pub use observation::Observation;
pub use outcome::{Obstacle, ObstacleKind, PartOutcome};
pub use policy::{
    Actions, Controls, Evaluation, NetworkArithmetic, Rounding, SingleEvaluator, possible_outputs,
};
pub use post::Post;
pub use range::{ClosedRange, ExactRange};
pub use reachable_sets::{Boxes, Part, ReachOptions, ReachableSets};
pub use region::{Border, LoopRegion, RegionSide, UnsafeSet, UnsafeSide};
pub use segment::segment;
pub use state_sets::StateSetKind;
pub use task::{
    ActionMap, AfterGoal, Controller, Dynamics, DynamicsKind, GoalRule, InitialRange, LoopQuestion,
    Task,
};
pub use trajectory::{Simulator, Trajectory, Violation, ViolationKind, random_state, start_states};
