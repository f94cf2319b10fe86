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

mod ensemble;
mod integer_trees;
mod lightgbm;
mod onnx_ml;
mod rule;
mod ubjson;
mod veritas;
mod xgboost;

#[cfg(test)]
mod tests;

use serde_json::Value;

use crate::error::PolicyError;

pub use ensemble::{Ensemble, Tree, TreeNode};
pub use integer_trees::{IntegerNode, IntegerTree, IntegerTrees, LeafValue};
pub(crate) use onnx_ml::is_tree_ensemble;
pub use rule::{Comparison, Missing, Precision, Rule};

/// Reads a tree ensemble from the bytes of a file, by its content; `name` is used in messages.
/// ONNX files are read by [`parse_onnx_trees`].
///
/// # Errors
/// If the file has none of the formats, breaks its format, or has something that is not supported.
pub fn parse_trees(name: &str, bytes: &[u8]) -> Result<Ensemble, PolicyError> {
    parse(bytes).map_err(|error| error.in_file(name))
}

/// Reads an ONNX file with an ONNX-ML tree ensemble; `name` is used in messages.
///
/// # Errors
/// If the file is no valid ONNX model of one tree ensemble, or has something that is not supported.
pub fn parse_onnx_trees(name: &str, bytes: &[u8]) -> Result<Ensemble, PolicyError> {
    onnx_ml::parse(bytes).map_err(|error| error.in_file(name))
}

fn parse(bytes: &[u8]) -> Result<Ensemble, PolicyError> {
    if bytes.starts_with(b"tree\n") || bytes.starts_with(b"tree\r\n") {
        let text = std::str::from_utf8(bytes)
            .map_err(|error| PolicyError::invalid("", format!("no UTF-8 text: {error}")))?;
        return lightgbm::parse_text(text);
    }
    let value: Value = if ubjson::is_likely(bytes) {
        ubjson::parse(bytes)?
    } else {
        serde_json::from_slice(bytes).map_err(|error| {
            let place = format!("line {}, column {}", error.line(), error.column());
            PolicyError::invalid(place, format!("neither JSON nor another format: {error}"))
        })?
    };
    let has = |key: &str| value.get(key).is_some();
    if has("learner") {
        xgboost::parse(&value)
    } else if has("tree_info") {
        lightgbm::parse_json(&value)
    } else if has("trees") {
        veritas::parse(&value)
    } else {
        let message = "no tree ensemble: supported are JSON of Veritas (`trees`), XGBoost \
                       (`learner`) and LightGBM (`tree_info`)";
        Err(PolicyError::unsupported("", message))
    }
}
