//! IC3 for policies (POLIC3).
//!
//! [`ic3`] is the generic algorithm over a trait of four [sub-procedures](SubProcedures); frames
//! are sets of reasons, boxes of states that reach no unsafe state within a number of steps.
//! [`PolicySystem`] is its instance for a model under a policy, and [`run`] the engine.
//!
//! **Architecture invariant**: "selection not possible" is proved. A reason never reaches beyond
//! the domains of the variables, and everything about the policy goes through the decision oracle.

mod algorithm;
mod config;
mod contract;
mod depth_first;
mod engine;
mod frame_transition;
mod frames;
mod generalize;
mod generalized;
mod instance;
mod joins;
mod joint;
mod obligations;
mod order;
mod outcome;
mod parallel;
mod policy_system;
mod search_statistics;
mod start_states;
mod sub_procedures;
mod successors;
mod target;
mod transition;
#[cfg(feature = "z3")]
mod z3;

pub use algorithm::{SearchSettings, ic3};
pub use config::{
    EnvironmentSolver, FrameTransition, Ic3Config, Induction, Pushing, Reasons, Rescheduling,
    VariableOrder,
};
pub use engine::{Ic3Report, run};
pub use frames::{Escape, FOREVER, Frames, Reason};
pub use generalized::Generalized;
pub use obligations::{Obligations, TakenObligation};
pub use outcome::Ic3Outcome;
pub use policy_system::{PolicyStep, PolicySystem, SystemStatistics};
pub use search_statistics::SearchStatistics;
pub use sub_procedures::{SubProcedures, Succession};
