//! Writer of ONNX files.

use prost::Message;

use super::proto::{
    AttributeProto, DimensionProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto,
    TensorProto, TensorShapeProto, TensorTypeProto, TypeProto, ValueInfoProto, attribute_kind,
    data_type,
};
use crate::activation::{Activation, OPERATORS, Smooth};
use crate::error::PolicyError;
use crate::network::{ElementType, Network, NodeId, Op};

/// Version of the file format that is written.
const IR_VERSION: i64 = 8;
/// Version of the operator set that is written.
const OPSET_VERSION: i64 = 13;

/// A network as an ONNX file, with weights of the given type and an open batch dimension.
///
/// # Errors
/// If a constant is no number of that type.
pub fn write_onnx(network: &Network, element: ElementType) -> Result<Vec<u8>, PolicyError> {
    let mut writer = Writer { element, graph: GraphProto::default() };
    let mut names: Vec<String> = Vec::with_capacity(network.nodes().len());
    for (index, node) in network.nodes().iter().enumerate() {
        let name = match &node.op {
            Op::Input => "input".to_owned(),
            op => writer.node(index, op, &names)?,
        };
        names.push(name);
    }
    let last = names[network.output().index()].clone();
    writer.push("Identity", vec![last], "output", Vec::new());
    writer.graph.name = "policy".to_owned();
    writer.graph.input = vec![writer.value_info("input", network.input_width())?];
    writer.graph.output = vec![writer.value_info("output", network.output_width())?];
    let model = ModelProto {
        ir_version: IR_VERSION,
        producer_name: "policert".to_owned(),
        graph: Some(writer.graph),
        opset_import: vec![OperatorSetIdProto { domain: String::new(), version: OPSET_VERSION }],
        functions: Vec::new(),
    };
    Ok(model.encode_to_vec())
}

struct Writer {
    element: ElementType,
    graph: GraphProto,
}

impl Writer {
    /// Writes one operation and gives the name of its result.
    fn node(&mut self, index: usize, op: &Op, names: &[String]) -> Result<String, PolicyError> {
        let name = format!("node_{index}");
        let inputs = || op.inputs().iter().map(|input: &NodeId| names[input.index()].clone());
        let mut arguments: Vec<String> = inputs().collect();
        match op {
            Op::Input => {}
            Op::Affine { weights, bias, .. } => {
                let shape = [weights.rows(), weights.columns()];
                arguments.push(self.constant(&name, "weights", &shape, weights.entries())?);
                arguments.push(self.constant(&name, "bias", &[bias.len()], bias)?);
                self.push("Gemm", arguments, &name, vec![integer("transB", 1)]);
            }
            Op::Scale { mul, div, add, .. } => {
                for (operator, constants, unit) in
                    [("Mul", mul, 1.0), ("Div", div, 1.0), ("Add", add, 0.0f64)]
                {
                    if constants.iter().any(|&c| (c - unit).abs() > 0.0) {
                        let role = operator.to_lowercase();
                        let result = format!("{name}_{role}");
                        let shape = [constants.len()];
                        arguments.push(self.constant(&name, &role, &shape, constants)?);
                        self.push(operator, arguments, &result, Vec::new());
                        arguments = vec![result];
                    }
                }
                self.push("Identity", arguments, &name, Vec::new());
            }
            Op::Pointwise { activation, .. } => {
                let (operator, values) = activation.operator();
                if let Activation::Clip { lo, hi } = activation {
                    for (bound, role) in [(lo, "min"), (hi, "max")] {
                        arguments.push(match bound.is_finite() {
                            true => self.constant(&name, role, &[], &[*bound])?,
                            false => String::new(),
                        });
                    }
                }
                let known = OPERATORS.iter().find(|known| known.name == operator);
                let is_square = matches!(activation, Activation::Smooth(Smooth::Square));
                if is_square {
                    let factor = arguments[0].clone();
                    self.push("Mul", vec![factor.clone(), factor], &name, Vec::new());
                    return Ok(name);
                }
                if known.is_none() && !is_of_old_version(*activation) {
                    let message = format!(
                        "version {OPSET_VERSION} of the operator set has no {operator}, and no other \
                         one is written"
                    );
                    return Err(PolicyError::unsupported(name, message));
                }
                let names = known.map_or(&[][..], |known| known.attributes);
                let attribute = |((attribute, _), value): (&(&str, f32), f64)| {
                    Ok(AttributeProto {
                        name: (*attribute).to_owned(),
                        f: Some(single(value, &name)?),
                        kind: attribute_kind::FLOAT,
                        ..AttributeProto::default()
                    })
                };
                let attributes: Result<Vec<AttributeProto>, PolicyError> =
                    names.iter().zip(values).map(attribute).collect();
                self.push(operator, arguments, &name, attributes?);
            }
            Op::Add { .. } => self.push("Sum", arguments, &name, Vec::new()),
            Op::Max { .. } => self.push("Max", arguments, &name, Vec::new()),
            Op::Concat { .. } => self.push("Concat", arguments, &name, vec![integer("axis", 1)]),
        }
        Ok(name)
    }

