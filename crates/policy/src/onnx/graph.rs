//! From the nodes of a graph to a [`Network`].

use std::collections::BTreeMap;

use super::attributes::Attributes;
use super::declared;
use super::operators::{apply, supported_operators, unsupported};
use super::proto::{GraphProto, NodeProto, TensorProto, ValueInfoProto, data_type};
use super::tensor::{Element, Tensor, count};
use crate::error::PolicyError;
use crate::matrix::Matrix;
use crate::meter::Meter;
use crate::network::{ElementType, Network, NetworkBuilder, NodeId};

/// What a name stands for.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// The same in every state.
    Constant(Tensor),
    /// Depends on the input.
    Flow(Flow),
}

/// A value that depends on the input: the elements of a vector, in row-major order of a shape.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    pub(super) node: NodeId,
    pub(super) shape: Vec<usize>,
    pub(super) element: Element,
}

impl Value {
    pub(super) fn element(&self) -> Element {
        match self {
            Value::Constant(tensor) => tensor.element(),
            Value::Flow(flow) => flow.element,
        }
    }

    pub(super) fn shape(&self) -> &[usize] {
        match self {
            Value::Constant(tensor) => &tensor.shape,
            Value::Flow(flow) => &flow.shape,
        }
    }

    /// The same elements in another shape, of the same number of elements.
    pub(super) fn reshaped(self, shape: Vec<usize>) -> Self {
        match self {
            Value::Constant(tensor) => Value::Constant(Tensor { shape, ..tensor }),
            Value::Flow(flow) => Value::Flow(Flow { shape, ..flow }),
        }
    }
}

/// The network that a graph computes; `version` is that of the operator set.
pub(super) fn import(
    graph: &GraphProto,
    version: i64,
    meter: &mut Meter,
) -> Result<Network, PolicyError> {
    if !graph.sparse_initializer.is_empty() {
        return Err(PolicyError::unsupported("", "sparse initialisers are not supported"));
    }
    let stored: BTreeMap<&str, &TensorProto> =
        graph.initializer.iter().map(|tensor| (tensor.name.as_str(), tensor)).collect();
    // Early versions list the initialisers among the inputs.
    let is_input = |input: &&ValueInfoProto| !stored.contains_key(input.name.as_str());
    let (inputs, listed): (Vec<_>, Vec<_>) = graph.input.iter().partition(is_input);
    let input = only(&inputs, "inputs")?;
    let outputs: Vec<&ValueInfoProto> = graph.output.iter().collect();
    let output = only(&outputs, "outputs")?;

    let flow = input_flow(input)?;
    let width = count(&flow.shape).unwrap_or(0);
    let declared = graph.value_info.iter().map(|info| (info.name.as_str(), info)).collect();
    let mut import = Import {
        builder: NetworkBuilder::new(width)?,
        meter,
        version,
        stored,
        declared,
        values: BTreeMap::from([(input.name.clone(), Value::Flow(flow))]),
        has_doubles: false,
    };
    for listed in listed {
        let place = format!("initialiser `{}`", listed.name);
        let value = import.value(&listed.name)?;
        declared::check(listed, &value).map_err(|error| error.at(&place))?;
    }
    for (index, node) in graph.node.iter().enumerate() {
        let place = place_of(node, index);
        import.node(node).map_err(|error| error.at(&place))?;
    }
    let place = format!("output `{}`", output.name);
    let value = import.value(&output.name).map_err(|error| error.at(&place))?;
    declared::check(output, &value).map_err(|error| error.at(&place))?;
    match value {
        Value::Flow(flow) => {
            let element = if import.has_doubles { ElementType::F64 } else { ElementType::F32 };
            Ok(import.builder.finish(flow.node, element))
        }
        Value::Constant(_) => {
            Err(PolicyError::unsupported(place, "it does not depend on the input"))
        }
    }
}

fn only<'a>(values: &[&'a ValueInfoProto], what: &str) -> Result<&'a ValueInfoProto, PolicyError> {
    if let [value] = values {
        return Ok(value);
    }
    let names: Vec<String> = values.iter().map(|value| format!("`{}`", value.name)).collect();
    if names.is_empty() {
        return Err(PolicyError::invalid("", format!("the graph has no {what}")));
    }
    let message = format!("a graph with several {what} is not supported: {}", names.join(", "));
    Err(PolicyError::unsupported("", message))
}

/// The input of the graph, for one state: a first dimension without size is 1.
fn input_flow(input: &ValueInfoProto) -> Result<Flow, PolicyError> {
    let place = format!("input `{}`", input.name);
    let tensor = input.r#type.as_ref().and_then(|kind| kind.tensor_type.as_ref());
    let Some(tensor) = tensor else {
        return Err(PolicyError::unsupported(place, "it is not declared as a tensor"));
    };
    let Some(element) = Element::of(tensor.elem_type) else {
        let name = data_type::name(tensor.elem_type);
        let message = format!("elements of type {name} are not supported");
        return Err(PolicyError::unsupported(place, message));
    };
    let Some(dimensions) = tensor.shape.as_ref().map(|shape| &shape.dim) else {
        return Err(PolicyError::unsupported(place, "its shape is not declared"));
    };
    let mut shape = Vec::with_capacity(dimensions.len());
    for (axis, dimension) in dimensions.iter().enumerate() {
        let size = match dimension.dim_value {
            // Exporters write 0 or -1 for a size that is not fixed.
            Some(size) if size > 0 => usize::try_from(size).ok(),
            _ => None,
        };
        match size {
            Some(size) => shape.push(size),
            None if axis == 0 && dimensions.len() > 1 => shape.push(1),
            None => {
                let message = format!("dimension {axis} has no size; only a first one may be open");
                return Err(PolicyError::unsupported(place, message));
            }
        }
    }
    if count(&shape).is_none_or(|count| count > MAX_INPUTS) {
        return Err(PolicyError::unsupported(place, "its shape is too large"));
    }
    Ok(Flow { node: NodeId::INPUT, shape, element })
}

