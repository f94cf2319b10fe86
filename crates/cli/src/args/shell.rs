//! Arguments of `policert completions` and `policert man`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

/// Arguments of `policert completions`.
#[derive(Args, Debug)]
pub struct CompletionsArgs {
    /// The shell that reads the script
    #[arg(value_enum)]
    pub shell: Shell,
}

/// Arguments of `policert man`.
#[derive(Args, Debug)]
pub struct ManArgs {
    /// The folder that the pages go to; made if it is missing
    #[arg(long, value_name = "DIR", required = true, help_heading = "Output")]
    pub output: PathBuf,
}
