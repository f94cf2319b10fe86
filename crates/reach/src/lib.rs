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
mod approximate;
mod boxes;
mod component;
mod flow;
mod journal;
mod linearised;
mod outcome;
mod phase_times;
mod policy;
mod post;
mod reachable_sets;
mod segment;
mod state_sets;
mod taylor;
mod trajectory;
mod zonotope;

pub use aggregate::{Adjacency, Aggregation, Relations, aggregate};
pub use analysis::{
    Counterexample, LoopAnalysis, ReachConfig, ReachStatistics, ReachVerdict, RefinementEnd,
    ReportedTrajectory, StateBox, StateRange, UnknownCause, analyse,
};
pub use boxes::Boxes;
pub use component::Component;
pub use journal::ReachJournal;
pub use outcome::{Obstacle, ObstacleKind, PartOutcome};
pub use phase_times::PhaseTimes;
pub use policert_control_loop::{
    ActionMap, AfterGoal, Axis, Border, BoxEdge, Cell, Changes, ClosedRange, Controller,
    Disturbance, Dynamics, DynamicsKind, ExactRange, ExpressionError, ExpressionFunction,
    ExpressionGraph, ExpressionId, ExpressionNode, GoalRule, Grid, Gusts, InitialRange,
    LoopQuestion, LoopRegion, Observation, ReachError, RegionSide, StateCondition, Tape, Task,
    UnsafeSet, UnsafeSide,
};
pub use policy::{
    Actions, Controls, Evaluation, NetworkArithmetic, Rounding, SingleEvaluator, possible_outputs,
};
pub use post::Post;
pub use reachable_sets::{Part, ReachOptions, ReachableSets};
pub use segment::segment;
pub use state_sets::StateSetKind;
pub use trajectory::{Simulator, Trajectory, Violation, ViolationKind, random_state, start_states};
