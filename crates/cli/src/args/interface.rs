//! Arguments of `policert interface`.

use std::path::PathBuf;

use clap::Args;

use super::{ColorArgs, Constants};

const EXIT_CODES: &str = "\
Exit codes: 0 written; 40 invalid input, 41 unsupported, 42 usage; 50 internal error.";

/// Arguments of `policert interface`.
#[derive(Args, Debug)]
#[command(after_help = EXIT_CODES)]
pub struct InterfaceArgs {
    /// The model: a JANI file, or a domain in PDDL
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,

    /// The problem, where MODEL is a domain in PDDL
    #[arg(long = "problem", value_name = "FILE", help_heading = "Model and policy")]
    pub pddl_problem: Option<PathBuf>,

    /// The policy: a network or a tree ensemble
    #[arg(value_name = "POLICY")]
    pub policy: PathBuf,

    /// The output of an ONNX file that holds the scores, which the interface then names [default: by the
    /// kinds of the outputs]
    #[arg(long, value_name = "NAME", help_heading = "Model and policy")]
    pub scores: Option<String>,

    /// The interface file to write [default: beside the policy, with the ending .interface.json]
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,

    /// Replace a file that is there
    #[arg(long, help_heading = "Output")]
    pub force: bool,

    /// Values for the model's constants; may be repeated
    #[arg(
        long = "const",
        value_name = "NAME=VALUE,…",
        value_parser = Constants::read,
        help_heading = "Model and policy"
    )]
    pub constants: Vec<Constants>,

    /// Colours.
    #[command(flatten)]
    pub color: ColorArgs,
}
