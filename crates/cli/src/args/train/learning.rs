//! Options of `policert train` for models: deep Q-learning.

use std::path::PathBuf;

use clap::Args;
use policert_problem::Filter;

use super::super::Constants;

const HEADING: &str = "Models";

/// Options of deep Q-learning.
#[derive(Args, Debug)]
pub struct LearningArgs {
    /// The property with start states, unsafe states and an objective with a goal: position in a
    /// file or in the model, counted from 0, or a name [default: the model's first safety property]
    #[arg(long, value_name = "FILE:N|FILE|N|NAME", help_heading = HEADING)]
    pub property: Option<String>,

    /// The inputs and labels of the network: a jani2nnet file, whose network does not matter
    /// [default: the property's file; else all variables and all labels]
    #[arg(long, value_name = "FILE", help_heading = HEADING)]
    pub interface: Option<PathBuf>,

    /// Values for the model's constants; may be repeated
    #[arg(
        long = "const",
        value_name = "NAME=VALUE,…",
        value_parser = Constants::read,
        help_heading = HEADING
    )]
    pub constants: Vec<Constants>,

    /// Labels among which the network chooses: all of its labels (none), or the applicable ones
    /// [default: as the interface says]
    #[arg(long, value_enum, help_heading = HEADING)]
    pub filter: Option<Filter>,

    /// Begin in the states that the property names only, not in the model's initial states
    #[arg(long, help_heading = HEADING)]
    pub no_initial: bool,

    /// Train with this many seeds and keep the best network
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = HEADING)]
    pub seeds: u32,

    /// Steps in the model for each seed, at most
    #[arg(long, value_name = "N", default_value_t = 1_000_000, help_heading = HEADING)]
    pub steps: u64,

    /// After how many steps a run is cut off
    #[arg(long, value_name = "N", default_value_t = 200, help_heading = HEADING)]
    pub horizon: u32,

    /// Reward of the goal
    #[arg(long, value_name = "X", default_value = "1",
          allow_negative_numbers = true, help_heading = HEADING)]
    pub reward_goal: f64,

    /// Reward of an unsafe state
    #[arg(long, value_name = "X", default_value = "-1",
          allow_negative_numbers = true, help_heading = HEADING)]
    pub reward_unsafe: f64,

    /// Reward of a label that is not applicable, or of a state in which nothing can happen
    #[arg(long, value_name = "X", default_value = "-1",
          allow_negative_numbers = true, help_heading = HEADING)]
    pub reward_stuck: f64,

    /// Reward of each step
    #[arg(long, value_name = "X", default_value = "-0.01",
          allow_negative_numbers = true, help_heading = HEADING)]
    pub reward_step: f64,

    /// Weight of the objective's goal potential, scaled to a width of 1, whose rise is rewarded
    /// [default: 5]
    #[arg(long, value_name = "X", allow_negative_numbers = true, help_heading = HEADING)]
    pub potential: Option<f64>,

    /// Weight of the size of the objective's step reward, as a cost [default: 0]
    #[arg(long, value_name = "X", allow_negative_numbers = true, help_heading = HEADING)]
    pub step_cost: Option<f64>,

    /// Weight of the next step's value
    #[arg(long, value_name = "X", default_value = "0.95",
          help_heading = HEADING)]
    pub discount: f64,

    /// Plain targets instead of those of double Q-learning
    #[arg(long, help_heading = HEADING)]
    pub no_double: bool,

    /// Length of learning steps at the beginning
    #[arg(long, value_name = "X", default_value = "0.001",
          help_heading = HEADING)]
    pub rate: f64,

    /// Transitions in one step of learning
    #[arg(long, value_name = "N", default_value_t = 64, help_heading = HEADING)]
    pub batch: usize,

    /// Transitions that are kept
    #[arg(long, value_name = "N", default_value_t = 100_000, help_heading = HEADING)]
    pub buffer: usize,

    /// Steps in the model for each step of learning
    #[arg(long, value_name = "N", default_value_t = 4, help_heading = HEADING)]
    pub learn_every: u64,

    /// Steps of learning between two target networks
    #[arg(long, value_name = "N", default_value_t = 500, help_heading = HEADING)]
    pub target_every: u64,

    /// Share of random labels at the end of its decay, which takes the first third of all steps
    #[arg(long, value_name = "X", default_value = "0.05",
          help_heading = HEADING)]
    pub exploration: f64,

    /// Steps in the model between two evaluations
    #[arg(long, value_name = "N", default_value_t = 20_000, help_heading = HEADING)]
    pub evaluate_every: u64,

    /// Share of runs that reach the goal from which a network counts as competent
    #[arg(long, value_name = "X", default_value = "0.9",
          help_heading = HEADING)]
    pub competent: f64,

    /// After each evaluation, write a file from which training can be continued
    #[arg(long, value_name = "FILE", help_heading = HEADING)]
    pub checkpoint: Option<PathBuf>,

    /// Continue from such a file, with the same options
    #[arg(long, value_name = "FILE", help_heading = HEADING)]
    pub resume: Option<PathBuf>,
}
