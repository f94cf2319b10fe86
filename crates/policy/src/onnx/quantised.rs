//! Quantised values: integers that stand for multiples of a scale, counted from a zero point.
//!
//! QuantizeLinear is the integer nearest to x / scale (of two the even one) plus the zero point, or the end
//! of its type's range that is nearest to that; DequantizeLinear is (q − zero point) · scale. The quotient
//! and the product are meant exactly, as everywhere: a library that rounds them first, or that merges
//! the scales of several layers, may take the next integer where the quotient is next to one half.
//!
//! A node with scales and zero points of its own for arguments and result ([`layers`], [`functions`]) means
//! DequantizeLinear of its arguments, the node without quantisation, and QuantizeLinear of its result.

mod functions;
mod layers;

use policert_numeric::Rational;

pub(super) use functions::{activation, concat, mean, of_two};
pub(super) use layers::{convolution, gemm, mat_mul};

use super::attributes::Attributes;
use super::call::Call;
use super::graph::Import;
use super::proto::data_type;
use super::reshape::axis;
use super::tensor::{Data, Element, Tensor, count};
use super::value::{Flow, Value};
use crate::activation::{Activation, Staircase};
use crate::error::PolicyError;

type Result<T> = std::result::Result<T, PolicyError>;

fn invalid(message: impl Into<String>) -> PolicyError {
    PolicyError::invalid("", message)
}

fn unsupported(message: impl Into<String>) -> PolicyError {
    PolicyError::unsupported("", message)
}

/// The scales and zero points of the elements of a value.
struct Scales {
    scales: Vec<f64>,
    zeros: Vec<i64>,
    /// So many elements that stand together have the same ones.
    group: usize,
    /// The type of the numbers that they are multiplied with.
    element: Element,
}

impl Scales {
    /// Those that a node gives for a value of a shape: argument `place`, and the one after it; if there
    /// are several, for the elements along an axis.
    fn read(call: &Call, place: usize, shape: &[usize], along: i64) -> Result<Self> {
        let scale = call.numbers(place, "the scale")?;
        let scales = scale.floats().unwrap_or_default().to_vec();
        let zeros = call.integers(place + 1, "the zero point")?;
        let zeros = zeros.unwrap_or_else(|| vec![0; scales.len()]);
        if zeros.len() != scales.len() {
            return Err(invalid(format!(
                "{} zero points for {} scales",
                zeros.len(),
                scales.len()
            )));
        }
        let group = Self::group(scales.len(), shape, along)?;
        Ok(Self { scales, zeros, group, element: scale.element() })
    }

    /// Zero points alone, which a node gives as argument `place`.
    fn of_zeros(call: &Call, place: usize, shape: &[usize], along: i64) -> Result<Self> {
        let zeros = call.integers(place, "the zero point")?.unwrap_or_else(|| vec![0]);
        let group = Self::group(zeros.len(), shape, along)?;
        Ok(Self { scales: vec![1.0; zeros.len()], zeros, group, element: Element::F32 })
    }

    /// How many elements that stand together have the same one of several scales along an axis.
    fn group(scales: usize, shape: &[usize], along: i64) -> Result<usize> {
        if scales == 0 {
            return Err(invalid("there is no scale, or no zero point"));
        }
        if scales == 1 {
            return Ok(count(shape).unwrap_or(usize::MAX));
        }
        let axis = axis(along, shape.len())?;
        if shape[axis] != scales {
            return Err(invalid(format!("{scales} scales for shape {shape:?}")));
        }
        Ok(count(&shape[axis + 1..]).unwrap_or(1))
    }

    /// Scale and zero point of an element.
    fn of(&self, element: usize) -> (f64, i64) {
        let place = element / self.group.max(1) % self.scales.len();
        (self.scales[place], self.zeros[place])
    }

    /// Scales and zero points of all elements.
    fn along(&self, elements: usize) -> Result<(Vec<f64>, Vec<f64>)> {
        let zero = |element| {
            let zero = i32::try_from(self.of(element).1).map(f64::from);
            zero.map_err(|_| unsupported("a zero point of more than 32 bits"))
        };
        let zeros: Result<Vec<f64>> = (0..elements).map(zero).collect();
        Ok(((0..elements).map(|element| self.of(element).0).collect(), zeros?))
    }
}

/// DequantizeLinear: of integers that are the same in every state, such as quantised weights, a constant.
pub(super) fn dequantize(import: &mut Import<'_, '_>, call: &Call) -> Result<Value> {
    let attributes = call.attributes(&["axis", "block_size", "output_dtype"])?;
    dequantised(import, call, 0, along(&attributes)?)
}

/// The axis along which scales differ.
fn along(attributes: &Attributes<'_>) -> Result<i64> {
    if attributes.integer("block_size")?.unwrap_or(0) != 0 {
        return Err(unsupported("blocks with scales of their own are not supported"));
    }
    Ok(attributes.integer("axis")?.unwrap_or(1))
}

