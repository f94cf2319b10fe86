//! Arguments of `policert generate`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::ColorWhen;

const EXIT_CODES: &str = "\
Exit codes: 0 done; 30 to 33 the count was stopped; 40 invalid input, 42 usage; 50 internal error.";

/// Arguments of `policert generate`.
#[derive(Args, Debug)]
#[command(after_help = EXIT_CODES)]
pub struct GenerateArgs {
    /// The domain.
    #[command(subcommand)]
    pub domain: DomainArgs,
}

/// The domains.
#[derive(Subcommand, Debug)]
pub enum DomainArgs {
    /// Blocks to be stacked in order, with a table of limited size
    #[command(after_help = EXIT_CODES)]
    Blocksworld(BlocksworldArgs),
}

/// How moves fail, where they can.
#[derive(Args, Debug)]
pub struct FailingArgs {
    /// Probability that a move fails and raises a cost; 0: never, no costs
    /// [default: it fails or not, non-deterministically]
    #[arg(long, value_name = "P", help_heading = "Domain")]
    pub failing_probability: Option<String>,

    /// How often moves of one thing may fail
    #[arg(long, value_name = "N", default_value_t = 12, help_heading = "Domain")]
    pub cost_bound: i64,

    /// Let the policy read the costs, and reward steps by them
    #[arg(long, help_heading = "Domain")]
    pub cost_aware: bool,
}

/// Arguments of `policert generate blocksworld`.
#[derive(Args, Debug)]
pub struct BlocksworldArgs {
    /// Number of blocks
    #[arg(value_name = "N", allow_negative_numbers = true)]
    pub blocks: i64,

    /// Most blocks that the table may bear [default: N - 1]
    #[arg(long, value_name = "N", help_heading = "Domain")]
    pub table_limit: Option<i64>,

    /// How moves fail.
    #[command(flatten)]
    pub failing: FailingArgs,

    /// The files.
    #[command(flatten)]
    pub files: InstanceArgs,
}

/// What all domains have.
#[derive(Args, Debug)]
pub struct InstanceArgs {
    /// The folder that the files go to; made if it is missing
    #[arg(long = "output", value_name = "DIR", required = true, help_heading = "Output")]
    pub folder: PathBuf,

    /// Replace files that are there
    #[arg(long, help_heading = "Output")]
    pub force: bool,

    /// Sizes of the hidden layers of the policy to be trained
    #[arg(
        long,
        value_name = "N,…",
        value_delimiter = ',',
        default_values_t = [16, 16],
        value_parser = clap::value_parser!(u16).range(1..=4096),
        help_heading = "Policy"
    )]
    pub hidden: Vec<u16>,

    /// Let the policy choose among the labels that are applicable
    #[arg(long, help_heading = "Policy")]
    pub filter: bool,

    /// Count the states that are reachable without policy; what lies behind unsafe states is left
    /// out
    #[arg(long, help_heading = "Output")]
    pub count: bool,

    /// Most states to count
    #[arg(long, value_name = "N", default_value_t = 1_000_000, help_heading = "Output")]
    pub max_states: u64,

    /// Write the summary as JSON; `-` is standard output
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub json: Option<PathBuf>,

    /// Print nothing but errors
    #[arg(long, short, help_heading = "Output")]
    pub quiet: bool,

    /// Whether to use colours
    #[arg(
        long,
        value_name = "WHEN",
        value_enum,
        default_value_t = ColorWhen::Auto,
        default_missing_value = "always",
        num_args = 0..=1,
        require_equals = true,
        help_heading = "Output"
    )]
    pub color: ColorWhen,
}
