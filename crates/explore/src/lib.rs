//! Explicit search of the states that a policy reaches.
//!
//! [`explicit`] answers a question by enumeration, with a shortest counterexample; [`guided`] looks
//! for unsafe states first where they seem near; [`reach_goal`] asks whether every run reaches a goal state;
//! [`PolicySuccessors`] gives the successors of single states. Operators are composed only where
//! their edges are enabled, so models with millions of operators do no harm. [`Rollout`] runs single states at random,
//! [`Episode`] those of an agent in training; [`Simulation`] does so under a policy, to the end.
//! [`induced_mdp`] builds the Markov decision process induced by the policy.
//!
//! **Architecture invariant**: what is compiled for speed agrees with
//! [`policert_model::ModelSemantics`] everywhere, and asks it where it cannot tell.

mod batch;
mod breadth_first;
mod compiled;
mod config;
mod covering;
mod dropped_outcome;
mod enabled_edges;
mod frontier;
mod goal_search;
mod guided;
mod induced;
mod label_set;
mod lazy_operators;
mod packing;
mod policy_labels;
mod policy_successors;
mod random;
mod rollout;
mod simulate;
mod state_table;
mod stats;

pub use breadth_first::{Explored, explicit};
pub use config::ExplicitConfig;
pub use covering::covering;
pub use dropped_outcome::DroppedOutcome;
pub use goal_search::{GoalSearched, reach_goal};
pub use guided::{GuidedResult, guided};
pub use induced::{Induced, ReachQuestion, induced_mdp};
pub use policy_successors::{
    PolicyChoice, PolicySuccessor, PolicySuccessors, StateSuccessors, Stuck,
};
pub use random::Random;
pub use rollout::{
    Begun, Episode, EpisodeEnd, Position, Rollout, RunStep, StartSampler, StateNumber, Tally,
};
pub use simulate::{
    EndingCount, Run, RunEnding, RunTransition, Simulation, SimulationConfig, SimulationStatistics,
};
pub use stats::{PhaseTimes, Stats};
