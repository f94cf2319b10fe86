//! Arguments of `policert reach`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use policert_numeric::Rational;
use policert_verify::reach::{
    AfterGoal, AggregationChoice, Evaluation, GoalRule, InitialRange, StateSetKind,
};

use super::{EXIT_CODES, MemorySize, OutputArgs, duration, exact_number};

/// Arguments of `policert reach`.
#[derive(Args, Debug)]
#[command(after_help = EXIT_CODES)]
pub struct ReachArgs {
    /// The task: a TOML file
    #[arg(value_name = "TASK")]
    pub task: PathBuf,

    /// The instance of the task, if it has several
    #[arg(long, value_name = "NAME", help_heading = "Model and policy")]
    pub instance: Option<String>,

    /// Let trajectories begin in a part of the initial box alone: the range of a variable within it; given
    /// once for each variable [default: the whole initial box]
    #[arg(long, value_name = "VARIABLE=LOWER..UPPER", help_heading = "Model and policy")]
    pub initial: Vec<InitialRange>,

    /// Each trajectory reaches the goal at a step of its own, or all are in it at once
    /// [default: as the task says]
    #[arg(long, value_enum, help_heading = "Semantics")]
    pub goal: Option<GoalRule>,

    /// The meaning of the unsafe set after the goal was reached [default: as the task says]
    #[arg(long, value_enum, help_heading = "Semantics")]
    pub after_goal: Option<AfterGoal>,

    /// Look for unsafe states between the samples as well
    #[arg(long, help_heading = "Semantics")]
    pub between_samples: bool,

    /// Arithmetic in which networks are evaluated
    #[arg(long, value_enum, default_value_t = Evaluation::F64, help_heading = "Semantics")]
    pub evaluation: Evaluation,

    /// Allow for every order of summation, with its rounding, when networks are evaluated
    #[arg(long, help_heading = "Semantics")]
    pub any_order: bool,

    /// The way to merge adjacent boxes: by the task's distances, by the relations as the paper writes
    /// them, or not at all
    #[arg(long, value_enum, default_value_t = AggregationChoice::OfTask, help_heading = "Engine")]
    pub aggregation: AggregationChoice,

    /// What sets of states are made of where the network reads the state
    #[arg(long, value_enum, default_value_t = StateSetKind::Auto, help_heading = "Engine")]
    pub sets: StateSetKind,

    /// Widths of the cells, one for each variable or one for all; the network is the same, though
    /// it was trained for the task's cells [default: as the task says]
    #[arg(
        long,
        value_name = "WIDTH,…",
        value_delimiter = ',',
        value_parser = exact_number,
        help_heading = "Model and policy"
    )]
    pub granularity: Vec<Rational>,

    /// Greatest number of times that a part of the initial box that is not verified is halved
    /// [default: until the limits of time and memory, or until it is clear that it does not help]
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(0..=64),
        help_heading = "Engine"
    )]
    pub refinements: Option<u32>,

    /// Use at most this many threads
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        value_parser = clap::value_parser!(u16).range(1..=1024),
        help_heading = "Limits"
    )]
    pub threads: u16,

    /// Stop after this time, for instance 90s, 10m or 1h30m
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Limits")]
    pub timeout: Option<Duration>,

    /// Stop beyond this much memory, for instance 500MB or 4GB
    #[arg(long, value_name = "SIZE", value_parser = MemorySize::read, help_heading = "Limits")]
    pub memory: Option<MemorySize>,

    /// Stop if a part of the initial box has more boxes than this at one step
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u64).range(1..),
        help_heading = "Limits"
    )]
    pub box_limit: Option<u64>,

    /// Write finished parts to this file, and go on from it if it is there
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub journal: Option<PathBuf>,

    /// Write the evidence of *safe* as JSON; `-` is standard output
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub evidence: Option<PathBuf>,

    /// Check the evidence again before the verdict is printed: from what would be written and the
    /// input files, as `policert certify` does, without the engine
    #[arg(long, help_heading = "Output")]
    pub certify: bool,

    /// Put the boxes of every step into the result
    #[arg(long, requires = "json", help_heading = "Output")]
    pub record_boxes: bool,

    /// Draw the boxes, some trajectories, goal and unsafe set: an .svg or .png file
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub plot: Option<PathBuf>,

    /// Variables on the axes of the picture, by name or position from 1; one panel for each time it is
    /// given [default: the first two that goal and unsafe set are about]
    #[arg(
        long,
        value_name = "X,Y",
        value_parser = two_names,
        requires = "plot",
        help_heading = "Output"
    )]
    pub plot_dims: Vec<(String, String)>,

    /// Draw how many boxes there are at each step: an .svg or .png file
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub plot_boxes: Option<PathBuf>,

    /// Output.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Two words with a comma between them.
fn two_names(text: &str) -> Result<(String, String), String> {
    match text.split_once(',') {
        Some((x, y)) if !x.trim().is_empty() && !y.trim().is_empty() => {
            Ok((x.trim().to_owned(), y.trim().to_owned()))
        }
        _ => Err("two variables are needed, as in x1,x2".to_owned()),
    }
}
