//! Arguments of `policert bench`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};

use super::{ColorArgs, MemorySize, duration};

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
    /// Make a page, tables and figures of the finished runs
    #[command(after_help = EXIT_CODES)]
    Report(BenchReportArgs),
    /// Write the finished runs in the format of a competition
    #[command(after_help = EXIT_CODES)]
    Export(BenchExportArgs),
    /// Put journals of one suite together, as those of shards
    #[command(after_help = EXIT_CODES)]
    Merge(BenchMergeArgs),
    /// Run one program, and write how much time and memory it took
    #[command(after_help = MEASURE_EXIT_CODES)]
    Measure(BenchMeasureArgs),
}

const MEASURE_EXIT_CODES: &str = "\
Exit codes: 0 the program ended, in whichever way; 42 usage; 50 internal error.";

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

    /// Only runs with this text in the name of the instance or the configuration, or in the values of
    /// axes, such as `seed 1`
    #[arg(long, value_name = "TEXT", help_heading = "Engine")]
    pub only: Option<String>,

    /// Limit of the time of each run, in place of the suite's
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Limits")]
    pub timeout: Option<Duration>,

    /// The shorter study that the suite describes
    #[arg(long, help_heading = "Engine")]
    pub quick: bool,

    /// Only one of N parts of about the same size, such as 1/4
    #[arg(long, value_name = "I/N", default_value_t, help_heading = "Engine")]
    pub shard: Shard,

    /// Make this many runs at the same time; their times are longer then
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        value_parser = clap::value_parser!(u16).range(1..=1024),
        help_heading = "Engine"
    )]
    pub jobs: u16,

    /// Make the runs on the cluster of Ray with this address, through the Python package: `auto` is the
    /// cluster that this machine belongs to, `local` this machine alone
    #[arg(long, value_name = "ADDRESS", conflicts_with = "jobs", help_heading = "Engine")]
    pub ray: Option<String>,

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

    /// The folder for the page, tables and figures
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

/// Arguments of `policert bench export`.
#[derive(Args, Debug)]
pub struct BenchExportArgs {
    /// The suite: a TOML file
    #[arg(value_name = "SUITE")]
    pub suite: PathBuf,

    /// The journal of its runs
    #[arg(long, value_name = "FILE", required = true, help_heading = "Model and policy")]
    pub journal: PathBuf,

    /// The format
    #[arg(long, value_name = "FORMAT", value_enum, required = true, help_heading = "Output")]
    pub format: CompetitionFormat,

    /// The folder for the files
    #[arg(long, value_name = "FOLDER", required = true, help_heading = "Output")]
    pub out: PathBuf,

    /// Colours.
    #[command(flatten)]
    pub color: ColorArgs,
}

/// Values of `--format`.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum CompetitionFormat {
    /// results.csv of ARCH-COMP: benchmark, instance, result, time
    ArchComp,
    /// A JSON file for each probability, as QComp's benchmark set has them
    Qcomp,
}

/// A part of a study.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shard {
    /// Which part; the first one is 1.
    pub part: u16,
    /// Of how many.
    pub of: u16,
}

impl Default for Shard {
    fn default() -> Self {
        Self { part: 1, of: 1 }
    }
}

impl std::fmt::Display for Shard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.part, self.of)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text
            .split_once('/')
            .and_then(|(part, of)| Some(Self { part: part.parse().ok()?, of: of.parse().ok()? }));
        let is_part = |shard: &Self| (1..=shard.of).contains(&shard.part);
        parts.filter(is_part).ok_or_else(|| "a part is I/N with I from 1 to N".to_owned())
    }
}

/// Arguments of `policert bench merge`.
#[derive(Args, Debug)]
pub struct BenchMergeArgs {
    /// The journals. Those of different versions of the program are not mixed
    #[arg(value_name = "JOURNAL", required = true)]
    pub journals: Vec<PathBuf>,

    /// The journal to write
    #[arg(long, value_name = "FILE", required = true, help_heading = "Output")]
    pub out: PathBuf,

    /// Colours.
    #[command(flatten)]
    pub color: ColorArgs,
}

/// Arguments of `policert bench measure`.
#[derive(Args, Debug)]
pub struct BenchMeasureArgs {
    /// The program and its arguments
    #[arg(
        value_name = "COMMAND",
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub command: Vec<OsString>,

    /// Kill the program and all that it started after this time, for instance 90s or 10m
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Limits")]
    pub time: Option<Duration>,

    /// Processor time of each process, in seconds
    #[arg(long, value_name = "SECONDS", help_heading = "Limits")]
    pub cpu: Option<u64>,

    /// Address space of each process, for instance 500MB or 4GB
    #[arg(long, value_name = "SIZE", value_parser = MemorySize::read, help_heading = "Limits")]
    pub memory: Option<MemorySize>,

    /// End the program when standard input ends
    #[arg(long, help_heading = "Limits")]
    pub ends_with_input: bool,

    /// The file to write: exit code, time, processor time and memory as JSON
    #[arg(long, value_name = "FILE", required = true, help_heading = "Output")]
    pub out: PathBuf,

    /// Colours.
    #[command(flatten)]
    pub color: ColorArgs,
}
