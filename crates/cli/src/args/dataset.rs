//! Arguments of `policert dataset`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use policert_problem::Filter;

use super::{MemorySize, OutputArgs, TaskArgs, duration};

const EXIT_CODES: &str = "\
Exit codes: 0 done; 30 time, 31 memory, 33 interrupted;
40 invalid input, 41 unsupported, 42 usage; 50 internal error.";

/// Arguments of `policert dataset`.
#[derive(Args, Debug)]
#[command(after_help = EXIT_CODES)]
pub struct DatasetArgs {
    /// The question.
    #[command(flatten)]
    pub task: TaskArgs,

    /// Labels among which the policy chooses: all of its labels (none), or the applicable ones
    /// [default: as the interface says]
    #[arg(long, value_enum, help_heading = "Semantics")]
    pub filter: Option<Filter>,

    /// Start in the states that the property names only, not in the model's initial states
    #[arg(long, help_heading = "Semantics")]
    pub no_initial: bool,

    /// Random runs of the policy from start states: every state on them counts
    #[arg(long, value_name = "N", default_value_t = 1000, help_heading = "States")]
    pub rollouts: u64,

    /// After how many steps a run is cut off
    #[arg(long, value_name = "N", default_value_t = 200, help_heading = "States")]
    pub horizon: u32,

    /// States besides: a CSV file with names of variables in its first line
    #[arg(long, value_name = "FILE", help_heading = "States")]
    pub states: Option<PathBuf>,

    /// Seed of all random numbers: the same seed gives the same table
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "States")]
    pub seed: u64,

    /// Stop after this time, for instance 90s, 10m or 1h30m
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Limits")]
    pub timeout: Option<Duration>,

    /// Stop beyond this much memory, for instance 500MB or 4GB
    #[arg(long, value_name = "SIZE", value_parser = MemorySize::read, help_heading = "Limits")]
    pub memory: Option<MemorySize>,

    /// The table to write: a CSV file
    #[arg(long = "output", value_name = "FILE", required = true, help_heading = "Output")]
    pub table: PathBuf,

    /// Output.
    #[command(flatten)]
    pub output: OutputArgs,
}
