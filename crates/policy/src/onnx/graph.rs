//! From the nodes of a graph to a network.

use std::collections::BTreeMap;
use std::rc::Rc;

use policert_numeric::IntInterval;

use super::call::Call;
use super::declared;
use super::gates;
use super::inputs::{self, Group};
use super::operators::{self, is_known, unsupported};
use super::output;
use super::proto::{GraphProto, NodeProto, TensorProto, ValueInfoProto};
use super::tensor::{Element, Tensor, count};
use super::unread;
use super::value::{Flow, Known, Origin, UnreadValue, Value};
use super::{OnnxFile, Ranges, Reading};
use crate::error::PolicyError;
use crate::matrix::Matrix;
use crate::meter::Meter;
use crate::network::{ElementType, NetworkBuilder, NodeId};

/// An input of a graph: some of the inputs of the network, which are those of all inputs of the
/// graph one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphInput {
    /// Its name.
    pub name: String,
    /// Its number of elements.
    pub width: usize,
    /// True if they are integers or truth values.
    pub is_integer: bool,
}

/// The network that a graph computes; `version` is that of the operator set.
pub(super) fn import(
    graph: &GraphProto,
    version: i64,
    reading: &Reading<'_>,
    meter: &mut Meter,
) -> Result<OnnxFile, PolicyError> {
    if !graph.sparse_initializer.is_empty() {
        return Err(PolicyError::unsupported("", "sparse initialisers are not supported"));
    }
    let stored: BTreeMap<&str, &TensorProto> =
        graph.initializer.iter().map(|tensor| (tensor.name.as_str(), tensor)).collect();
    // Early versions list the initialisers among the inputs.
    let is_input = |input: &&ValueInfoProto| !stored.contains_key(input.name.as_str());
    let (inputs, listed): (Vec<_>, Vec<_>) = graph.input.iter().partition(is_input);
    if inputs.is_empty() {
        return Err(PolicyError::invalid("", "the graph has no inputs"));
    }
    let groups = inputs::groups(&inputs, reading.groups)?;
    let width = groups.iter().fold(0usize, |sum, group| sum.saturating_add(group.width()));
    let declared = graph.value_info.iter().map(|info| (info.name.as_str(), info)).collect();
    let pairs = graph.node.iter().flat_map(|node| {
        let names = node.output.iter().map(String::as_str);
        names.map(move |name| (name, node))
    });
    let mut import = Import {
        producers: pairs.collect(),
        builder: match reading.ranges {
            Ranges::Any | Ranges::Later => NetworkBuilder::new(width)?,
            Ranges::Given(ranges) => NetworkBuilder::within(ranges)?,
        },
        assumes_ranges: matches!(reading.ranges, Ranges::Later).then_some(false),
        as_written: reading.as_written,
        meter,
        version,
        stored,
        declared,
        values: BTreeMap::new(),
        needs: vec![None; width],
        remarks: Vec::new(),
        has_doubles: false,
    };
    let mut first = 0;
    for group in &groups {
        let Group { input, shape, element, is_mask } = group;
        if *is_mask {
            import.values.insert(input.name.clone(), Value::mask(&input.name, shape, *element));
            continue;
        }
        let elements: Rc<[usize]> = (first..first + group.width()).collect();
        first += group.width();
        let node = import.selection(NodeId::INPUT, &elements)?;
        let (shape, element) = (shape.clone(), *element);
        let flow = Flow { node, shape, element, origin: Origin::Inputs(elements) };
        import.values.insert(input.name.clone(), Value::Flow(flow));
    }
    for listed in listed {
        let place = format!("initialiser `{}`", listed.name);
        let value = import.value(&listed.name)?;
        declared::check(listed, &value).map_err(|error| error.at(&place))?;
    }
    for (index, node) in graph.node.iter().enumerate() {
        let place = place_of(node, index);
        import.node(node, &place).map_err(|error| error.at(&place))?;
    }
    let chosen = output::choose(&mut import, &graph.output, reading.output)?;
    import.remarks.extend(chosen.remark);
    let element = if import.has_doubles { ElementType::F64 } else { ElementType::F32 };
    let inputs = groups.iter().filter(|group| !group.is_mask).map(|group| GraphInput {
        name: group.input.name.clone(),
        width: group.width(),
        is_integer: !group.element.is_real(),
    });
    let builder = import.builder;
    let network = match reading.as_written {
        true => builder.finish_as_written(chosen.node, element),
        false => builder.finish(chosen.node, element),
    };
    Ok(OnnxFile {
        network,
        output: chosen.name,
        head: chosen.head,
        classes: chosen.classes,
        inputs: inputs.collect(),
        needs: import.needs,
        masked: chosen.masked,
        draws_by_softmax: chosen.draws_by_softmax,
        assumes_ranges: import.assumes_ranges == Some(true),
        data_files: Vec::new(),
        remarks: import.remarks,
    })
}

