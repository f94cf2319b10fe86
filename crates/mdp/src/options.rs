//! How problems are solved.

use serde::{Deserialize, Serialize};

/// Says how upper bounds are found. Both are proved.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Iteration from above and below.
    #[default]
    #[serde(rename = "interval")]
    IntervalIteration,
    /// Besides, guesses a little above the lower bounds, which are taken if a step proves them.
    Optimistic,
}

/// Says how a problem is solved.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SolveOptions {
    /// Width of the bounds of the initial states. \[default: 1e-6\]
    pub precision: f64,
    /// The way in which upper bounds are found. \[default: interval iteration\]
    pub method: Method,
    /// True if exact values are computed. \[default: no\]
    pub exact: bool,
}

impl Default for SolveOptions {
    fn default() -> Self {
        Self { precision: 1e-6, method: Method::default(), exact: false }
    }
}