/// More inputs than this are a mistake.
const MAX_INPUTS: usize = 1 << 24;

/// How messages name a node.
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
    stored: BTreeMap<&'a str, &'a TensorProto>,
    /// Types of values in between.
    declared: BTreeMap<&'a str, &'a ValueInfoProto>,
    values: BTreeMap<String, Value>,
    has_doubles: bool,
}

/// A node and its arguments; arguments that are left out are `None`.
pub(super) struct Call<'a> {
    pub(super) node: &'a NodeProto,
    /// The version of the operator set.
    pub(super) version: i64,
    arguments: Vec<Option<Value>>,
}

impl<'a> Call<'a> {
    /// The attributes, which must be among `known`.
    pub(super) fn attributes(&self, known: &[&str]) -> Result<Attributes<'a>, PolicyError> {
        Attributes::of(self.node, known)
    }

    /// All arguments; each must be there.
    pub(super) fn all(&self) -> Result<Vec<Value>, PolicyError> {
        (0..self.arguments.len().max(1)).map(|i| self.required(i)).collect()
    }

    /// An argument that must be there.
    pub(super) fn required(&self, index: usize) -> Result<Value, PolicyError> {
        self.optional(index)
            .ok_or_else(|| PolicyError::invalid("", format!("argument {index} is missing")))
    }

    /// An argument that may be missing.
    pub(super) fn optional(&self, index: usize) -> Option<Value> {
        self.arguments.get(index).cloned().flatten()
    }

    /// An argument that must be there, by value.
    pub(super) fn taken(&mut self, index: usize) -> Result<Value, PolicyError> {
        let value = self.arguments.get_mut(index).and_then(Option::take);
        value.ok_or_else(|| PolicyError::invalid("", format!("argument {index} is missing")))
    }

    /// Checks the number of arguments.
    pub(super) fn at_most(&self, count: usize) -> Result<(), PolicyError> {
        if self.arguments.len() <= count {
            return Ok(());
        }
        let message = format!("{} arguments, at most {count} are known", self.arguments.len());
        Err(PolicyError::invalid("", message))
    }
}

impl Import<'_, '_> {
    /// What a name stands for.
    fn value(&mut self, name: &str) -> Result<Value, PolicyError> {
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
        self.has_doubles |= value.element() == Element::F64;
        Ok(value)
    }

    /// Reads one node.
    fn node(&mut self, node: &NodeProto) -> Result<(), PolicyError> {
        if !matches!(node.domain.as_str(), "" | "ai.onnx") {
            let message =
                format!("operator {} of domain {} is not supported", node.op_type, node.domain);
            return Err(PolicyError::unsupported("", message));
        }
        let argument = |import: &mut Self, name: &String| {
            if name.is_empty() { Ok(None) } else { import.value(name).map(Some) }
        };
        if supported_operators().all(|supported| supported != node.op_type) {
            return Err(unsupported(&node.op_type));
        }
        let arguments: Result<_, _> = node.input.iter().map(|name| argument(self, name)).collect();
        let call = Call { node, version: self.version, arguments: arguments? };
        self.meter.before(0)?;
        let result = apply(self, call)?;
        if count(result.shape()).is_none_or(|count| count == 0) {
            return Err(PolicyError::invalid("", "the result has no elements"));
        }
        let name = match (&node.output[..], node.op_type.as_str()) {
            ([name] | [name, _], "Dropout") | ([name], _) => name,
            ([], _) => return Err(PolicyError::invalid("", "the node has no output")),
            (outputs, _) => {
                let message =
                    format!("{} outputs, which the operator does not have", outputs.len());
                return Err(PolicyError::invalid("", message));
            }
        };
        if let Some(declared) = self.declared.get(name.as_str()) {
            declared::check(declared, &result)?;
        }
        // The mask of Dropout is not defined, so its use is an error.
        self.values.insert(name.clone(), result);
        Ok(())
    }

    /// A flow of floating-point numbers; integers must be cast first, since their arithmetic is
    /// another one.
    pub(super) fn number_flow(value: Value) -> Result<Flow, PolicyError> {
        match value {
            Value::Flow(flow) if flow.element != Element::Integer => Ok(flow),
            Value::Flow(_) => {
                Err(PolicyError::unsupported("", "integer arithmetic is not supported"))
            }
            Value::Constant(_) => {
                Err(PolicyError::unsupported("", "arithmetic of constants is not supported"))
            }
        }
    }

    /// A node with the value of a flow, or a constant repeated to `shape`.
    pub(super) fn node_of(&mut self, value: Value, shape: &[usize]) -> Result<NodeId, PolicyError> {
        match value {
            Value::Flow(_) => Ok(Self::number_flow(value)?.node),
            Value::Constant(tensor) => {
                let bias = super::linear::repeated(&tensor, shape)?;
                let input = self.builder.input();
                let columns = self.builder.width(input);
                let zeros = vec![0.0; bias.len().saturating_mul(columns)];
                let weights = Matrix::new(bias.len(), columns, zeros)
                    .ok_or_else(|| PolicyError::unsupported("", "the constant is too large"))?;
                self.builder.affine(input, weights, bias)
            }
        }
    }
}