/// The name of a node in messages.
pub(super) fn place_of(node: &NodeProto, index: usize) -> String {
    if node.name.is_empty() {
        format!("node {index} ({})", node.op_type)
    } else {
        format!("node `{}` ({})", node.name, node.op_type)
    }
}

/// A graph on its way to a network.
pub(super) struct Import<'a, 'm> {
    pub(super) builder: NetworkBuilder,
    pub(super) meter: &'a mut Meter<'m>,
    version: i64,
    pub(super) stored: BTreeMap<&'a str, &'a TensorProto>,
    /// The nodes by what they compute.
    pub(super) producers: BTreeMap<&'a str, &'a NodeProto>,
    /// Types of values in between.
    declared: BTreeMap<&'a str, &'a ValueInfoProto>,
    pub(super) values: BTreeMap<String, Value>,
    /// For each input of the network that must be an integer: in which range.
    needs: Vec<Option<IntInterval>>,
    /// Remarks for the user on how the graph was read.
    pub(super) remarks: Vec<String>,
    has_doubles: bool,
    /// True if the network is to say what the file has, where it computes that in another way.
    pub(super) as_written: bool,
    /// Whether a range was assumed that is not known, where that is allowed.
    pub(super) assumes_ranges: Option<bool>,
}

impl Import<'_, '_> {
    /// The value of a name.
    pub(super) fn value(&mut self, name: &str) -> Result<Value, PolicyError> {
        let value = match (self.values.get(name), self.stored.get(name)) {
            (Some(value), _) => value.clone(),
            (None, Some(tensor)) => {
                self.meter.before_doubles(tensor.stored())?;
                Value::Constant(Tensor::read(tensor, &format!("initialiser `{name}`"))?)
            }
            (None, None) => {
                let message = format!("`{name}` is not defined before it is used");
                return Err(PolicyError::invalid("", message));
            }
        };
        self.has_doubles |= value.element() == Some(Element::F64);
        Ok(value)
    }

    /// These inputs of the network must be integers of a range.
    pub(super) fn need(&mut self, inputs: &[usize], range: IntInterval) {
        for &input in inputs {
            let known = self.needs[input].unwrap_or(IntInterval::ALL);
            self.needs[input] = Some(known.intersect(range));
        }
    }

