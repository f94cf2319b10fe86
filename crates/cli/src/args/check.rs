//! Arguments of `policert check`.

use clap::Args;

use super::{OutputArgs, TaskArgs};

/// Arguments of `policert check`.
#[derive(Args, Debug)]
pub struct CheckArgs {
    /// The question.
    #[command(flatten)]
    pub task: TaskArgs,

    /// Output.
    #[command(flatten)]
    pub output: OutputArgs,
}
