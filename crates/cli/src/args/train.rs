//! Arguments of `policert train`.

mod learning;

use std::path::PathBuf;
use std::time::Duration;

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command};
use policert_lab::HiddenActivation;
use policert_numeric::Rational;

use super::{MemorySize, OutputArgs, duration, exact_number};

const EXIT_CODES: &str = "\
Exit codes: 0 the network does as asked, 20 it does not; 30 time, 31 memory, 33 interrupted;
40 invalid input, 41 unsupported, 42 usage; 50 internal error.";

use learning::LearningArgs;

/// Arguments of `policert train`.
#[derive(Args, Debug)]
#[command(after_help = EXIT_CODES)]
pub struct TrainArgs {
    /// A control loop, a TOML file, or a model, a JANI file
    #[arg(value_name = "TASK|MODEL")]
    pub task: PathBuf,

    /// The instance of the task, if it has several
    #[arg(long, value_name = "NAME", help_heading = "Control loops")]
    pub instance: Option<String>,

    /// The network reads the cell of the state, with cells of these widths, one for each variable
    /// or one for all [default: the task's cells]
    #[arg(
        long = "abstract",
        value_name = "WIDTH,…",
        value_delimiter = ',',
        value_parser = exact_number,
        conflicts_with = "plain",
        help_heading = "Control loops"
    )]
    pub cells: Vec<Rational>,

    /// The network reads the state itself
    #[arg(long, help_heading = "Control loops")]
    pub plain: bool,

    /// Widths of the network's hidden layers [default: 20,20 for control loops; for
    /// models what the interface says, else 64,64]
    #[arg(long, value_name = "N,…", value_delimiter = ',', help_heading = "Network")]
    pub hidden: Vec<usize>,

    /// Activation function of the hidden layers [default: tanh for control loops; models allow relu only]
    #[arg(long, value_enum, help_heading = "Network")]
    pub activation: Option<HiddenActivation>,

    /// Seed of all random numbers: the same seed gives the same network
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Engine")]
    pub seed: u64,

    /// Stop after this time, for instance 90s, 10m or 1h30m
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Limits")]
    pub timeout: Option<Duration>,

    /// Stop beyond this much memory, for instance 500MB or 4GB
    #[arg(long, value_name = "SIZE", value_parser = MemorySize::read, help_heading = "Limits")]
    pub memory: Option<MemorySize>,

    /// The network to write: an ONNX file; for models a name, to which .nnet, .onnx, .jani2nnet
    /// and .card.json are appended [default for models: beside the interface, as it says]
    #[arg(long, value_name = "FILE|NAME", help_heading = "Output")]
    pub out: Option<PathBuf>,

    /// Options for models.
    #[command(flatten)]
    pub learning: LearningArgs,

    /// The options for models that were given, as they are written.
    #[arg(skip)]
    pub given_for_models: Vec<String>,

    /// Output.
    #[command(flatten)]
    pub output: OutputArgs,
}

impl TrainArgs {
    /// Takes note of which options for models were given.
    pub(super) fn note_given(&mut self, matches: &ArgMatches) {
        let known = LearningArgs::augment_args(Command::new("models"));
        let given = known.get_arguments().filter(|option| {
            let id = option.get_id().as_str();
            matches.value_source(id) == Some(ValueSource::CommandLine)
        });
        let written = given.filter_map(|option| option.get_long().map(|long| format!("--{long}")));
        self.given_for_models = written.collect();
    }
}