    /// Reads one node. What is not supported is an error only where its value is needed.
    fn node(&mut self, node: &NodeProto, place: &str) -> Result<(), PolicyError> {
        self.meter.before(0)?;
        let mut arguments = Vec::with_capacity(node.input.len());
        for name in &node.input {
            arguments.push(if name.is_empty() { None } else { Some(self.value(name)?) });
        }
        let call = Call { node, version: self.version, arguments };
        let shape = unread::shape(&call);
        let element = unread::element(&call);
        let results = match self.results(call) {
            Ok(results) => results,
            Err(PolicyError::Unsupported { place: inner, message, .. }) => {
                let place = if inner.is_empty() { place.to_owned() } else { inner };
                let known = Known::Nothing;
                let unread = UnreadValue { shape, element, known, place, message };
                node.output.iter().map(|_| Value::Unread(unread.clone())).collect()
            }
            Err(error) => return Err(error),
        };
        for (name, mut result) in node.output.iter().zip(results) {
            if let Value::Unread(unread) = &mut result
                && unread.place.is_empty()
            {
                place.clone_into(&mut unread.place);
            }
            let is_empty = matches!(&result, Value::Flow(flow) if count(&flow.shape) == Some(0));
            if is_empty || result.known_shape().is_some_and(|shape| count(shape).is_none()) {
                return Err(PolicyError::invalid("", "the result has no elements"));
            }
            if let Some(declared) = self.declared.get(name.as_str()) {
                declared::check(declared, &result)?;
            }
            if !name.is_empty() {
                self.values.insert(name.clone(), result);
            }
        }
        Ok(())
    }

    /// The values of the outputs of a node.
    fn results(&mut self, call: Call<'_>) -> Result<Vec<Value>, PolicyError> {
        let node = call.node;
        if node.output.is_empty() {
            return Err(PolicyError::invalid("", "the node has no output"));
        }
        if let Some(result) = gates::written_out(self, node)? {
            return Ok(vec![result]);
        }
        let results = match unread::with_unread(&call)? {
            Some(result) => vec![result; node.output.len()],
            None if is_known(node) => operators::apply(self, call)?,
            None => return Err(unsupported(node)),
        };
        if results.len() < node.output.len() {
            let message =
                format!("{} outputs, which the operator does not have", node.output.len());
            return Err(PolicyError::invalid("", message));
        }
        Ok(results)
    }

    /// Elements of a vector, by index.
    pub(super) fn selection(
        &mut self,
        node: NodeId,
        indices: &[usize],
    ) -> Result<NodeId, PolicyError> {
        let width = self.builder.width(node);
        if indices.iter().copied().eq(0..width) {
            return Ok(node);
        }
        let entries = indices.iter().enumerate().map(|(row, &column)| (row, column, 1.0));
        let rows = indices.len();
        self.sparse_affine(node, entries, vec![0.0; rows])
    }

    /// A linear function of which the weights differ from 0 at (row, column) alone, and a bias.
    pub(super) fn sparse_affine(
        &mut self,
        node: NodeId,
        weights: impl Iterator<Item = (usize, usize, f64)>,
        bias: Vec<f64>,
    ) -> Result<NodeId, PolicyError> {
        let columns = self.builder.width(node);
        let size = bias.len().checked_mul(columns).filter(|&size| size <= MAX_WEIGHTS);
        let Some(size) = size else {
            let message = format!(
                "as a matrix it would have {} rows and {columns} columns, which is too large",
                bias.len()
            );
            return Err(PolicyError::unsupported("", message));
        };
        self.meter.before_doubles(size)?;
        let mut entries = vec![0.0; size];
        for (row, column, weight) in weights {
            entries[row * columns + column] += weight;
        }
        let weights = Matrix::new(bias.len(), columns, entries)
            .ok_or_else(|| PolicyError::unsupported("", "the matrix is too large"))?;
        self.builder.affine(node, weights, bias)
    }

    /// A node with the value of a flow, or a constant, repeated to `shape`.
    pub(super) fn node_of(&mut self, value: Value, shape: &[usize]) -> Result<NodeId, PolicyError> {
        match value {
            Value::Constant(tensor) => {
                let bias = super::linear::repeated(&tensor, shape)?;
                if bias.iter().any(|value| value.is_infinite()) {
                    let message = "a constant is infinite; a label that is never to be chosen is left \
                                   out by the interface: `never`";
                    return Err(PolicyError::unsupported("", message));
                }
                self.sparse_affine(NodeId::INPUT, std::iter::empty(), bias)
            }
            other => {
                let flow = other.into_numbers()?;
                Ok(self.broadcast(flow, shape)?.node)
            }
        }
    }
}

/// A matrix with more entries than this is not made.
const MAX_WEIGHTS: usize = 1 << 27;