/// The numbers for which argument `place` stands, with scale and zero point after it.
fn dequantised(
    import: &mut Import<'_, '_>,
    call: &Call,
    place: usize,
    along: i64,
) -> Result<Value> {
    let value = call.required(place)?;
    let scales = Scales::read(call, place + 1, value.shape(), along)?;
    let tensor = match value {
        Value::Constant(tensor) => tensor,
        other => return dequantised_flow(import, &scales, other.into_flow()?),
    };
    let what = "the integers that are scaled";
    let integers =
        tensor.as_integers().ok_or_else(|| invalid(format!("{what} must be integers")))?;
    let scaled = |(index, &integer): (usize, &i64)| -> Option<f64> {
        let (scale, zero) = scales.of(index);
        let exact = Rational::from(integer.checked_sub(zero)?) * Rational::from_f64(scale)?;
        let near = exact.to_f64();
        (Rational::from_f64(near)? == exact).then_some(near)
    };
    let values: Option<Vec<f64>> = integers.iter().enumerate().map(scaled).collect();
    let values =
        values.ok_or_else(|| unsupported("the scaled integers round in double precision"))?;
    let (shape, element) = (tensor.shape.clone(), scales.element);
    Ok(Value::Constant(Tensor { shape, data: Data::Floats(values, element) }))
}

fn dequantised_flow(import: &mut Import<'_, '_>, scales: &Scales, flow: Flow) -> Result<Value> {
    if flow.element != Element::Integer {
        return Err(invalid("the numbers that are scaled must be integers"));
    }
    let width = import.builder.width(flow.node);
    let (factors, zeros) = scales.along(width)?;
    let all = |value: f64| vec![value; width];
    let negated = zeros.iter().map(|zero| -zero).collect();
    let counted = import.builder.scale(flow.node, all(1.0), all(1.0), negated)?;
    let node = import.builder.scale(counted, factors, all(1.0), all(0.0))?;
    Ok(Value::computed(node, flow.shape, scales.element))
}

/// QuantizeLinear of values that depend on the input.
pub(super) fn quantize(import: &mut Import<'_, '_>, call: &Call) -> Result<Value> {
    let known = ["axis", "block_size", "output_dtype", "precision", "saturate"];
    let attributes = call.attributes(&known)?;
    let flow = call.required(0)?.into_numbers()?;
    let scales = Scales::read(call, 1, &flow.shape, along(&attributes)?)?;
    let code = match attributes.integer("output_dtype")?.unwrap_or(0) {
        0 => import.zero_type(call, 2)?.unwrap_or(data_type::UINT8),
        code => i32::try_from(code).unwrap_or(0),
    };
    let factors = vec![1.0; import.builder.width(flow.node)];
    rounded(import, flow, factors, &scales, code)
}

/// The integers of a type that stand for numbers times factors.
fn rounded(
    import: &mut Import<'_, '_>,
    flow: Flow,
    factors: Vec<f64>,
    scales: &Scales,
    code: i32,
) -> Result<Value> {
    let (least, greatest) = range(code).ok_or_else(|| {
        let name = data_type::name(code);
        unsupported(format!("to {name}; to uint8, int8, uint16, int16 and int32 it is"))
    })?;
    let width = import.builder.width(flow.node);
    let (divisors, zeros) = scales.along(width)?;
    let all = |value: f64| vec![value; width];
    let quotient = import.builder.scale(flow.node, factors, divisors, all(0.0))?;
    let rounded = import.builder.activation(quotient, Activation::Staircase(Staircase::Round))?;
    let counted = import.builder.scale(rounded, all(1.0), all(1.0), zeros)?;
    let saturated = Activation::Clip { lo: least, hi: greatest };
    let node = import.builder.activation(counted, saturated)?;
    Ok(Value::computed(node, flow.shape, Element::Integer))
}

/// The result of a node: numbers times factors, quantised with the scale that is argument `place` and the
/// zero point after it.
fn result(
    import: &mut Import<'_, '_>,
    call: &Call,
    flow: Flow,
    factors: Vec<f64>,
    place: usize,
) -> Result<Value> {
    let scales = Scales::read(call, place, &flow.shape, -1)?;
    if scales.scales.len() != 1 {
        return Err(unsupported("several scales of the result are not supported"));
    }
    let code = import.zero_type(call, place + 1)?;
    let code =
        code.ok_or_else(|| unsupported("the result has no zero point, which says its type"))?;
    rounded(import, flow, factors, &scales, code)
}

/// The least and the greatest number of a type of integers that values are quantised to.
fn range(code: i32) -> Option<(f64, f64)> {
    match code {
        data_type::UINT8 => Some((0.0, u8::MAX.into())),
        data_type::INT8 => Some((i8::MIN.into(), i8::MAX.into())),
        data_type::UINT16 => Some((0.0, u16::MAX.into())),
        data_type::INT16 => Some((i16::MIN.into(), i16::MAX.into())),
        data_type::INT32 => Some((i32::MIN.into(), i32::MAX.into())),
        _ => None,
    }
}

impl Import<'_, '_> {
    /// The type of a zero point, if there is one.
    fn zero_type(&self, call: &Call, place: usize) -> Result<Option<i32>> {
        let name = call.node.input.get(place).filter(|name| !name.is_empty());
        let known = name.map(|name| {
            self.stored_type(name).ok_or_else(|| {
                unsupported("the type of its zero point is not known; an initialiser has one")
            })
        });
        known.transpose()
    }

    /// The type of a constant that is stored in the file or in a node.
    fn stored_type(&self, name: &str) -> Option<i32> {
        if let Some(tensor) = self.stored.get(name) {
            return Some(tensor.data_type);
        }
        let node = self.producers.get(name).filter(|node| node.op_type == "Constant")?;
        let value = node.attribute.iter().find(|attribute| attribute.name == "value")?;
        value.t.as_ref().map(|tensor| tensor.data_type)
    }
}
