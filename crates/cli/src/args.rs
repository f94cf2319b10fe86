//! The command line: commands, options and their values.

mod asnet;
mod bench;
mod certify;
mod check;
mod color;
mod convert;
mod dataset;
mod engine;
mod generate;
mod idle;
mod interface;
mod plot;
mod probability;
mod query;
mod reach;
mod reading;
mod report;
mod shell;
mod simulate;
mod train;
mod values;

use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{ArgAction, Args, Parser, Subcommand};
use policert_problem::{
    ChoiceRule, DomainSetting, Filter, Numbers, Predicates, Probabilities, Share, StuckStates, Ties,
};
use policert_verify::{EngineOption, Setting};

pub use asnet::{ActivationArg, AsnetArgs, AsnetCommand, AsnetProblemArgs, AsnetTrainArgs};
pub use bench::{
    BenchArgs, BenchCommand, BenchExportArgs, BenchMeasureArgs, BenchMergeArgs, BenchReportArgs,
    BenchRunArgs, CompetitionFormat,
};
pub use certify::CertifyArgs;
pub use check::CheckArgs;
pub use color::{ColorArgs, ColorWhen};
pub use convert::ConvertArgs;
pub use dataset::DatasetArgs;
pub use generate::{DomainArgs, FailingArgs, GenerateArgs, InstanceArgs};
pub use interface::InterfaceArgs;
pub use plot::{PictureArg, PlotArgs};
pub use probability::ProbabilityArgs;
pub use query::QueryArgs;
pub use reach::ReachArgs;
pub use report::ReportArgs;
pub use shell::{CompletionsArgs, ManArgs};
pub use simulate::{SimulateArgs, TraceArg};
pub use train::TrainArgs;
pub use values::{Constants, MemorySize, duration, exact_number};

/// Is my learned action policy safe in this environment? Verdict with evidence.
#[derive(Parser, Debug)]
#[command(name = "policert", version = VERSION.as_str(), propagate_version = true, styles = STYLES)]
#[command(max_term_width = 100, after_help = EXIT_CODES)]
pub struct CommandLine {
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

static VERSION: LazyLock<String> =
    LazyLock::new(|| policert_verify::version_with_parts(option_env!("POLICERT_COMMIT")));

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

const EXIT_CODES: &str = "\
Exit codes: 0 safe, 10 unsafe, 20 unknown; 30 time, 31 memory, 32 other limit, 33 interrupted;
40 invalid input, 41 unsupported, 42 usage; 50 internal error; 51 evidence rejected.";

/// The commands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Verify that no unsafe state is reachable under the policy
    Verify(Box<VerifyArgs>),
    /// Check a model, property and policy: sizes, features, and what does not fit together
    Check(Box<CheckArgs>),
    /// Write a first interface for a model and a policy: which inputs and outputs are which
    Interface(InterfaceArgs),
    /// Find an input that satisfies a VNN-LIB property of a network, or prove that there is none
    Query(Box<QueryArgs>),
    /// Prove that a control loop reaches its goal and avoids its unsafe set, by reachable boxes
    Reach(Box<ReachArgs>),
    /// Draw results of reach: numbers of boxes, or what the granularity does
    Plot(Box<PlotArgs>),
    /// Write a page of HTML about one result: verdict, run, evidence, how to repeat it
    Report(Box<ReportArgs>),
    /// Run a study: instances by configurations, with a journal, tables and figures
    Bench(BenchArgs),
    /// Train a network: for the labels of a model, or for a control loop
    Train(Box<TrainArgs>),
    /// Action schema networks, for all problems of a domain in PDDL: train, draw, export
    Asnet(Box<AsnetArgs>),
    /// Run a policy at random: how often it reaches the goal or an unsafe state, and a run to look at
    Simulate(Box<SimulateArgs>),
    /// Write states and what a policy chooses in them as a table, to train other policies from
    Dataset(Box<DatasetArgs>),
    /// Check the evidence of a verdict from its file, without any engine
    Certify(CertifyArgs),
    /// Write the question for other model checkers: JANI or PRISM, with the policy as an automaton, or
    /// the explicit process
    Convert(Box<ConvertArgs>),
    /// Generate an instance of a domain: model, property, predicates, interface
    Generate(Box<GenerateArgs>),
    /// Print a script with which a shell completes commands and options
    Completions(CompletionsArgs),
    /// Write manual pages, one for each command
    Man(ManArgs),
}

impl Command {
    /// The options of output, where the command has a result.
    fn output(&mut self) -> Option<&mut OutputArgs> {
        match self {
            Self::Verify(arguments) => Some(&mut arguments.output),
            Self::Check(arguments) => Some(&mut arguments.output),
            Self::Query(arguments) => Some(&mut arguments.output),
            Self::Reach(arguments) => Some(&mut arguments.output),
            Self::Train(arguments) => Some(&mut arguments.output),
            Self::Simulate(arguments) => Some(&mut arguments.output),
            Self::Dataset(arguments) => Some(&mut arguments.output),
            Self::Certify(arguments) => Some(&mut arguments.output),
            Self::Convert(arguments) => Some(&mut arguments.output),
            Self::Interface(_)
            | Self::Plot(_)
            | Self::Report(_)
            | Self::Bench(_)
            | Self::Asnet(_)
            | Self::Generate(_)
            | Self::Completions(_)
            | Self::Man(_) => None,
        }
    }
}

