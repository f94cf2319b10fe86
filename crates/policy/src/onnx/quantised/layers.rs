//! Layers of quantised values, which compute with integers: QLinearMatMul, QLinearConv, QGemm, and without
//! scales MatMulInteger and ConvInteger.
//!
//! The integers are counted from their zero points, and so is the bias, which has none. What the layer makes
//! of them is an integer of 32 bits; the scales of both factors are multiplied with that.

use policert_numeric::{IntInterval, Rational};

use super::super::call::Call;
use super::super::discrete::number;
use super::super::graph::Import;
use super::super::reshape::axis;
use super::super::tensor::{Data, Element, Tensor, count};
use super::super::value::{Flow, Origin, Value};
use super::super::window::{self, CONVOLUTION};
use super::{Result, Scales, invalid, result, unsupported};
use crate::network::fold::product;

/// The greatest magnitude of an integer of 8 bits that is counted from a zero point.
const GREATEST: f64 = 255.0;

/// Places of the arguments of a layer.
struct Places {
    /// The factors; scale and zero point come after each of them, or the zero points of both after both.
    factors: [usize; 2],
    are_scaled: bool,
    bias: Option<usize>,
}

const WITH_SCALES: Places = Places { factors: [0, 3], are_scaled: true, bias: None };
const INTEGERS: Places = Places { factors: [0, 1], are_scaled: false, bias: None };

/// QLinearMatMul, MatMulInteger.
pub(in super::super) fn mat_mul(import: &mut Import<'_, '_>, call: &Call) -> Result<Value> {
    call.attributes(&[])?;
    let places = if call.operator() == "QLinearMatMul" { WITH_SCALES } else { INTEGERS };
    let layer = Layer::read(import, call, &places, [-2, -1])?;
    let Layer { factors, scales, .. } = layer;
    let sums = import.matrix_product(factors)?.into_numbers()?;
    if !places.are_scaled {
        return Ok(Value::computed(sums.node, sums.shape, Element::Integer));
    }
    scaled(import, call, sums, (&scales, 1), Some(6))
}

/// QGemm: the result is quantised if it has a scale.
pub(in super::super) fn gemm(import: &mut Import<'_, '_>, call: &Call) -> Result<Value> {
    let attributes = call.attributes(&["alpha", "transA", "transB"])?;
    let alpha = attributes.float("alpha")?.unwrap_or(1.0);
    let is_transposed = |name: &str| Ok(attributes.integer(name)?.unwrap_or(0) != 0);
    let transposed: [bool; 2] = [is_transposed("transA")?, is_transposed("transB")?];
    let along = [if transposed[0] { -1 } else { -2 }, if transposed[1] { -2 } else { -1 }];
    let layer = Layer::read(import, call, &Places { bias: Some(6), ..WITH_SCALES }, along)?;
    let Layer { factors, scales, bias } = layer;
    let sums = import.general_product(factors, transposed, (1.0, 1.0), bias)?.into_numbers()?;
    let all = |value: f64| vec![value; import.builder.width(sums.node)];
    let (factors, ones, zeros) = (all(alpha), all(1.0), all(0.0));
    let node = import.builder.scale(sums.node, factors, ones, zeros)?;
    let place = call.optional(7).map(|_| 7);
    if place.is_none() && call.optional(8).is_some() {
        return Err(invalid("the result has a zero point and no scale"));
    }
    scaled(import, call, Flow { node, ..sums }, (&scales, 1), place)
}

/// QLinearConv, ConvInteger.
pub(in super::super) fn convolution(import: &mut Import<'_, '_>, call: &Call) -> Result<Value> {
    let attributes = call.attributes(&CONVOLUTION)?;
    let is_scaled = call.operator() == "QLinearConv";
    let places = if is_scaled { Places { bias: Some(8), ..WITH_SCALES } } else { INTEGERS };
    let Layer { factors: [image, kernels], scales, bias } =
        Layer::read(import, call, &places, [-1, 0])?;
    let kernels = kernels.into_constant("the kernel")?;
    let bias = bias.and_then(|bias| bias.floats().map(<[f64]>::to_vec));
    let image = image.into_numbers()?;
    let sums = window::convolved(import, &attributes, image, &kernels, bias)?.into_numbers()?;
    if !is_scaled {
        return Ok(Value::computed(sums.node, sums.shape, Element::Integer));
    }
    let area = count(sums.shape.get(2..).unwrap_or_default()).unwrap_or(1);
    scaled(import, call, sums, (&scales, area), Some(6))
}

/// The arguments of a layer, counted from their zero points, as real numbers; the scales of both factors.
struct Layer {
    factors: [Value; 2],
    scales: [Vec<f64>; 2],
    bias: Option<Tensor>,
}

