//! Arguments of `policert asnet`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};

use super::{ColorArgs, duration};

const EXIT_CODES: &str = "\
Exit codes: 0 written; 40 invalid input, 41 unsupported, 42 usage; 50 internal error.";

/// Arguments of `policert asnet`.
#[derive(Args, Debug)]
#[command(after_help = EXIT_CODES)]
pub struct AsnetArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: AsnetCommand,
}

/// What can be done with action schema networks.
#[derive(Subcommand, Debug)]
pub enum AsnetCommand {
    /// Train a network on problems of a domain in PDDL
    #[command(after_help = EXIT_CODES)]
    Train(AsnetTrainArgs),
    /// Draw which modules of a problem's network read which, as SVG
    #[command(after_help = EXIT_CODES)]
    Show(AsnetProblemArgs),
    /// Write the network of one problem as ONNX
    #[command(after_help = EXIT_CODES)]
    Export(AsnetProblemArgs),
}

/// Arguments of `policert asnet train`.
#[derive(Args, Debug)]
pub struct AsnetTrainArgs {
    /// The domain
    #[arg(value_name = "DOMAIN")]
    pub domain: PathBuf,

    /// The problems to train on: small ones, whose states can all be visited
    #[arg(value_name = "PROBLEM", required = true)]
    pub problems: Vec<PathBuf>,

    /// A problem that the network is only tried on at the end; may be repeated
    #[arg(long, value_name = "PROBLEM", help_heading = "Training")]
    pub unseen: Vec<PathBuf>,

    /// Number of proposition layers; there is one action layer more
    #[arg(
        long,
        value_name = "N",
        default_value_t = 2,
        value_parser = clap::value_parser!(u16).range(0..=64),
        help_heading = "Network"
    )]
    pub layers: u16,

    /// Number of elements of each module's output
    #[arg(
        long,
        value_name = "N",
        default_value_t = 8,
        value_parser = clap::value_parser!(u16).range(1..=256),
        help_heading = "Network"
    )]
    pub dimension: u16,

    /// The function after each module
    #[arg(long, value_enum, default_value_t, help_heading = "Network")]
    pub activation: ActivationArg,

    /// Leave out the connections from modules to themselves in the next layer
    #[arg(long, help_heading = "Network")]
    pub no_skip: bool,

    /// Seed of what is drawn
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Training")]
    pub seed: u64,

    /// Most rounds: each runs the network in all problems, and takes steps
    #[arg(
        long,
        value_name = "N",
        default_value_t = 60,
        value_parser = clap::value_parser!(u16).range(1..),
        help_heading = "Training"
    )]
    pub rounds: u16,

    /// Steps of each round, on 64 states each
    #[arg(
        long,
        value_name = "N",
        default_value_t = 100,
        value_parser = clap::value_parser!(u16).range(1..),
        help_heading = "Training"
    )]
    pub batches: u16,

    /// Stop training after this time, for instance 90s or 10m
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Limits")]
    pub timeout: Option<Duration>,

    /// The file to write
    #[arg(long, value_name = "FILE", required = true, help_heading = "Output")]
    pub output: PathBuf,

    /// Colours.
    #[command(flatten)]
    pub color: ColorArgs,
}

/// The functions after a module.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum ActivationArg {
    /// max(x, 0)
    #[default]
    Relu,
    /// x where it is positive, else eˣ − 1
    Elu,
}

/// Arguments about one problem.
#[derive(Args, Debug)]
pub struct AsnetProblemArgs {
    /// The domain
    #[arg(value_name = "DOMAIN")]
    pub domain: PathBuf,

    /// The problem
    #[arg(value_name = "PROBLEM")]
    pub problem: PathBuf,

    /// The network
    #[arg(long, value_name = "FILE", required = true, help_heading = "Policy")]
    pub policy: PathBuf,

    /// The file to write
    #[arg(long, value_name = "FILE", required = true, help_heading = "Output")]
    pub output: PathBuf,

    /// Colours.
    #[command(flatten)]
    pub color: ColorArgs,
}