    fn push(
        &mut self,
        operator: &str,
        input: Vec<String>,
        result: &str,
        attribute: Vec<AttributeProto>,
    ) {
        self.graph.node.push(NodeProto {
            input,
            output: vec![result.to_owned()],
            name: format!("{result}_{}", operator.to_lowercase()),
            op_type: operator.to_owned(),
            attribute,
            ..NodeProto::default()
        });
    }

    /// Stores a constant and gives its name.
    fn constant(
        &mut self,
        node: &str,
        role: &str,
        shape: &[usize],
        values: &[f64],
    ) -> Result<String, PolicyError> {
        let name = format!("{node}_{role}_constant");
        let mut raw_data = Vec::new();
        for &value in values {
            match self.element {
                ElementType::F32 => raw_data.extend(single(value, &name)?.to_le_bytes()),
                ElementType::F64 => raw_data.extend(value.to_le_bytes()),
            }
        }
        let dims: Result<Vec<i64>, PolicyError> =
            shape.iter().map(|&size| dimension(size)).collect();
        self.graph.initializer.push(TensorProto {
            dims: dims?,
            data_type: self.data_type(),
            name: name.clone(),
            raw_data: raw_data.into(),
            ..TensorProto::default()
        });
        Ok(name)
    }

    fn data_type(&self) -> i32 {
        match self.element {
            ElementType::F32 => data_type::FLOAT,
            ElementType::F64 => data_type::DOUBLE,
        }
    }

    /// A matrix with one row for each state.
    fn value_info(&self, name: &str, width: usize) -> Result<ValueInfoProto, PolicyError> {
        let batch = DimensionProto { dim_value: None, dim_param: Some("batch".to_owned()) };
        let columns = DimensionProto { dim_value: Some(dimension(width)?), dim_param: None };
        let tensor_type = TensorTypeProto {
            elem_type: self.data_type(),
            shape: Some(TensorShapeProto { dim: vec![batch, columns] }),
        };
        let kind = TypeProto { tensor_type: Some(tensor_type), ..TypeProto::default() };
        Ok(ValueInfoProto { name: name.to_owned(), r#type: Some(kind) })
    }
}

/// Returns whether a function that is not in the table of activations has an operator in the version
/// that is written.
fn is_of_old_version(activation: Activation) -> bool {
    match activation {
        Activation::Leaky { .. } | Activation::Clip { .. } | Activation::Staircase(_) => true,
        Activation::Smooth(smooth) => match smooth {
            Smooth::Tanh
            | Smooth::Sigmoid
            | Smooth::Elu(_)
            | Smooth::Softplus
            | Smooth::Square
            | Smooth::Exponential
            | Smooth::Logarithm(_)
            | Smooth::Root(_)
            | Smooth::Reciprocal(_) => true,
            Smooth::Silu
            | Smooth::ErfGate
            | Smooth::TanhGate(_)
            | Smooth::HardGate
            | Smooth::Mish => false,
        },
    }
}

fn integer(name: &str, value: i64) -> AttributeProto {
    AttributeProto {
        name: name.to_owned(),
        i: Some(value),
        kind: attribute_kind::INT,
        ..AttributeProto::default()
    }
}

fn dimension(size: usize) -> Result<i64, PolicyError> {
    i64::try_from(size).map_err(|_| PolicyError::unsupported("", "a layer is too wide"))
}

/// The number in single precision, which must be exact.
fn single(value: f64, place: &str) -> Result<f32, PolicyError> {
    #[expect(clippy::cast_possible_truncation, reason = "compared with the original")]
    let narrow = value as f32;
    if f64::from(narrow).to_bits() == value.to_bits() {
        return Ok(narrow);
    }
    let message = format!("{value:e} is no single-precision number; write double precision");
    Err(PolicyError::unsupported(place, message))
}