/// Model, property and policy; shared by the commands.
#[derive(Args, Debug)]
pub struct TaskArgs {
    /// The model: a JANI file, or a domain in PDDL
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,

    /// The problem, where MODEL is a domain in PDDL
    #[arg(value_name = "PROBLEM")]
    pub pddl_problem: Option<PathBuf>,

    /// The property: a name, or a position in the model or in a file, counted from 0. A name goes
    /// before a position; #N is always a position
    /// [default: the model's first safety property]
    #[arg(long, value_name = "FILE:N|FILE|NAME|#N|N", help_heading = "Model and policy")]
    pub property: Option<String>,

    /// Unsafe states: a condition such as "x >= 3" [default: those of the property]
    #[arg(long = "unsafe", value_name = "CONDITION", help_heading = "Model and policy")]
    pub unsafe_states: Option<String>,

    /// Start states: a condition, or a file that holds one; the model's initial states are start
    /// states besides [default: those of the property]
    #[arg(long, value_name = "CONDITION|FILE", help_heading = "Model and policy")]
    pub start: Option<String>,

    /// The policy: a network or a tree ensemble, in any format that is read [default: the interface's file]
    #[arg(long, value_name = "FILE", help_heading = "Model and policy")]
    pub policy: Option<PathBuf>,

    /// The interface between model and policy, a jani2nnet file [default: the property's file]
    #[arg(long, value_name = "FILE", help_heading = "Model and policy")]
    pub interface: Option<PathBuf>,

    /// The output of an ONNX file that holds the scores [default: as the interface says, else by the
    /// kinds of the outputs]
    #[arg(long, value_name = "NAME", help_heading = "Model and policy")]
    pub scores: Option<String>,

    /// Leave the policy out: all actions are allowed
    #[arg(
        long,
        conflicts_with_all = ["policy", "interface", "scores"],
        help_heading = "Model and policy"
    )]
    pub no_policy: bool,

    /// Values for the model's constants; may be repeated
    #[arg(
        long = "const",
        value_name = "NAME=VALUE,…",
        value_parser = Constants::read,
        help_heading = "Model and policy"
    )]
    pub constants: Vec<Constants>,

    /// Probabilities of the model: also those whose sum misses 1 by at most 10⁻⁶, which are scaled,
    /// or only exact ones
    #[arg(long, value_enum, default_value_t, help_heading = "Model and policy")]
    pub probabilities: Probabilities,
}

/// Options of output; shared by the commands.
#[derive(Args, Debug)]
pub struct OutputArgs {
    /// Write the result as JSON; `-` is standard output
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub json: Option<PathBuf>,

    /// Print the verdict and errors only
    #[arg(long, short, conflicts_with = "verbose", help_heading = "Output")]
    pub quiet: bool,

    /// Print more: notes, inputs, statistics
    #[arg(long, short, action = ArgAction::SetTrue, help_heading = "Output")]
    pub verbose: bool,

    /// Colours.
    #[command(flatten)]
    pub color: ColorArgs,

    /// The arguments of the process, which results record.
    #[arg(skip)]
    pub arguments: Vec<String>,
}

impl OutputArgs {
    /// The options of a command that prints errors alone.
    pub fn quiet(color: ColorArgs) -> Self {
        Self { json: None, quiet: true, verbose: false, color, arguments: Vec::new() }
    }
}

/// Arguments of `policert verify`.
#[derive(Args, Debug)]
#[command(after_help = EXIT_CODES)]
pub struct VerifyArgs {
    /// The question.
    #[command(flatten)]
    pub task: TaskArgs,

    /// The engine that answers
    #[arg(long, value_name = "ENGINE", default_value = "auto", help_heading = "Engine")]
    pub engine: String,

    /// Configuration of the engine: name of a preset, or a file of one's own
    #[arg(long, value_name = "NAME|FILE", default_value = "native", help_heading = "Engine")]
    pub preset: String,

    /// Change a setting of that configuration, such as scope=local; may be repeated. The presets
    /// in docs/configuration.md say what each engine's settings are
    #[arg(long = "set", value_name = "KEY=VALUE", help_heading = "Engine")]
    pub settings: Vec<Setting>,

    /// Predicates of ppa and cegar instead of the property's: none, or thresholds of every variable
    /// by binary search, this percentage of all. The atoms of the unsafe condition are added in any
    /// case [default: those of the property]
    #[arg(long, value_name = "none|splits:N", help_heading = "Engine")]
    pub predicates: Option<Predicates>,

