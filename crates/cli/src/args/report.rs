//! Arguments of `policert report`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::{ColorArgs, MemorySize, duration};

const EXIT_CODES: &str = "\
Exit codes: 0 written; 40 invalid input, 42 usage; 50 internal error. With --certify those of certify.";

/// Arguments of `policert report`.
#[derive(Args, Debug)]
#[command(after_help = EXIT_CODES)]
pub struct ReportArgs {
    /// The result: a file that a command wrote with --json
    #[arg(value_name = "RESULT")]
    pub result: PathBuf,

    /// The evidence of the verdict [default: the file that the result names, if it is there]
    #[arg(long, value_name = "FILE", help_heading = "Model and policy")]
    pub evidence: Option<PathBuf>,

    /// Check the evidence again, as certify does, and say on the page what came out
    #[arg(long, help_heading = "Engine")]
    pub certify: bool,

    /// Stop the check after this time, for instance 90s, 10m or 1h30m
    #[arg(
        long,
        value_name = "TIME",
        value_parser = duration,
        requires = "certify",
        help_heading = "Limits"
    )]
    pub timeout: Option<Duration>,

    /// Stop the check beyond this much memory, for instance 500MB or 4GB
    #[arg(
        long,
        value_name = "SIZE",
        value_parser = MemorySize::read,
        requires = "certify",
        help_heading = "Limits"
    )]
    pub memory: Option<MemorySize>,

    /// The page to write: an HTML file that needs no other
    #[arg(long, value_name = "FILE", required = true, help_heading = "Output")]
    pub out: PathBuf,

    /// Colours.
    #[command(flatten)]
    pub color: ColorArgs,
}
