//! Arguments of `policert convert`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use policert_lab::{ConvertFormat, PolicyEncoding};
use policert_problem::{DomainSetting, Filter, Ties};

use super::{EXIT_CODES, MemorySize, OutputArgs, TaskArgs, duration};

/// Arguments of `policert convert`.
#[derive(Args, Debug)]
#[command(after_help = EXIT_CODES)]
pub struct ConvertArgs {
    /// The question.
    #[command(flatten)]
    pub task: TaskArgs,

    /// The format: JANI, PRISM (with a file of properties beside), or the explicit process that the
    /// policy leaves in Storm's format DRN
    #[arg(long = "to", value_enum, default_value_t = ConvertFormat::Jani, help_heading = "Format")]
    pub format: ConvertFormat,

    /// In JANI and PRISM, write the policy as an automaton: with real-valued variables, or with
    /// integers that are N decimal places
    #[arg(long, value_name = "real|discrete:N", help_heading = "Format")]
    pub policy_as_automaton: Option<PolicyEncoding>,

    /// Labels among which the policy chooses: all of its labels (none), or the applicable ones
    /// [default: as the interface says]
    #[arg(long, value_enum, help_heading = "Semantics")]
    pub filter: Option<Filter>,

    /// The choice if several labels have the greatest score: the first, any of them, or nothing
    /// (strict) [default: as the interface says, else first]
    #[arg(long, value_enum, help_heading = "Semantics")]
    pub ties: Option<Ties>,

    /// An update that leaves the domain of a variable is no transition (drop), or an error, which the
    /// other model checker finds
    #[arg(long, value_enum, default_value_t = DomainSetting::Drop, help_heading = "Semantics")]
    pub domain: DomainSetting,

    /// States without successors: the goal of the property, or a condition such as "x >= 3"
    #[arg(long, value_name = "goal|CONDITION", help_heading = "Semantics")]
    pub terminal: Option<String>,

    /// Start in the states that the property names only, not in the model's initial states
    #[arg(long, help_heading = "Semantics")]
    pub no_initial: bool,

    /// Stop building states after this time, for instance 90s, 10m or 1h30m
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Limits")]
    pub timeout: Option<Duration>,

    /// Stop building states beyond this much memory, for instance 500MB or 4GB
    #[arg(long, value_name = "SIZE", value_parser = MemorySize::read, help_heading = "Limits")]
    pub memory: Option<MemorySize>,

    /// The file to write
    #[arg(
        long = "output",
        visible_alias = "out",
        value_name = "FILE",
        required = true,
        help_heading = "Output"
    )]
    pub file: PathBuf,

    /// Output.
    #[command(flatten)]
    pub output: OutputArgs,
}
