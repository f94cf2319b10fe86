//! What stands around a tree ensemble in its graph: nodes that leave inputs and the order of the
//! scores as they are.

use std::collections::{BTreeMap, BTreeSet};

use super::{is_ensemble, place};
use crate::error::PolicyError;
use crate::onnx::attributes::Attributes;
use crate::onnx::proto::{GraphProto, NodeProto, TensorProto, data_type};
use crate::onnx::tensor::{Data, Tensor};

/// Checks the nodes around an ensemble.
///
/// Before it there may be `Identity`, and `Cast` to real numbers; after its scores also `ZipMap`,
/// and `Mul` and `Div` by a positive constant, as `onnxmltools` adds them. What is made of the label
/// is not looked at: labels are chosen by the scores.
///
/// # Errors
/// The first node that may change an input, or the order of the scores.
pub(super) fn check(graph: &GraphProto, ensemble: &NodeProto) -> Result<(), PolicyError> {
    let constants: BTreeMap<&str, &TensorProto> =
        graph.initializer.iter().map(|tensor| (tensor.name.as_str(), tensor)).collect();
    // Nodes come in the order of computation. Which values are computed from the label alone, and
    // which are scores.
    let mut labels: BTreeSet<&str> = BTreeSet::new();
    let mut scores: BTreeSet<&str> = BTreeSet::new();
    for node in &graph.node {
        let reads = |values: &BTreeSet<&str>| node.input.iter().any(|i| values.contains(&**i));
        if std::ptr::eq(node, ensemble) {
            let last = node.output.len().saturating_sub(1);
            labels.extend(node.output[..last].iter().map(String::as_str));
            scores.extend(node.output[last..].iter().map(String::as_str));
            continue;
        }
        let kind = node.op_type.as_str();
        let harmless = match kind {
            "Identity" => true,
            "ZipMap" => !reads(&labels),
            "Cast" if reads(&labels) => true,
            "Cast" => is_real(node)?,
            "Mul" | "Div" => {
                let [first, second] = node.input.as_slice() else { return Err(refused(node)) };
                let by_constant = |score: &str, constant: &str| {
                    scores.contains(score) && constants.get(constant).is_some_and(|t| positive(t))
                };
                by_constant(first, second) || (kind == "Mul" && by_constant(second, first))
            }
            _ => false,
        };
        if !harmless || is_ensemble(node) {
            return Err(refused(node));
        }
        let outputs = node.output.iter().map(String::as_str);
        if reads(&scores) {
            scores.extend(outputs);
        } else if reads(&labels) {
            labels.extend(outputs);
        }
    }
    Ok(())
}

fn refused(node: &NodeProto) -> PolicyError {
    let message = "beside a tree ensemble, Cast to real numbers, Identity and ZipMap are supported, \
                   and Mul and Div of its scores by a positive number";
    PolicyError::unsupported(place(node), message)
}

fn is_real(node: &NodeProto) -> Result<bool, PolicyError> {
    let to = Attributes::of(node, &["to", "saturate"])?.integer("to")?;
    Ok(to.is_some_and(|to| [data_type::FLOAT, data_type::DOUBLE].map(i64::from).contains(&to)))
}

/// Whether a constant is a single positive number.
fn positive(tensor: &TensorProto) -> bool {
    match Tensor::read(tensor, "").map(|tensor| tensor.data) {
        Ok(Data::Floats(values, _)) => {
            matches!(values[..], [value] if value.is_finite() && value > 0.0)
        }
        _ => false,
    }
}
