//! What stands around a tree ensemble in its graph: nodes that leave inputs and the order of the
//! scores as they are, and what the graph says about its input and its outputs.

use std::collections::{BTreeMap, BTreeSet};

use super::super::Classes;
use super::super::column::Column;
use super::super::rule::Precision;
use super::{classes, is_ensemble, place, preprocessing};
use crate::error::PolicyError;
use crate::onnx::attributes::Attributes;
use crate::onnx::proto::{
    GraphProto, NodeProto, TensorProto, TensorTypeProto, ValueInfoProto, data_type,
};
use crate::onnx::tensor::{Data, Tensor};

/// The statements of the graph about its input and its outputs.
pub(super) struct Surroundings<'g> {
    /// In which precision the ensemble reads its input.
    pub precision: Precision,
    /// In which precision it adds up its leaves.
    pub sums: Precision,
    /// True if its scores are multiplied by a factor behind it.
    pub scaled: bool,
    /// The number of features that the ensemble reads, if the graph says it.
    pub features: Option<usize>,
    /// The number of the graph's inputs, if it says it.
    pub inputs: Option<usize>,
    /// The columns that the ensemble reads if it does not read the inputs themselves: the features first.
    pub columns: Vec<Column>,
    /// Names and widths of the graph's inputs, if it says them.
    pub groups: Vec<(String, usize)>,
    /// The outputs of the graph that are scores.
    scores: Vec<&'g ValueInfoProto>,
    /// The nodes that name the scores.
    maps: Vec<&'g NodeProto>,
}

impl<'g> Surroundings<'g> {
    /// Reads what stands around an ensemble.
    ///
    /// Before it there may be what [`preprocessing`] reads; after its scores `Identity`, `Cast` to
    /// real numbers, `ZipMap`, and `Mul` and `Div` by a positive constant, as `onnxmltools` adds
    /// them. What is made of the label is not looked at: labels are chosen by the scores.
    ///
    /// # Errors
    /// The first node that is not supported before the ensemble, or may change the order of the
    /// scores.
    pub(super) fn read(graph: &'g GraphProto, ensemble: &NodeProto) -> Result<Self, PolicyError> {
        let front = preprocessing::nodes_before(graph, ensemble);
        let (scores, maps) = behind(graph, ensemble, &front)?;
        let by_factor = |(node, is_front): (&NodeProto, &bool)| {
            !is_front && matches!(node.op_type.as_str(), "Mul" | "Div")
        };
        let scaled = graph.node.iter().zip(&front).any(by_factor);
        let scores = graph.output.iter().filter(|o| scores.contains(o.name.as_str())).collect();
        let front: Vec<&NodeProto> = graph
            .node
            .iter()
            .zip(&front)
            .filter_map(|(node, &is_front)| is_front.then_some(node))
            .collect();
        if !casts_alone(&front)? {
            let read = preprocessing::read(graph, ensemble, &front)?;
            return Ok(Self {
                precision: read.precision,
                sums: read.precision,
                scaled,
                features: Some(read.features),
                inputs: Some(read.inputs),
                columns: read.columns,
                groups: read.groups,
                scores,
                maps,
            });
        }
        let Before { precision, sums, features, name } =
            before(graph, ensemble).map_err(|error| error.at(&place(ensemble)))?;
        let groups = features.map(|width| (name.to_owned(), width)).into_iter().collect();
        Ok(Self {
            precision,
            sums,
            scaled,
            features,
            inputs: features,
            columns: Vec::new(),
            groups,
            scores,
            maps,
        })
    }

    /// Compares the number and the names of the scores with what the graph says.
    pub(super) fn check(&self, outputs: usize, given: Option<&Classes>) -> Result<(), PolicyError> {
        for output in &self.scores {
            let shape = tensor_type(output).and_then(|tensor| tensor.shape.as_ref());
            let Some([_, width]) = shape.map(|shape| shape.dim.as_slice()) else { continue };
            let Some(width) = width.dim_value.filter(|&width| width > 0) else { continue };
            // skl2onnx declares one score for regressors of several targets.
            let is_wrong_by_custom = given.is_none() && width == 1;
            if usize::try_from(width) != Ok(outputs) && !is_wrong_by_custom {
                let message = format!("its shape says {width} scores, the trees have {outputs}");
                return Err(PolicyError::invalid(format!("output `{}`", output.name), message));
            }
        }
        for map in &self.maps {
            let known = ["classlabels_int64s", "classlabels_strings"];
            let own = Attributes::of(map, &known).and_then(|attributes| classes(&attributes));
            let own = own.map_err(|error| error.at(&place(map)))?;
            if given != Some(&own) {
                let message = "its classes are not those of the tree ensemble, in their order";
                return Err(PolicyError::invalid(place(map), message));
            }
        }
        Ok(())
    }
}

