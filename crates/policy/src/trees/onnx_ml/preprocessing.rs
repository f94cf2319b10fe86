//! What a graph computes from its inputs before a tree ensemble reads it, as pipelines of
//! scikit-learn do: which nodes these are, and the columns that follow from them.

use std::collections::{BTreeMap, BTreeSet};

use super::super::column::{Column, Kind, Source};
use super::super::rule::Precision;
use super::columns::{Block, Call};
use super::place;
use super::surroundings::tensor_type;
use crate::error::PolicyError;
use crate::onnx::proto::{GraphProto, NodeProto, data_type};
use crate::onnx::tensor::Tensor;

/// More steps of columns than this, of all nodes together, are refused.
const MOST_STEPS: usize = 1 << 20;

/// The columns that an ensemble reads, and where they come from.
pub(super) struct Preprocessed {
    /// In which precision the ensemble reads the columns.
    pub precision: Precision,
    /// The number of columns that the ensemble reads.
    pub features: usize,
    /// The number of the graph's inputs.
    pub inputs: usize,
    /// The columns, and behind them others that must have values.
    pub columns: Vec<Column>,
    /// Names and widths of the graph's inputs.
    pub groups: Vec<(String, usize)>,
}

/// Returns for each node of a graph whether the input of an ensemble depends on it.
pub(super) fn nodes_before(graph: &GraphProto, ensemble: &NodeProto) -> Vec<bool> {
    let mut needed: BTreeSet<&str> = ensemble.input.iter().map(String::as_str).collect();
    // Every step goes to an earlier node.
    let mut front: Vec<bool> = Vec::with_capacity(graph.node.len());
    for node in graph.node.iter().rev() {
        let is_front = node.output.iter().any(|output| needed.contains(output.as_str()));
        if is_front {
            needed.extend(node.input.iter().map(String::as_str));
        }
        front.push(is_front);
    }
    front.reverse();
    front
}

/// Reads the columns that the nodes before an ensemble compute.
///
/// # Errors
/// The first node that is not supported, and what contradicts itself.
pub(super) fn read(
    graph: &GraphProto,
    ensemble: &NodeProto,
    front: &[&NodeProto],
) -> Result<Preprocessed, PolicyError> {
    let mut values: BTreeMap<&str, Block> = BTreeMap::new();
    let constants: BTreeMap<&str, _> =
        graph.initializer.iter().map(|tensor| (tensor.name.as_str(), tensor)).collect();
    let (mut groups, mut inputs) = (Vec::new(), 0usize);
    for input in graph.input.iter().filter(|input| !constants.contains_key(input.name.as_str())) {
        let read = input_of(input).map_err(|error| error.at(&format!("input `{}`", input.name)));
        let (kind, width) = read?;
        let columns = (inputs..inputs + width).map(|input| Source::Input(input, kind));
        let columns = columns.map(|source| Column { source, steps: Vec::new() });
        values.insert(&input.name, Block { columns: columns.collect(), sides: vec![width], kind });
        groups.push((input.name.clone(), width));
        inputs += width;
    }
    let (mut checked, mut steps) = (Vec::new(), 0usize);
    for node in front {
        let argument = |name: &String| match values.get(name.as_str()) {
            Some(block) => Ok(block),
            None => {
                let message = format!("`{name}` is computed by no node before it, and no input");
                Err(PolicyError::invalid("", message))
            }
        };
        let constant = |name: &String| {
            let tensor = constants.get(name.as_str());
            tensor.map(|tensor| Tensor::read(tensor, &format!("initialiser `{name}`"))).transpose()
        };
        let call = Call { node, argument: &argument, constant: &constant };
        let result = call.result(&mut checked).map_err(|error| error.at(&place(node)))?;
        steps += result.columns.iter().map(|column| column.steps.len() + 1).sum::<usize>();
        if steps > MOST_STEPS {
            let message = format!("more than {MOST_STEPS} steps of columns are not supported");
            return Err(PolicyError::unsupported(place(node), message));
        }
        let [output] = node.output.as_slice() else {
            let message = "one output is expected";
            return Err(PolicyError::invalid(place(node), message));
        };
        values.insert(output, result);
    }
    let reads = ensemble.input.first().map(String::as_str).unwrap_or_default();
    let Some(Block { mut columns, kind, sides }) = values.remove(reads) else {
        let message = "it reads nothing that the graph computes";
        return Err(PolicyError::invalid(place(ensemble), message));
    };
    if sides.len() != 1 {
        let message = format!("it reads numbers of shape {sides:?}, and not one row");
        return Err(PolicyError::unsupported(place(ensemble), message));
    }
    let precision = match kind {
        Kind::Single | Kind::Integer => Precision::Single,
        Kind::Double => Precision::Double,
    };
    let features = columns.len();
    columns.append(&mut checked);
    Ok(Preprocessed { precision, features, inputs, columns, groups })
}

/// Returns how an input of the graph is stored, and how many numbers it has.
fn input_of(input: &crate::onnx::proto::ValueInfoProto) -> Result<(Kind, usize), PolicyError> {
    let tensor = tensor_type(input);
    let kind = match tensor.map(|tensor| tensor.elem_type) {
        Some(data_type::FLOAT) => Kind::Single,
        Some(data_type::DOUBLE) => Kind::Double,
        Some(data_type::INT32 | data_type::INT64) => Kind::Integer,
        Some(other) => {
            let message = format!(
                "the policy reads {}; supported are numbers: encode texts before the training",
                data_type::name(other)
            );
            return Err(PolicyError::unsupported("", message));
        }
        None => return Err(PolicyError::unsupported("", "it is no list of numbers")),
    };
    let shape = tensor.and_then(|tensor| tensor.shape.as_ref());
    let width = match shape.map(|shape| shape.dim.as_slice()) {
        Some([_, width]) => width.dim_value.and_then(|width| usize::try_from(width).ok()),
        Some(_) | None => None,
    };
    match width.filter(|&width| width > 0) {
        Some(width) => Ok((kind, width)),
        None => {
            let message = "the graph does not say how many numbers it has: export it with the shape \
                           [None, number of features]";
            Err(PolicyError::unsupported("", message))
        }
    }
}
