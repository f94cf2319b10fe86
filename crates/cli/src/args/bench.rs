//! Arguments of `policert bench`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};

use super::{ColorArgs, duration};

const EXIT_CODES: &str = "\
Exit codes: 0 done; 33 interrupted; 40 invalid input, 42 usage; 50 internal error.";

/// Arguments of `policert bench`.
#[derive(Args, Debug)]
#[command(after_help = EXIT_CODES)]
pub struct BenchArgs {
    /// The subcommand.
    #[command(subcommand)]
    pub command: BenchCommand,
}

/// The parts of a study.
#[derive(Subcommand, Debug)]
pub enum BenchCommand {
    /// Run what a suite lists, each run in a process of its own, and keep what is finished
    #[command(after_help = EXIT_CODES)]
    Run(BenchRunArgs),
    /// Make tables and figures of the finished runs
    #[command(after_help = EXIT_CODES)]
    Report(BenchReportArgs),
}

/// Arguments of `policert bench run`.
#[derive(Args, Debug)]
pub struct BenchRunArgs {
    /// The suite: a TOML file
    #[arg(value_name = "SUITE")]
    pub suite: PathBuf,

    /// The journal of finished runs, one line each
    #[arg(long, value_name = "FILE", required = true, help_heading = "Output")]
    pub journal: PathBuf,

    /// Go on with a journal that is there
    #[arg(long, help_heading = "Output")]
    pub resume: bool,

    /// Only instances or configurations whose name contains this text
    #[arg(long, value_name = "TEXT", help_heading = "Engine")]
    pub only: Option<String>,

    /// Limit of the time of each run, in place of the suite's
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Limits")]
    pub timeout: Option<Duration>,

    /// Print nothing but errors
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,

    /// Colours.
    #[command(flatten)]
    pub color: ColorArgs,
}

/// Arguments of `policert bench report`.
#[derive(Args, Debug)]
pub struct BenchReportArgs {
    /// The suite: a TOML file
    #[arg(value_name = "SUITE")]
    pub suite: PathBuf,

    /// The journal of its runs
    #[arg(long, value_name = "FILE", required = true, help_heading = "Model and policy")]
    pub journal: PathBuf,

    /// The folder for tables and figures
    #[arg(long, value_name = "FOLDER", required = true, help_heading = "Output")]
    pub out: PathBuf,

    /// Format of the figures
    #[arg(
        long,
        value_name = "FORMAT",
        value_enum,
        default_value_t = FigureFormat::Svg,
        help_heading = "Output"
    )]
    pub figures: FigureFormat,

    /// Colours.
    #[command(flatten)]
    pub color: ColorArgs,
}

/// Values of `--figures`.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum FigureFormat {
    /// SVG files
    Svg,
    /// PNG files
    Png,
}

impl FigureFormat {
    /// The ending of files.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Svg => "svg",
            Self::Png => "png",
        }
    }
}