/// Returns whether nodes are only `Identity`, and `Cast` to real numbers.
fn casts_alone(nodes: &[&NodeProto]) -> Result<bool, PolicyError> {
    for node in nodes {
        let is_one = match node.op_type.as_str() {
            "Identity" => true,
            "Cast" => cast_to(node)?.is_some(),
            _ => false,
        };
        if !is_one {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Checks the nodes behind an ensemble; `front` says which nodes are before it. Returns the names of all values that are scores, and the
/// nodes `ZipMap`.
fn behind<'g>(
    graph: &'g GraphProto,
    ensemble: &NodeProto,
    front: &[bool],
) -> Result<(BTreeSet<&'g str>, Vec<&'g NodeProto>), PolicyError> {
    let constants: BTreeMap<&str, &TensorProto> =
        graph.initializer.iter().map(|tensor| (tensor.name.as_str(), tensor)).collect();
    // Nodes come in the order of computation. Which values are computed from the label alone, and
    // which are scores.
    let mut labels: BTreeSet<&str> = BTreeSet::new();
    let mut scores: BTreeSet<&str> = BTreeSet::new();
    let mut maps = Vec::new();
    let behind = graph.node.iter().zip(front).filter(|(_, is_front)| !**is_front);
    for (node, _) in behind {
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
            "ZipMap" => {
                maps.push(node);
                !reads(&labels)
            }
            "Cast" if reads(&labels) => true,
            "Cast" => cast_to(node)?.is_some(),
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
    Ok((scores, maps))
}

/// What the graph says about the input of an ensemble that only casts are before.
struct Before<'g> {
    /// In which precision it is read: double only where nothing on the way is single.
    precision: Precision,
    /// The precision of the sums: that of the ensemble's own argument.
    sums: Precision,
    /// The number of features of the graph's input.
    features: Option<usize>,
    /// The name of the graph's input.
    name: &'g str,
}

fn before<'g>(graph: &'g GraphProto, ensemble: &'g NodeProto) -> Result<Before<'g>, PolicyError> {
    let mut reads = ensemble.input.first().map(String::as_str).unwrap_or_default();
    let mut casts = Vec::new();
    // Every step goes to an earlier node.
    for node in graph.node.iter().rev() {
        if node.output.iter().any(|output| output == reads) {
            if node.op_type == "Cast" {
                casts.extend(cast_to(node)?);
            }
            reads = node.input.first().map(String::as_str).unwrap_or_default();
        }
    }
    let input = graph.input.iter().find(|input| input.name == reads);
    let Some(tensor) = input.and_then(tensor_type) else {
        return Err(PolicyError::unsupported("", "its input is no list of numbers"));
    };
    let dimensions = tensor.shape.as_ref().map(|shape| shape.dim.as_slice()).unwrap_or_default();
    let width = dimensions.last().and_then(|dimension| dimension.dim_value);
    let features = width.and_then(|width| usize::try_from(width).ok()).filter(|&width| width > 0);
    let single = casts.contains(&Precision::Single);
    let precision =
        match tensor.elem_type {
            data_type::DOUBLE if !single => Precision::Double,
            data_type::INT32 | data_type::INT64 | data_type::BOOL if !casts.is_empty() => {
                if single { Precision::Single } else { Precision::Double }
            }
            data_type::FLOAT | data_type::DOUBLE | data_type::INT32 | data_type::INT64 => {
                Precision::Single
            }
            _ => return Err(PolicyError::unsupported("", "its input is no list of numbers")),
        };
    // The cast that is nearest to the ensemble.
    let sums = casts.first().copied().unwrap_or(precision);
    Ok(Before { precision, sums, features, name: reads })
}

pub(super) fn tensor_type(value: &ValueInfoProto) -> Option<&TensorTypeProto> {
    value.r#type.as_ref().and_then(|kind| kind.tensor_type.as_ref())
}

fn refused(node: &NodeProto) -> PolicyError {
    let message = "behind a tree ensemble, Cast to real numbers, Identity and ZipMap are supported, \
                   and Mul and Div of its scores by a positive number";
    PolicyError::unsupported(place(node), message)
}

/// The precision that a node casts to; `None` if it does not cast to real numbers.
fn cast_to(node: &NodeProto) -> Result<Option<Precision>, PolicyError> {
    let to = Attributes::of(node, &["to", "saturate"])?.integer("to")?;
    Ok(match to.and_then(|to| i32::try_from(to).ok()) {
        Some(data_type::FLOAT) => Some(Precision::Single),
        Some(data_type::DOUBLE) => Some(Precision::Double),
        _ => None,
    })
}

/// Returns whether a constant is a single positive number.
fn positive(tensor: &TensorProto) -> bool {
    match Tensor::read(tensor, "").map(|tensor| tensor.data) {
        Ok(Data::Floats(values, _)) => {
            matches!(values[..], [value] if value.is_finite() && value > 0.0)
        }
        _ => false,
    }
}
