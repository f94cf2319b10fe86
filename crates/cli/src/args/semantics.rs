//! Values of the options that say what a verdict means.

use clap::ValueEnum;

/// Values of `--filter`.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum FilterArg {
    /// Among all labels: where the chosen one is not applicable, the policy stops
    None,
    /// Among the labels applicable in the state
    Applicable,
}

/// Values of `--ties`.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum TiesArg {
    /// The label with the lowest position among the outputs
    First,
    /// Each of them: safe means safe for every rule
    Any,
    /// Nothing: can call an unsafe policy safe
    Strict,
}

/// Values of `--numbers`.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum NumbersArg {
    /// The real-valued function given by the weights as stored
    Real,
    /// Every evaluation with 32-bit floating-point numbers: not supported, ends with 41
    F32,
}

/// Values of `--stuck`.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum StuckArg {
    /// The end of a run
    Allowed,
    /// Unsafe
    Unsafe,
}
