//! Options of questions about probabilities.

use clap::{Args, ValueEnum};
use policert_verify::Rational;

use super::values::{precision, probability};

/// How probabilities are computed.
#[derive(Args, Debug)]
pub struct ProbabilityArgs {
    /// Of a probability, compute the exact value
    #[arg(long, help_heading = "Probability")]
    pub exact: bool,

    /// Width of the interval for a probability
    #[arg(
        long,
        value_name = "WIDTH",
        default_value = "1e-6",
        value_parser = precision,
        help_heading = "Probability"
    )]
    pub precision: f64,

    /// Safe means: an unsafe state is reached with at most this probability, a decimal such as 0.1
    /// [default: no unsafe state is reachable]
    #[arg(long, value_name = "P", value_parser = probability, help_heading = "Probability")]
    pub bound: Option<Rational>,

    /// How upper bounds of a probability are found; all are proved
    #[arg(
        long,
        value_enum,
        default_value_t = ProbabilityMethodArg::Interval,
        help_heading = "Probability"
    )]
    pub probability_method: ProbabilityMethodArg,
}

/// Values of `--probability-method`.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum ProbabilityMethodArg {
    /// Iteration from above and below
    Interval,
    /// Besides, guesses a little above the lower bounds, which a step proves
    Optimistic,
}
