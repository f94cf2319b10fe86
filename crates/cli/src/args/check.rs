//! Arguments of `policert check`.

use std::time::Duration;

use clap::Args;

use super::{MemorySize, OutputArgs, TaskArgs, duration};

/// Arguments of `policert check`.
#[derive(Args, Debug)]
pub struct CheckArgs {
    /// The question.
    #[command(flatten)]
    pub task: TaskArgs,

    /// Stop after this time, for instance 90s, 10m or 1h30m
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Limits")]
    pub timeout: Option<Duration>,

    /// Stop beyond this much memory, for instance 500MB or 4GB
    #[arg(long, value_name = "SIZE", value_parser = MemorySize::read, help_heading = "Limits")]
    pub memory: Option<MemorySize>,

    /// Output.
    #[command(flatten)]
    pub output: OutputArgs,
}
