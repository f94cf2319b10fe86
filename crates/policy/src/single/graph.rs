//! The ONNX graphs whose evaluations in single precision are known.
//!
//! Libraries compute the operators listed here one by one, and round as the analysis says; convolutions as
//! sums of products, not by Winograd's algorithm. Others are computed in ways of their own, or merged into
//! weights (factors, batch normalisation). A softmax of the scores may make those equal that are close.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use super::unsupported;
use crate::error::PolicyError;
use crate::onnx::decode;
use crate::onnx::proto::{GraphProto, NodeProto, ValueInfoProto, data_type};

/// Operators that only move numbers, or choose among them.
const EXACT: &[&str] = &[
    "Abs",
    "ArgMax",
    "Cast",
    "Concat",
    "Constant",
    "Dropout",
    "Expand",
    "Flatten",
    "Gather",
    "GlobalMaxPool",
    "Identity",
    "Max",
    "MaxPool",
    "Pad",
    "ReduceMax",
    "Reshape",
    "Shape",
    "Slice",
    "Split",
    "Squeeze",
    "Tile",
    "Transpose",
    "Unsqueeze",
];
/// Operators that round as the analysis says.
const ROUNDED: &[&str] = &[
    "Add",
    "Clip",
    "Conv",
    "Elu",
    "Gemm",
    "LeakyRelu",
    "MatMul",
    "ReduceSum",
    "Relu",
    "Sigmoid",
    "Sub",
    "Sum",
    "Tanh",
];
/// Operators that may follow a softmax: what chooses the greatest one, and what only moves numbers.
const MOVING: &[&str] = &[
    "ArgMax",
    "Cast",
    "Flatten",
    "Gather",
    "Identity",
    "Reshape",
    "Squeeze",
    "Transpose",
    "Unsqueeze",
];
/// Functions of all scores together that keep their order, but for rounding.
const PROBABILITIES: &[&str] = &["LogSoftmax", "Softmax"];

/// Refuses a graph with something whose evaluation in single precision is not known. `wanted` names the
/// output that is the policy. Returns whether it compares the softmax of its scores.
///
/// # Errors
/// What it is, with the way around it.
pub(super) fn refuse_operators(bytes: &[u8], wanted: Option<&str>) -> Result<bool, PolicyError> {
    let Some(graph) = decode(bytes)?.graph else { return Ok(false) };
    let needed = needed(&graph, wanted);
    let stored: BTreeSet<&str> = graph.initializer.iter().map(|t| t.name.as_str()).collect();
    for tensor in graph.initializer.iter().filter(|tensor| needed.contains(tensor.name.as_str())) {
        refuse_type(tensor.data_type)?;
    }
    let is_read = |input: &&ValueInfoProto| !stored.contains(input.name.as_str());
    let mut varying: BTreeSet<&str> = BTreeSet::new();
    for input in graph.input.iter().filter(is_read) {
        varying.insert(&input.name);
        let tensor = input.r#type.as_ref().and_then(|declared| declared.tensor_type.as_ref());
        tensor.map_or(Ok(()), |tensor| refuse_type(tensor.elem_type))?;
    }
    let mut decisions = 0;
    // What is computed from probabilities.
    let mut probabilities: BTreeSet<&str> = BTreeSet::new();
    for node in &graph.node {
        if node.input.iter().any(|input| varying.contains(input.as_str())) {
            varying.extend(node.output.iter().map(String::as_str));
        }
        if node.output.iter().any(|output| needed.contains(output.as_str())) {
            let varies = node.output.iter().any(|output| varying.contains(output.as_str()));
            let operator = node.op_type.as_str();
            if node.input.iter().any(|input| probabilities.contains(input.as_str())) {
                if !MOVING.contains(&operator) {
                    return Err(unsupported(&format!(
                        "operator {operator} after a softmax, which rounds again; export the scores \
                         before it"
                    )));
                }
                probabilities.extend(node.output.iter().map(String::as_str));
            } else if PROBABILITIES.contains(&operator) {
                probabilities.extend(node.output.iter().map(String::as_str));
            }
            refuse_node(node, varies)?;
            decisions += usize::from(node.op_type == "ArgMax");
        }
    }
    match decisions {
        0 | 1 => Ok(!probabilities.is_empty()),
        _ => Err(unsupported("the graph makes several choices at once; export their scores")),
    }
}

/// The values that an output depends on.
fn needed<'g>(graph: &'g GraphProto, wanted: Option<&str>) -> BTreeSet<&'g str> {
    let is_wanted = |output: &&ValueInfoProto| wanted.is_none_or(|wanted| output.name == wanted);
    let outputs = graph.output.iter().filter(is_wanted);
    let mut needed: BTreeSet<&str> = outputs.map(|output| output.name.as_str()).collect();
    for node in graph.node.iter().rev() {
        if node.output.iter().any(|output| needed.contains(output.as_str())) {
            needed.extend(node.input.iter().map(String::as_str));
        }
    }
    needed
}

fn refuse_type(element: i32) -> Result<(), PolicyError> {
    match element {
        data_type::FLOAT16 | data_type::DOUBLE | data_type::BFLOAT16 => Err(unsupported(&format!(
            "the graph computes with numbers of type {}; export it in single precision",
            data_type::name(element)
        ))),
        _ => Ok(()),
    }
}

fn refuse_node(node: &NodeProto, varies: bool) -> Result<(), PolicyError> {
    let operator = node.op_type.as_str();
    let is_standard = matches!(node.domain.as_str(), "" | "ai.onnx");
    let known = [EXACT, ROUNDED, PROBABILITIES];
    if !is_standard || !known.iter().any(|list| list.contains(&operator)) {
        let way = match operator {
            "Exp" | "TopK" => {
                "it can make scores equal that differ; export the scores before it, or name their \
                 output with `scores` in the interface"
            }
            _ => {
                "libraries compute it in more ways than the order of a sum; supported are layers of \
                 Gemm, Conv or MatMul and Add with activation functions"
            }
        };
        return Err(unsupported(&format!("operator {operator}: {way}")));
    }
    if !varies && ROUNDED.contains(&operator) {
        return Err(unsupported(&format!(
            "{operator} of constants, which a library rounds; export the graph with constants folded"
        )));
    }
    for attribute in &node.attribute {
        let factor = attribute.f.unwrap_or_default();
        let is_factor = operator == "Gemm" && matches!(attribute.name.as_str(), "alpha" | "beta");
        if is_factor && !factor.total_cmp(&1.0).is_eq() {
            return Err(unsupported(&format!(
                "Gemm with the factor {} = {factor}; export the product without it",
                attribute.name
            )));
        }
        if let (Some(tensor), true) = (&attribute.t, operator == "Constant") {
            refuse_type(tensor.data_type)?;
        }
        if let (Some(to), true) = (attribute.i, operator == "Cast" && attribute.name == "to") {
            refuse_type(i32::try_from(to).unwrap_or_default())?;
        }
    }
    Ok(())
}
