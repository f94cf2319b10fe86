//! Arguments of `policert query`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::{MemorySize, OutputArgs, duration};

const EXIT_CODES: &str = "\
Exit codes: 0 unsat, 10 sat, 20 unknown; 30 time, 31 memory, 33 interrupted; 40 invalid input,
41 unsupported, 42 usage; 50 internal error.";

/// Arguments of `policert query`.
#[derive(Args, Debug)]
#[command(after_help = EXIT_CODES)]
pub struct QueryArgs {
    /// The network: an ONNX (.onnx) or NNet (.nnet) file
    #[arg(value_name = "NET")]
    pub network: PathBuf,

    /// The property: a VNN-LIB file
    #[arg(value_name = "PROPERTY")]
    pub property: PathBuf,

    /// Stop after this time, for instance 90s, 10m or 1h30m
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Limits")]
    pub timeout: Option<Duration>,

    /// Stop beyond this much memory, for instance 500MB or 4GB
    #[arg(long, value_name = "SIZE", value_parser = MemorySize::read, help_heading = "Limits")]
    pub memory: Option<MemorySize>,

    /// Write the evidence of the answer as JSON; `-` is standard output
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub evidence: Option<PathBuf>,

    /// Check the evidence again before the answer is printed: from what would be written and the
    /// input files, as `policert certify` does, without any search
    #[arg(long, help_heading = "Output")]
    pub certify: bool,

    /// Output.
    #[command(flatten)]
    pub output: OutputArgs,
}