    /// With splits: variables that get their thresholds after all others are full, by name; `*`
    /// stands for any text, `?` for one character; may be repeated
    #[arg(long, value_name = "PATTERN", requires = "predicates", help_heading = "Engine")]
    pub last: Vec<String>,

    /// Options for computing probabilities.
    #[command(flatten)]
    pub probability: ProbabilityArgs,

    /// Labels among which the policy chooses: all of its labels (none), or the applicable ones
    /// [default: as the interface says]
    #[arg(long, value_enum, help_heading = "Semantics")]
    pub filter: Option<Filter>,

    /// The choice if several labels have the greatest score: the first, any of them, or nothing
    /// (strict) [default: as the interface says, else first]
    #[arg(long, value_enum, help_heading = "Semantics")]
    pub ties: Option<Ties>,

    /// Whether the policy takes a label of greatest score (argmax), or draws one by the softmax of its
    /// scores or its class probabilities (sample): then each label of positive probability may be
    /// chosen [default: argmax]
    #[arg(long, value_enum, help_heading = "Semantics")]
    pub choice: Option<ChoiceRule>,

    /// With --choice sample: labels that are less probable than P, such as 0.001 or 1/20, count as
    /// never drawn
    #[arg(long, value_name = "P", help_heading = "Semantics")]
    pub at_least: Option<Share>,

    /// Numbers of the policy: real arithmetic, or every evaluation of its scores in 32-bit floating
    /// point, whatever the order of summation [default: real]
    #[arg(long, value_enum, help_heading = "Semantics")]
    pub numbers: Option<Numbers>,

    /// An update that leaves the domain of a variable is no transition (drop), or an error
    #[arg(long, value_enum, default_value_t = DomainSetting::Drop, help_heading = "Semantics")]
    pub domain: DomainSetting,

    /// States without successors: the goal of the property, or a condition such as "x >= 3"
    #[arg(long, value_name = "goal|CONDITION", help_heading = "Semantics")]
    pub terminal: Option<String>,

    /// Goal states: a condition such as "x >= 3" [default: the goal of the property's objective]
    #[arg(long, value_name = "CONDITION", help_heading = "Semantics")]
    pub goal: Option<String>,

    /// The meaning of a state without successors that is neither terminal nor a goal state: the end
    /// of a run (allowed), or unsafe; engines explicit and auto
    #[arg(long, value_enum, default_value_t = StuckStates::Allowed, help_heading = "Semantics")]
    pub stuck: StuckStates,

    /// Ask whether every run reaches a goal state, instead of whether one reaches an unsafe state;
    /// engines explicit and auto
    #[arg(
        long,
        conflicts_with_all = ["stuck", "keep_going", "stop_at_first_unsafe", "build_all", "bound"],
        help_heading = "Semantics"
    )]
    pub reach_goal: bool,

    /// Start in the states that the property names only, not in the model's initial states
    #[arg(long, help_heading = "Semantics")]
    pub no_initial: bool,

    /// Go on after the first unsafe state, to all reachable states (not beyond unsafe ones); with
    /// bmc, to all lengths
    #[arg(long, help_heading = "Engine")]
    pub keep_going: bool,

    /// Stop at the first unsafe state. Without this ppa goes on, to say which start states are safe;
    /// the other engines stop in any case
    #[arg(long, conflicts_with_all = ["keep_going", "build_all", "start_states"], help_heading = "Engine")]
    pub stop_at_first_unsafe: bool,

    /// Build all states: go on after the first unsafe one, and beyond unsafe and terminal ones
    #[arg(long, help_heading = "Engine")]
    pub build_all: bool,

    /// Stop after this time, for instance 90s, 10m or 1h30m
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Limits")]
    pub timeout: Option<Duration>,

    /// Stop beyond this much memory, for instance 500MB or 4GB
    #[arg(long, value_name = "SIZE", value_parser = MemorySize::read, help_heading = "Limits")]
    pub memory: Option<MemorySize>,

    /// Use at most this many threads
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        value_parser = clap::value_parser!(u16).range(1..=1024),
        help_heading = "Limits"
    )]
    pub threads: u16,

    /// Stop beyond this many states
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u64).range(1..),
        help_heading = "Limits"
    )]
    pub state_limit: Option<u64>,

    /// Write the evidence of the verdict as JSON; `-` is standard output
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub evidence: Option<PathBuf>,

    /// Check the evidence again before the verdict is printed: from what would be written and the
    /// input files, as `policert certify` does, without any engine
    #[arg(long, help_heading = "Output")]
    pub certify: bool,

    /// Write which start states ppa proves safe, as JSON; `-` is standard output
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub start_states: Option<PathBuf>,

    /// Write every query that ppa asks about the policy, with its answer, as lines of JSON
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub record_queries: Option<PathBuf>,

    /// Output.
    #[command(flatten)]
    pub output: OutputArgs,

    /// The options that were named, of those that some engine does not use.
    #[arg(skip)]
    pub named: Vec<EngineOption>,
}

#[cfg(test)]
mod tests;
