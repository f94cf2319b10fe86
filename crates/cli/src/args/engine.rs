//! Values of the options of engines, and which of them were named.

use clap::parser::ValueSource;
use clap::{ArgMatches, ValueEnum};
use policert_verify::EngineOption;

/// The options on a command line that some engine does not use. One thread is what all can do.
pub fn named(matches: &ArgMatches, threads: u16) -> Vec<EngineOption> {
    let is_named = |option: &EngineOption| {
        let id = option.name().replace('-', "_");
        matches.value_source(&id) == Some(ValueSource::CommandLine)
            && (*option != EngineOption::Threads || threads > 1)
    };
    EngineOption::ALL.into_iter().filter(is_named).collect()
}

/// Values of `--engine`.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum EngineArg {
    /// A portfolio of the others
    Auto,
    /// Enumeration of states
    Explicit,
    /// Policy predicate abstraction
    Ppa,
    /// Policy predicate abstraction that finds its predicates
    Cegar,
    /// Bounded model checking
    Bmc,
    /// IC3 for policies
    Ic3,
    /// Bounds of the greatest probability of reaching an unsafe state
    Prob,
    /// The same by policy predicate abstraction
    ProbPpa,
    /// The same by policy predicate abstraction that finds its predicates
    ProbCegar,
}

/// Values of `--bmc-solver`.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum BmcSolverArg {
    /// Boxes of states, by the decision oracle
    Native,
    /// Z3
    Z3,
}

/// Values of `--search-order`.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum SearchOrderArg {
    /// Those first that were close to an unsafe state on an earlier path
    Guided,
    /// Breadth-first: abstract unsafe paths are shortest
    BreadthFirst,
}

/// Values of `--broken-requirements`.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum BrokenRequirementsArg {
    /// The first one
    First,
    /// All of them
    All,
}

/// Values of `--scope`.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum ScopeArg {
    /// To all abstract states
    Global,
    /// To the abstract states of the path that need them
    Local,
}

/// Values of `--split-variable`.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum SplitVariableArg {
    /// The one whose move changes the lead of the label's score most
    Influence,
    /// The one with the greatest distance
    Distance,
    /// The first in the order of the model
    First,
}

/// Values of `--split-point`.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum SplitPointArg {
    /// Where the policy's choice changes on the way, by bisection
    Choice,
    /// In the middle
    Middle,
    /// Next to the run
    Run,
    /// Next to the other state
    Other,
}

/// Values of `--split-until`.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum SplitUntilArg {
    /// All states are excluded in which the policy chooses the label
    Refuted,
    /// One such state is
    Once,
}
