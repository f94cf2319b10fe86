//! Arguments of `policert certify`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::{MemorySize, OutputArgs, duration};

const EXIT_CODES: &str = "\
Exit codes: 0 confirmed; 30 time, 31 memory, 33 interrupted; 40 invalid input, 41 unsupported,
42 usage; 50 internal error; 51 rejected.";

/// Arguments of `policert certify`.
#[derive(Args, Debug)]
#[command(after_help = EXIT_CODES)]
pub struct CertifyArgs {
    /// The evidence: a file of `policert verify --evidence`. The files that it
    /// names are read again
    #[arg(value_name = "EVIDENCE")]
    pub evidence: PathBuf,

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
