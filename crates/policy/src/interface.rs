//! Interface files (`.jani2nnet`, `.jani2ensemble`): which variables and labels the inputs and
//! outputs of a policy are.
//!
//! ```json
//! {"file": "net.nnet", "filter": false, "elements": [32, 32],
//!  "input": [{"name": "x", "automaton": null},
//!            {"name": "A", "automaton": null, "index": 2},
//!            {"name": "v", "automaton": {"name": "Car", "index": 0}},
//!            {"name": "Car", "index": 0}],
//!  "output": ["go", "wait"],
//!  "never": ["stop"]}
//! ```
//!
//! The four kinds of inputs are a global variable, a cell of an array, a variable of an instance
//! (the index counts the elements of the system) and the location of an instance. `file`,
//! `filter`, `elements` (the sizes of the hidden layers), `rounds` (which rounds of training count)
//! and `never` (labels that the policy is never to choose) may be missing. A transient variable is
//! an input, too: its value in the state. A key that stands twice, or that looks like a misspelt
//! one, is an error; other keys are ignored with a warning.
//!
//! With `"version": 2`, inputs may also be computed, and no key may be unknown:
//!
//! ```json
//! {"version": 2, "file": "policy.onnx", "ties": "first",
//!  "input": {"position": ["x - t", "y / 4", "one_hot(5 * r + c)", "flatten(A)"],
//!            "speed": [{"normalise": ["v"], "mean": [1.5], "variance": [0.25], "clip": 10}],
//!            "mask": "applicable"},
//!  "output": ["go", "wait"]}
//! ```

mod bind;
mod classes;
pub(crate) mod computed;
mod groups;
mod read;
mod similar_names;
mod skeleton;
mod sources;
mod write;

#[cfg(test)]
mod tests;

use std::fmt;
use std::path::Path;

use policert_model::{Expr, VarId};
use policert_numeric::IntBox;

use crate::error::PolicyError;
use crate::json::{self, Lines};
use crate::network::Network;
use crate::read::read_file;
use crate::semantics::{Filter, Ties};
use crate::trees::Rounds;

pub use bind::{Binding, FunctionSizes, InputCount, bind_by_order};
pub(crate) use classes::attach;
pub use groups::{GroupFeed, InputGroup};
pub use skeleton::Skeleton;
pub use sources::{InputSource, NamedExpressions, Normalised, VariablesOnly};

/// The network that reads state variables, where `network` reads the values of expressions over them;
/// with the variables. `domains` are the domains of all variables of the model, by id.
///
/// # Errors
/// Position of an expression that no layers compute, and why.
pub fn reading_expressions(
    network: &Network,
    expressions: Vec<Expr>,
    domains: &IntBox,
) -> Result<(Network, Vec<VarId>), (usize, String)> {
    let sources: Vec<InputSource> = expressions.into_iter().map(InputSource::of).collect();
    computed::before(network, &sources, domains)
}

/// An interface file.
#[derive(Clone, Debug, PartialEq)]
pub struct Interface {
    /// The name of the file in messages.
    pub name: String,
    /// The file of the policy, relative to the interface file.
    pub file: Option<String>,
    /// The labels that compete, if the file says so.
    pub filter: Option<Filter>,
    /// The labels that are chosen at ties, if the file says so.
    pub ties: Option<Ties>,
    /// The output of the policy's graph that has the scores, if the file names one.
    pub scores: Option<String>,
    /// Sizes of the hidden layers.
    pub elements: Option<Vec<usize>>,
    /// The rounds of training that count in a tree ensemble, if the file says so.
    pub rounds: Option<Rounds>,
    /// The inputs in the order of the policy.
    pub inputs: Vec<InputItem>,
    /// The groups of inputs that feed the inputs of the policy's graph; empty if the file names
    /// none.
    pub groups: Vec<InputGroup>,
    /// Names of the labels in the order of the policy's outputs.
    pub outputs: Vec<String>,
    /// Names of labels that belong to the policy, which never chooses them.
    pub never: Vec<String>,
    /// Warnings about keys that are ignored and variables that are read twice.
    pub warnings: Vec<String>,
    /// The lines of the file's values.
    lines: Lines,
}

/// One input of the policy, or several of them.
#[derive(Clone, Debug, PartialEq)]
pub enum InputItem {
    /// A variable, or a cell of an array.
    Variable {
        /// Its name.
        name: String,
        /// The instance whose variable it is; `None` for a global one.
        instance: Option<InstanceItem>,
        /// The cell, for an array.
        cell: Option<usize>,
    },
    /// The location of an instance.
    Location(InstanceItem),
    /// The value of an expression; `one_hot(…)` and `flatten(…)` are several inputs.
    Expression(String),
    /// Inputs that are normalised before the policy reads them.
    Normalised {
        /// The inputs that are normalised.
        items: Vec<InputItem>,
        /// The mean and the variance of each.
        statistics: InputStatistics,
    },
}

/// The statistics of inputs: x becomes (x − mean) / √(variance + epsilon), cut off at ±clip.
#[derive(Clone, Debug, PartialEq)]
pub struct InputStatistics {
    /// One for each input.
    pub mean: Vec<f64>,
    /// One for each input.
    pub variance: Vec<f64>,
    /// The number that is added to the variance.
    pub epsilon: f64,
    /// The greatest magnitude, if there is one.
    pub clip: Option<f64>,
}

/// An automaton instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstanceItem {
    /// Name of the automaton.
    pub automaton: String,
    /// Position in the elements of the system.
    pub index: usize,
}

impl fmt::Display for InstanceItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.automaton, self.index)
    }
}

impl fmt::Display for InputItem {
    /// As the model names its variables: `x`, `A[2]`, `Car#0.v`, `Car#0`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InputItem::Location(instance) => instance.fmt(f),
            InputItem::Expression(text) => f.write_str(text),
            InputItem::Normalised { items, .. } => {
                let items: Vec<String> = items.iter().map(ToString::to_string).collect();
                write!(f, "normalise({})", items.join(", "))
            }
            InputItem::Variable { name, instance, cell } => {
                if let Some(instance) = instance {
                    write!(f, "{instance}.")?;
                }
                f.write_str(name)?;
                cell.map_or(Ok(()), |cell| write!(f, "[{cell}]"))
            }
        }
    }
}

impl Interface {
    /// Reads an interface file.
    ///
    /// # Errors
    /// If the file cannot be read or breaks the format.
    pub fn read(path: &Path) -> Result<Self, PolicyError> {
        Self::parse(&path.display().to_string(), &read_file(path)?)
    }

    /// Reads the bytes of an interface file; `name` is used in messages.
    ///
    /// # Errors
    /// If they break the format: all places where they do.
    pub fn parse(name: &str, bytes: &[u8]) -> Result<Self, PolicyError> {
        let value = json::parse(bytes).map_err(|error| error.in_file(name))?;
        read::interface(name, &value, Lines::of(bytes))
    }

    /// The problems as an error, with the lines of the places that they name.
    fn mismatch(&self, problems: Vec<String>) -> PolicyError {
        PolicyError::Mismatch { file: self.name.clone(), problems: self.lines.named(problems) }
    }
}
