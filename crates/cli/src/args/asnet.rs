//! Arguments of `policert asnet`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};

use super::{ColorArgs, MemorySize, duration};

const EXIT_CODES: &str = "\
Exit codes: 0 written; 30 time, 31 memory, 33 interrupted; 40 invalid input, 41 unsupported,
42 usage; 50 internal error.";

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

    /// The problems to train on
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

    /// Steps of each round
    #[arg(
        long,
        value_name = "N",
        default_value_t = 100,
        value_parser = clap::value_parser!(u16).range(1..),
        help_heading = "Training"
    )]
    pub batches: u16,

    /// States of a step
    #[arg(
        long,
        value_name = "N",
        default_value_t = 64,
        value_parser = clap::value_parser!(u16).range(1..),
        help_heading = "Training"
    )]
    pub batch: u16,

    /// The length of steps at first; it falls with the root of the rounds
    #[arg(long, value_name = "X", default_value_t = 0.003, help_heading = "Training")]
    pub rate: f64,

    /// The factor of the squares of the weights in what is minimised, halved
    #[arg(long, value_name = "X", default_value_t = 2e-4, help_heading = "Training")]
    pub weight_decay: f64,

    /// The factor of the magnitudes of the weights in what is minimised
    #[arg(long, value_name = "X", default_value_t = 0.0, help_heading = "Training")]
    pub l1: f64,

    /// The probability with which a step leaves out an output of a module
    #[arg(long, value_name = "P", default_value_t = 0.0, help_heading = "Training")]
    pub dropout: f64,

    /// Let actions that do count as the best ones: where the network itself reaches the goal those it takes,
    /// where it goes round those that lead to where it reaches the goal. A small network may learn to reach
    /// the goal where it cannot learn shortest ways
    #[arg(long, help_heading = "Training")]
    pub any_way: bool,

    /// Most actions of a run of the network
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1000,
        value_parser = clap::value_parser!(u32).range(1..),
        help_heading = "Training"
    )]
    pub horizon: u32,

    /// Most states of a problem in which the teacher computes all distances; in larger problems it
    /// searches for shortest ways
    #[arg(long, value_name = "N", default_value_t = 400_000, help_heading = "Training")]
    pub exact_states: u32,

    /// Limits.
    #[command(flatten)]
    pub limits: AsnetLimits,

    /// After each round, write a file from which training can be continued
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub checkpoint: Option<PathBuf>,

    /// Continue from such a file, with the same problems and options; --rounds may be more
    #[arg(long, value_name = "FILE", help_heading = "Training")]
    pub resume: Option<PathBuf>,

    /// The file to write
    #[arg(long, value_name = "FILE", required = true, help_heading = "Output")]
    pub output: PathBuf,

    /// Colours.
    #[command(flatten)]
    pub color: ColorArgs,
}

/// Limits of what may be used.
#[derive(Args, Debug)]
pub struct AsnetLimits {
    /// Stop after this time, for instance 90s or 10m; a network that was trained so far is written
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Limits")]
    pub timeout: Option<Duration>,

    /// Stop beyond this much memory, for instance 500MB or 4GB
    #[arg(long, value_name = "SIZE", value_parser = MemorySize::read, help_heading = "Limits")]
    pub memory: Option<MemorySize>,
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

    /// Limits.
    #[command(flatten)]
    pub limits: AsnetLimits,

    /// The file to write
    #[arg(long, value_name = "FILE", required = true, help_heading = "Output")]
    pub output: PathBuf,

    /// Colours.
    #[command(flatten)]
    pub color: ColorArgs,
}
