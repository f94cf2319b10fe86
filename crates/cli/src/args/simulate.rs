//! Arguments of `policert simulate`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use policert_problem::{ChoiceRule, Filter, Numbers, Ties};

use super::{MemorySize, OutputArgs, TaskArgs, duration};

const EXIT_CODES: &str = "\
Exit codes: 0 done, whatever the runs meet; 30 time, 31 memory, 33 interrupted;
40 invalid input, 41 unsupported, 42 usage; 50 internal error.";

/// Arguments of `policert simulate`.
#[derive(Args, Debug)]
#[command(after_help = EXIT_CODES)]
pub struct SimulateArgs {
    /// The question; without policy, actions are drawn uniformly.
    #[command(flatten)]
    pub task: TaskArgs,

    /// Labels among which the policy chooses: all of its labels (none), or the applicable ones
    /// [default: as the interface says]
    #[arg(long, value_enum, help_heading = "Semantics")]
    pub filter: Option<Filter>,

    /// The choice if several labels have the greatest score: the first, any of them, or nothing
    /// (strict) [default: as the interface says, else first]
    #[arg(long, value_enum, help_heading = "Semantics")]
    pub ties: Option<Ties>,

    /// Whether the policy takes a label of greatest score (argmax), or draws one by the softmax of its
    /// scores or its class probabilities (sample) [default: argmax]
    #[arg(long, value_enum, help_heading = "Semantics")]
    pub choice: Option<ChoiceRule>,

    /// Numbers of the policy: real arithmetic, or 32-bit floating point by the plain evaluation
    /// [default: real]
    #[arg(long, value_enum, help_heading = "Semantics")]
    pub numbers: Option<Numbers>,

    /// States in which runs end: the goal of the property, or a condition such as "x >= 3"
    #[arg(long, value_name = "goal|CONDITION", help_heading = "Semantics")]
    pub terminal: Option<String>,

    /// Start in the states that the property names only, not in the model's initial states
    #[arg(long, help_heading = "Semantics")]
    pub no_initial: bool,

    /// Number of runs
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1000,
        value_parser = clap::value_parser!(u64).range(1..),
        help_heading = "Runs"
    )]
    pub runs: u64,

    /// After how many steps a run is cut off; those of the environment count
    #[arg(long, value_name = "N", default_value_t = 200, help_heading = "Runs")]
    pub steps: u32,

    /// Go on beyond states of the goal, as verify does, unless they are terminal
    #[arg(long, help_heading = "Runs")]
    pub past_goal: bool,

    /// Seed of all random numbers: the same seed gives the same runs
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Runs")]
    pub seed: u64,

    /// Stop after this time, for instance 90s, 10m or 1h30m
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Limits")]
    pub timeout: Option<Duration>,

    /// Stop beyond this much memory, for instance 500MB or 4GB
    #[arg(long, value_name = "SIZE", value_parser = MemorySize::read, help_heading = "Limits")]
    pub memory: Option<MemorySize>,

    /// Print a run step by step: the first one, or the first that ends so
    #[arg(
        long,
        value_name = "WHICH",
        value_enum,
        default_missing_value = "first",
        num_args = 0..=1,
        require_equals = true,
        help_heading = "Output"
    )]
    pub trace: Option<TraceArg>,

    /// Draw the states of that run: blocksworld, npuzzle, transport, racetrack and beluga
    #[arg(long, help_heading = "Output")]
    pub render: bool,

    /// Map of a racetrack to draw the car on [default: the map that comes with the program and that
    /// the model is named after]
    #[arg(long, value_name = "FILE", requires = "render", help_heading = "Output")]
    pub track: Option<PathBuf>,

    /// Output.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Values of `--trace`.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum TraceArg {
    /// The first run
    First,
    /// In an unsafe state
    Unsafe,
    /// In a state of the goal
    Goal,
    /// In a terminal state
    Terminal,
    /// In a state in which nothing may happen
    Stuck,
    /// With an outcome that leaves a domain
    Dropped,
    /// Cut off
    CutOff,
}
