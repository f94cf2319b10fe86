//! Arguments of `policert train`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::{EXIT_CODES, MemorySize, OutputArgs, duration};

/// Arguments of `policert train`.
#[derive(Args, Debug)]
#[command(after_help = EXIT_CODES)]
pub struct TrainArgs {
    /// The task: a TOML file
    #[arg(value_name = "TASK")]
    pub task: PathBuf,

    /// Which instance of the task
    #[arg(long, value_name = "NAME", help_heading = "Model and policy")]
    pub instance: Option<String>,

    /// The network reads the cell of the state, with cells of these widths, one for each variable
    /// or one for all [default: the task's cells]
    #[arg(
        long = "abstract",
        value_name = "WIDTH,…",
        value_delimiter = ',',
        conflicts_with = "plain",
        help_heading = "Model and policy"
    )]
    pub cells: Vec<String>,

    /// The network reads the state itself
    #[arg(long, help_heading = "Model and policy")]
    pub plain: bool,

    /// Widths of the network's hidden layers
    #[arg(
        long,
        value_name = "N,…",
        value_delimiter = ',',
        default_value = "20,20",
        help_heading = "Model and policy"
    )]
    pub hidden: Vec<usize>,

    /// What hidden layers apply
    #[arg(
        long,
        value_enum,
        default_value_t = ActivationArg::Tanh,
        help_heading = "Model and policy"
    )]
    pub activation: ActivationArg,

    /// Seed of all random numbers: the same seed gives the same network
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Engine")]
    pub seed: u64,

    /// Stop after this time, for instance 90s, 10m or 1h30m
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Limits")]
    pub timeout: Option<Duration>,

    /// Stop beyond this much memory, for instance 500MB or 4GB
    #[arg(long, value_name = "SIZE", value_parser = MemorySize::read, help_heading = "Limits")]
    pub memory: Option<MemorySize>,

    /// Where the network goes: an ONNX file
    #[arg(long, value_name = "FILE", required = true, help_heading = "Output")]
    pub out: PathBuf,

    /// Output.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Values of `--activation`.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum ActivationArg {
    /// max(x, 0)
    Relu,
    /// The hyperbolic tangent
    Tanh,
}
