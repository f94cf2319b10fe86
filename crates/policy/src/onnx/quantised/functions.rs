//! Functions of quantised values with a quantised result, as ONNX Runtime writes them for its own domain.
//!
//! The runtime computes those of one value once for each of the 256 integers.

use super::super::call::Call;
use super::super::graph::Import;
use super::super::reduce;
use super::super::reshape::axis;
use super::super::select;
use super::super::value::{Flow, Value};
use super::super::window::{self, Pool};
use super::{Result, dequantised, invalid, result, unsupported};
use crate::activation::{Activation, Smooth};

/// Arguments of a quantised value: itself, its scale, its zero point.
const EACH: usize = 3;

/// QLinearAdd, QLinearMul.
pub(in super::super) fn of_two(import: &mut Import<'_, '_>, call: &Call) -> Result<Value> {
    call.attributes(&[])?;
    let operator = if call.operator() == "QLinearAdd" { "Add" } else { "Mul" };
    let first = dequantised(import, call, 0, -1)?;
    let second = dequantised(import, call, EACH, -1)?;
    let value = import.of_two(operator, first, second)?;
    finished(import, call, value, 2 * EACH)
}

/// QLinearSigmoid, QLinearLeakyRelu.
pub(in super::super) fn activation(import: &mut Import<'_, '_>, call: &Call) -> Result<Value> {
    let function = if call.operator() == "QLinearSigmoid" {
        call.attributes(&[])?;
        Activation::Smooth(Smooth::Sigmoid)
    } else {
        let alpha = call.attributes(&["alpha"])?.float("alpha")?;
        Activation::Leaky { alpha: alpha.unwrap_or(f64::from(0.01f32)) }
    };
    let flow = dequantised(import, call, 0, -1)?.into_numbers()?;
    let node = import.builder.activation(flow.node, function)?;
    finished(import, call, Value::Flow(Flow { node, ..flow }), EACH)
}

/// QLinearAveragePool, QLinearGlobalAveragePool.
pub(in super::super) fn mean(import: &mut Import<'_, '_>, call: &Call) -> Result<Value> {
    let is_global = call.operator() == "QLinearGlobalAveragePool";
    let of_windows =
        ["auto_pad", "ceil_mode", "count_include_pad", "kernel_shape", "pads", "strides"];
    let known = if is_global { &[][..] } else { &of_windows[..] };
    let attributes = call.attributes(&[known, &["channels_last"]].concat())?;
    if attributes.integer("channels_last")?.unwrap_or(0) != 0 {
        return Err(unsupported("`channels_last` is not supported"));
    }
    let value = dequantised(import, call, 0, -1)?;
    let value = if is_global {
        reduce::mean_of_channels(import, &value)?
    } else {
        window::pooled(import, &attributes, value.into_numbers()?, Pool::Mean)?
    };
    finished(import, call, value, EACH)
}

/// QLinearConcat: scale and zero point of the result come first.
pub(in super::super) fn concat(import: &mut Import<'_, '_>, call: &Call) -> Result<Value> {
    let place = call.attributes(&["axis"])?.integer("axis")?;
    let place = place.ok_or_else(|| invalid("attribute `axis` is missing"))?;
    let first = EACH - 1;
    let others = call.arguments.len().saturating_sub(first);
    if others == 0 || !others.is_multiple_of(EACH) {
        return Err(invalid(format!("{} arguments", call.arguments.len())));
    }
    let parts = (first..call.arguments.len()).step_by(EACH);
    let values: Result<Vec<Value>> =
        parts.map(|part| dequantised(import, call, part, -1)).collect();
    let values = values?;
    let place = axis(place, values[0].shape().len())?;
    let joined = select::join(import, values, place)?;
    finished(import, call, joined, 0)
}

fn finished(import: &mut Import<'_, '_>, call: &Call, value: Value, place: usize) -> Result<Value> {
    let flow = value.into_numbers()?;
    let factors = vec![1.0; import.builder.width(flow.node)];
    result(import, call, flow, factors, place)
}