impl Layer {
    /// Reads the arguments; the scales of weights, if there are several, are along an axis.
    fn read(
        import: &mut Import<'_, '_>,
        call: &Call,
        places: &Places,
        along: [i64; 2],
    ) -> Result<Self> {
        let bias = match places.bias.and_then(|place| call.optional(place)) {
            None => None,
            Some(bias) => {
                let bias = bias.into_constant("the bias")?;
                let zero =
                    Scales { scales: vec![1.0], zeros: vec![0], group: 1, element: Element::F32 };
                Some(counted(&bias, &zero)?)
            }
        };
        let mut factors = Vec::with_capacity(2);
        let mut scales = Vec::with_capacity(2);
        for (side, (place, along)) in places.factors.into_iter().zip(along).enumerate() {
            let value = call.required(place)?;
            let own = if places.are_scaled {
                Scales::read(call, place + 1, value.shape(), along)?
            } else {
                Scales::of_zeros(call, places.factors.len() + side, value.shape(), along)?
            };
            if own.scales.len() > 1 && value.shape().len() < 2 {
                return Err(unsupported("several scales of a vector"));
            }
            factors.push(match value {
                Value::Constant(weights) => {
                    let weights = counted(&weights, &own)?;
                    fits(&weights, along, bias.as_ref())?;
                    Value::Constant(weights)
                }
                other => from_zero(import, other.into_flow()?, &own)?,
            });
            scales.push(own.scales);
        }
        let (Ok(factors), Ok(scales)) = (factors.try_into(), scales.try_into()) else {
            return Err(invalid("two factors are expected"));
        };
        Ok(Self { factors, scales, bias })
    }
}

/// Integers that are the same in every state, counted from their zero points.
fn counted(tensor: &Tensor, scales: &Scales) -> Result<Tensor> {
    let integers = tensor.as_integers();
    let integers = integers.ok_or_else(|| invalid("weights and bias must be integers"))?;
    let from_zero = |(index, &integer): (usize, &i64)| {
        let counted = integer.checked_sub(scales.of(index).1);
        number(counted.ok_or_else(|| invalid("an integer is too large"))?)
    };
    let counted: Result<Vec<f64>> = integers.iter().enumerate().map(from_zero).collect();
    Ok(Tensor { shape: tensor.shape.clone(), data: Data::Floats(counted?, Element::F32) })
}

/// Integers that depend on the state, counted from their zero point.
fn from_zero(import: &mut Import<'_, '_>, flow: Flow, scales: &Scales) -> Result<Value> {
    if flow.element != Element::Integer {
        return Err(invalid("the values must be integers"));
    }
    if scales.scales.len() != 1 {
        return Err(unsupported("several scales of values that are no weights"));
    }
    if let Origin::Inputs(inputs) = &flow.origin {
        import.need(inputs, IntInterval::new(i8::MIN.into(), u8::MAX.into()));
    }
    let width = import.builder.width(flow.node);
    let (_, zeros) = scales.along(width)?;
    let negated = zeros.iter().map(|zero| -zero).collect();
    let ones = || vec![1.0; width];
    let node = import.builder.scale(flow.node, ones(), ones(), negated)?;
    Ok(Value::computed(node, flow.shape, Element::F32))
}

/// Checks that the sums certainly are integers of 32 bits.
fn fits(weights: &Tensor, along: i64, bias: Option<&Tensor>) -> Result<()> {
    let greatest = |tensor: &Tensor| {
        let values = tensor.floats().unwrap_or_default().iter();
        values.fold(0.0f64, |greatest, value| greatest.max(value.abs()))
    };
    let rank = weights.shape.len();
    let sums = if rank < 2 { 1 } else { weights.shape[axis(along, rank)?] };
    let terms = u32::try_from(weights.len() / sums.max(1));
    let terms = terms.map_err(|_| unsupported("too many weights"))?;
    // Far below 2⁵³ where it matters.
    let sum = f64::from(terms) * greatest(weights) * GREATEST + bias.map_or(0.0, greatest);
    if sum > f64::from(i32::MAX) {
        return Err(unsupported("its sums may have more than 32 bits"));
    }
    Ok(())
}

/// Sums times the scales of both factors: quantised, if argument `place` is the scale of the result. As many
/// elements that stand together have the same scales as is said.
fn scaled(
    import: &mut Import<'_, '_>,
    call: &Call,
    sums: Flow,
    (scales, together): (&[Vec<f64>; 2], usize),
    place: Option<usize>,
) -> Result<Value> {
    let width = import.builder.width(sums.node);
    let factor = |element: usize| {
        let [a, b] = scales.each_ref().map(|own| own[element / together.max(1) % own.len()]);
        Rational::from_f64(b).and_then(|b| product(a, &b))
    };
    let factors: Option<Vec<f64>> = (0..width).map(factor).collect();
    let factors =
        factors.ok_or_else(|| unsupported("the product of scales rounds in double precision"))?;
    match place {
        Some(place) => result(import, call, sums, factors, place),
        None => {
            let (ones, zeros) = (vec![1.0; width], vec![0.0; width]);
            let node = import.builder.scale(sums.node, factors, ones, zeros)?;
            Ok(Value::computed(node, sums.shape, Element::F32))
        }
    }
}
