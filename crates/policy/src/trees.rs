//! Tree ensembles: readers of the libraries' formats, and scores.
//!
//! An [`Ensemble`] is what a file says: thresholds, and how the library compares with them
//! ([`Rule`]). A policy's inputs are integers, for which every comparison becomes `x ≤ k`:
//! [`IntegerTrees`], with exact scores. The score of an output is the base score plus the values of
//! the leaves that are reached, in real arithmetic.
//!
//! | library | format | comparison that goes left |
//! |---|---|---|
//! | Veritas | JSON, old and new layout | `x < t`, x in single precision |
//! | XGBoost | JSON, UBJSON | `x < t`, both in single precision |
//! | LightGBM | text, JSON | `x <= t` in double precision, zero and NaN by the missing type |
//! | scikit-learn and others | ONNX-ML tree ensembles | the node's mode, x in single precision |

mod assemble;
mod categories;
mod classes;
mod column;
mod ensemble;
mod integer_trees;
mod lightgbm;
mod linear_leaves;
mod normalised;
mod onnx_ml;
mod place;
mod question;
mod rounds;
mod rule;
mod summation;
mod ubjson;
mod veritas;
mod xgboost;

#[cfg(test)]
mod tests;

use serde_json::Value;

use crate::error::PolicyError;
use crate::json;
use crate::sampling::Law;

pub use classes::Classes;
pub use column::{Arithmetic, Column, Kind, Lookup, Number, Source, Step};
pub use ensemble::{Ensemble, LinearLeaf, Tree, TreeNode};
pub use integer_trees::{IntegerNode, IntegerTree, IntegerTrees, LeafValue};
pub(crate) use linear_leaves::with_constant_leaves;
pub use normalised::{Norm, Normalised};
pub(crate) use onnx_ml::{LABEL_ENCODER, is_tree_ensemble, lookup};
pub(crate) use question::Questions;
pub use rounds::Rounds;
pub use rule::{Missing, Precision, Rule, RuleComparison};
pub use summation::{Link, Summation};
pub(crate) use ubjson::is_likely as is_ubjson;

/// A tree ensemble and what its file says beside the trees.
#[derive(Clone, PartialEq, Debug)]
pub struct TreesFile {
    /// The ensemble.
    pub ensemble: Ensemble,
    /// The names and the number of the features, as far as the file gives them.
    pub features: Features,
    /// The classes in the order of the outputs, if the file names them.
    pub classes: Option<Classes>,
    /// The law by which scores become the probabilities of the classes, if it is known.
    pub law: Option<Law>,
    /// How the library adds up the leaves; or why that is not known.
    pub summation: Result<Summation, &'static str>,
    /// Remarks for the user, for example that not all rounds count.
    pub notes: Vec<String>,
}

impl TreesFile {
    /// The number of outputs of a policy for which so many are listed: two for a single score, if two
    /// are listed.
    pub(crate) fn outputs_for(&self, listed: usize) -> usize {
        match self.ensemble.outputs() {
            1 if listed == 2 && self.classes.is_none() => 2,
            outputs => outputs,
        }
    }

    /// How the library computes the scores of a policy with so many outputs; or why that is not known.
    pub(crate) fn summation_for(&self, outputs: usize) -> Result<Summation, &'static str> {
        let summation = self.summation.clone()?;
        match self.outputs_for(outputs) == self.ensemble.outputs() {
            true => Ok(summation),
            false => Ok(summation.of_two_classes()),
        }
    }

    /// The ensemble for a policy with these numbers of inputs and outputs: a single score and two
    /// outputs are a classifier of two classes, and where the file does not say how many inputs
    /// there are, there may be more than the trees read.
    #[must_use]
    pub fn fitted(self, inputs: usize, outputs: usize) -> Ensemble {
        let as_two_classes = self.outputs_for(outputs) != self.ensemble.outputs();
        let mut ensemble = self.ensemble;
        if as_two_classes {
            ensemble = ensemble.as_two_classes();
        }
        if self.features.count.is_none() && inputs > ensemble.inputs() {
            ensemble = ensemble.with_inputs(inputs);
        }
        ensemble
    }
}

