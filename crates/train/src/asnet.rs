//! Training of action schema networks: imitation of a teacher that knows shortest ways to the goal.
//!
//! Each round runs the network in every training problem, adds the states that it meets to those that
//! it learns from, with the actions that are best there (as DAgger does: Ross, Gordon, Bagnell 2011), and
//! then takes steps of Adam on batches of them. What is minimised is −ln of the probability that the
//! softmax over the applicable actions gives to the best ones.

mod any_way;
mod config;
mod needed;
mod pass;
mod problem;
mod run;
mod session;
mod teacher;
mod weights;

#[cfg(test)]
mod tests;

pub use config::AsnetConfig;
pub use run::{AsnetRun, asnet_run};
pub use session::{AsnetObserver, AsnetProgress, AsnetTrained, AsnetTraining};
