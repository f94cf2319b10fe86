//! Markov decision processes: proved bounds on the probability of reaching a target.
//!
//! [`Mdp`] holds an explicit one in compressed sparse rows. [`solve()`] bounds the greatest or least
//! probability of a [`Reachability`] problem from both sides, or computes it exactly.
//! [`max_probability`] does so on the fly, for an [`ImplicitMdp`].
//!
//! **Architecture invariant**: a bound is proved. Whatever stops an iteration, the value lies
//! between the bounds that it leaves.

#![warn(missing_docs)]

mod backup;
mod components;
mod distribution;
mod elimination;
mod end_components;
mod error;
mod exact;
mod fragment;
mod implicit;
mod interval_iteration;
mod lrtdp;
mod mdp;
mod options;
mod predecessors;
mod problem;
mod proved_guess;
mod qualitative;
mod quotient;
mod scheduler;
mod solve;
mod state_set;
mod traps;

pub use policert_engine_api::ProbabilityBounds;

pub use distribution::{DistributionId, Distributions, ProbabilityId};
pub use end_components::end_components;
pub use error::MdpError;
pub use implicit::{Choices, ExplicitMdp, ImplicitMdp, Standing};
pub use lrtdp::{OnTheFly, max_probability};
pub use mdp::{Mdp, MdpBuilder};
pub use options::{Method, SolveOptions};
pub use problem::{Direction, Reachability};
pub use qualitative::{Qualitative, qualitative};
pub use scheduler::Scheduler;
pub use solve::{Solution, SolveStatistics, solve};
pub use state_set::StateSet;