/// The statements of a file about its features.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Features {
    /// Their number, if the file says it.
    pub count: Option<usize>,
    /// Their names in their order; empty if the file has none.
    pub names: Vec<String>,
    /// Names and widths of the inputs of a graph that has several; else none.
    pub groups: Vec<(String, usize)>,
}

impl Rounds {
    /// Restricts a file that does not tell which trees belong to a round; only all rounds can be
    /// taken from it.
    fn without_names(self, read: Result<TreesFile, PolicyError>) -> Result<TreesFile, PolicyError> {
        match self {
            Self::Best | Self::All => read,
            Self::First(_) => {
                let message = "the file does not say which trees belong to a round of training, so \
                               the first rounds cannot be taken";
                Err(PolicyError::unsupported("", message))
            }
        }
    }
}

/// Reads a tree ensemble from the bytes of a file, by its content; `name` is used in messages.
/// ONNX files are read by [`parse_onnx_trees`].
///
/// # Errors
/// If the file has none of the formats, breaks its format, contradicts itself, or has something that
/// is not supported.
pub fn parse_trees(name: &str, bytes: &[u8], rounds: Rounds) -> Result<TreesFile, PolicyError> {
    parse(bytes, rounds).map_err(|error| error.in_file(name))
}

/// Reads an ONNX file with an ONNX-ML tree ensemble; `name` is used in messages.
///
/// # Errors
/// If the file is no valid ONNX model of one tree ensemble, contradicts itself, or has something
/// that is not supported.
pub fn parse_onnx_trees(name: &str, bytes: &[u8]) -> Result<TreesFile, PolicyError> {
    onnx_ml::parse(bytes).map_err(|error| error.in_file(name))
}

fn parse(bytes: &[u8], rounds: Rounds) -> Result<TreesFile, PolicyError> {
    if is_lightgbm_text(bytes) {
        let text = std::str::from_utf8(bytes)
            .map_err(|error| PolicyError::invalid("", format!("no UTF-8 text: {error}")))?;
        return lightgbm::parse_text(text, rounds);
    }
    let value: Value =
        if ubjson::is_likely(bytes) { ubjson::parse(bytes)? } else { json::parse(bytes)? };
    match library(&value) {
        Some(Library::Xgboost) => xgboost::parse(&value, rounds),
        Some(Library::Lightgbm) => lightgbm::parse_dump(&value, rounds),
        Some(Library::Veritas) => rounds.without_names(veritas::parse(&value)),
        None => Err(PolicyError::unsupported("", NO_ENSEMBLE)),
    }
}

/// Returns whether the bytes of a file are JSON of a tree ensemble, judged by its first keys.
pub(crate) fn is_json_ensemble(bytes: &[u8]) -> bool {
    json::parse(bytes).is_ok_and(|value| library(&value).is_some())
}

/// Returns whether the bytes of a file begin as the text format of LightGBM does.
pub(crate) fn is_lightgbm_text(bytes: &[u8]) -> bool {
    bytes.starts_with(b"tree\n") || bytes.starts_with(b"tree\r\n")
}

/// The library that wrote a JSON file.
enum Library {
    Xgboost,
    Lightgbm,
    Veritas,
}

fn library(value: &Value) -> Option<Library> {
    let has = |key: &str| value.get(key).is_some();
    if has("learner") {
        Some(Library::Xgboost)
    } else if has("tree_info") {
        Some(Library::Lightgbm)
    } else if has("trees") {
        Some(Library::Veritas)
    } else {
        None
    }
}

const NO_ENSEMBLE: &str = "no tree ensemble: supported are JSON of Veritas (`trees`), XGBoost \
                           (`learner`) and LightGBM (`tree_info`)";
