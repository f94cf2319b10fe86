//! Options of questions about probabilities.

use clap::{Args, ValueEnum};
use policert_numeric::Rational;

use super::values::{precision, probability};

/// How probabilities are computed.
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

    /// How upper bounds of a probability are found; all are proved
    #[arg(
        long,
        value_enum,
        default_value_t = ProbabilityMethodArg::Interval,
        help_heading = "Probability"
    )]
    pub probability_method: ProbabilityMethodArg,

    /// Which part of the abstraction prob-ppa and prob-cegar build for the greatest abstract
    /// probability
    #[arg(
        long,
        value_enum,
        default_value_t = MaxProbArg::OnTheFly,
        help_heading = "Probability"
    )]
    pub max_prob: MaxProbArg,

    /// What prob-cegar learns from where an abstract adversary is spurious
    #[arg(
        long,
        value_enum,
        default_value_t = CounterexamplesArg::Runs,
        help_heading = "Probability"
    )]
    pub counterexamples: CounterexamplesArg,
}

/// Values of `--max-prob`.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum MaxProbArg {
    /// What good adversaries visit (FRET-LRTDP)
    OnTheFly,
    /// All that is reachable
    Complete,
}

/// Values of `--counterexamples`.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum CounterexamplesArg {
    /// Sets of abstract unsafe paths, the probable ones first
    Paths,
    /// Concrete runs under the adversary
    Runs,
}

/// Values of `--probability-method`.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum ProbabilityMethodArg {
    /// Iteration from above and below
    Interval,
    /// Besides, guesses a little above the lower bounds, which a step proves
    Optimistic,
}
