//! Options of questions about probabilities.

use clap::Args;
use policert_numeric::Rational;

use super::values::{precision, probability};

/// Options for computing probabilities.
#[derive(Args, Debug)]
pub struct ProbabilityArgs {
    /// Of a probability, compute the exact value
    #[arg(long, help_heading = "Probability")]
    pub exact: bool,

    /// Width of the interval for a probability [default: 1e-6; of prob-cegar 0.05]
    #[arg(long, value_name = "WIDTH", value_parser = precision, help_heading = "Probability")]
    pub precision: Option<f64>,

    /// Safe means: an unsafe state is reached with at most this probability, a decimal such as 0.1
    /// [default: no unsafe state is reachable]
    #[arg(long, value_name = "P", value_parser = probability, help_heading = "Probability")]
    pub bound: Option<Rational>,
}
