//! Operators that change shapes or nothing at all, and constants.

use super::graph::{Call, Flow, Value};
use super::operators::{AXES_ARE_ARGUMENT, RATIO_IS_ARGUMENT};
use super::proto::data_type;
use super::tensor::{Data, Element, Tensor, count, strided};
use crate::error::PolicyError;

type Result<T> = std::result::Result<T, PolicyError>;

fn invalid(message: impl Into<String>) -> PolicyError {
    PolicyError::invalid("", message)
}

fn unsupported(message: impl Into<String>) -> PolicyError {
    PolicyError::unsupported("", message)
}

/// An axis that may be counted from the end.
pub(super) fn axis(axis: i64, rank: usize) -> Result<usize> {
    let signed = i64::try_from(rank).unwrap_or(i64::MAX);
    let from_start = if axis < 0 { axis.saturating_add(signed) } else { axis };
    match usize::try_from(from_start) {
        Ok(index) if index < rank => Ok(index),
        _ => Err(invalid(format!("axis {axis} of {rank} dimensions"))),
    }
}

/// The integers of a constant argument.
fn integers(value: Option<Value>, what: &str) -> Result<Option<Vec<i64>>> {
    match value {
        None => Ok(None),
        Some(Value::Constant(tensor)) => match tensor.as_integers() {
            Some(values) => Ok(Some(values.to_vec())),
            None => Err(invalid(format!("{what} must be integers"))),
        },
        Some(Value::Flow(_)) => Err(unsupported(format!("{what} must be constant"))),
    }
}

/// Nothing happens outside training.
pub(super) fn dropout(call: &Call) -> Result<Value> {
    call.attributes(if call.version < RATIO_IS_ARGUMENT { &["ratio"] } else { &["seed"] })?;
    let training = match call.optional(2) {
        None => false,
        Some(Value::Constant(tensor)) => tensor.as_integers() != Some(&[0]),
        Some(Value::Flow(_)) => true,
    };
    if training {
        return Err(unsupported("dropout in training is random"));
    }
    call.required(0)
}

/// Conversions that change no number.
pub(super) fn cast(call: &Call) -> Result<Value> {
    let attributes = call.attributes(&["to", "saturate", "round_mode"])?;
    let code = attributes.integer("to")?.ok_or_else(|| invalid("attribute `to` is missing"))?;
    let code = i32::try_from(code).unwrap_or(0);
    let Some(target) = Element::of(code).filter(|_| code != data_type::BOOL) else {
        return Err(unsupported(format!("a cast to {}", data_type::name(code))));
    };
    let rounds = || unsupported(format!("a cast to {} that rounds", data_type::name(code)));
    match call.required(0)? {
        Value::Flow(flow) => match (flow.element, target) {
            (Element::Integer | Element::F32, Element::F32 | Element::F64)
            | (Element::F64, Element::F64)
            | (Element::Integer, Element::Integer) => {
                Ok(Value::Flow(Flow { element: target, ..flow }))
            }
            _ => Err(rounds()),
        },
        Value::Constant(tensor) => {
            let data = converted(&tensor.data, target).ok_or_else(rounds)?;
            Ok(Value::Constant(Tensor { data, ..tensor }))
        }
    }
}

/// The same numbers in another type; `None` if some number is not the same.
fn converted(data: &Data, target: Element) -> Option<Data> {
    let to_f64 = |value: i64| -> Option<f64> {
        // Integers of 32 bits are doubles; larger ones do not occur in networks.
        i32::try_from(value).ok().map(f64::from)
    };
    #[expect(clippy::cast_possible_truncation, reason = "compared with the original below")]
    let fits = |value: f64| {
        let stays = target != Element::F32 || f64::from(value as f32).to_bits() == value.to_bits();
        stays.then_some(value)
    };
    match (data, target) {
        (Data::Integers(values), Element::Integer) => Some(Data::Integers(values.clone())),
        (Data::Integers(values), _) => {
            let values: Option<Vec<f64>> =
                values.iter().map(|&value| to_f64(value).and_then(fits)).collect();
            Some(Data::Floats(values?, target))
        }
        (Data::Floats(..), Element::Integer) => None,
        (Data::Floats(values, _), _) => {
            let values: Option<Vec<f64>> = values.iter().map(|&value| fits(value)).collect();
            Some(Data::Floats(values?, target))
        }
    }
}

pub(super) fn constant(call: &Call) -> Result<Value> {
    let known = ["value", "value_float", "value_floats", "value_int", "value_ints"];
    let attributes = call.attributes(&known)?;
    if call.node.attribute.len() > 1 {
        return Err(invalid("the constant has several values"));
    }
    let floats = |shape, values| Tensor { shape, data: Data::Floats(values, Element::F32) };
    let tensor = if let Some(tensor) = attributes.tensor("value")? {
        tensor
    } else if let Some(value) = attributes.float("value_float")? {
        floats(Vec::new(), vec![value])
    } else if let Some(values) = attributes.floats("value_floats")? {
        floats(vec![values.len()], values)
    } else if let Some(value) = attributes.integer("value_int")? {
        Tensor { shape: Vec::new(), data: Data::Integers(vec![value]) }
    } else if let Some(values) = attributes.integers("value_ints")? {
        Tensor::integers(values.to_vec())
    } else {
        return Err(invalid("the constant has no value"));
    };
    Ok(Value::Constant(tensor))
}

pub(super) fn flatten(call: &Call) -> Result<Value> {
    let attributes = call.attributes(&["axis"])?;
    let value = call.required(0)?;
    let rank = value.shape().len();
    let split = match attributes.integer("axis")?.unwrap_or(1) {
        end if usize::try_from(end) == Ok(rank) => rank,
        other => axis(other, rank)?,
    };
    let (first, rest) = value.shape().split_at(split);
    let shape = count(first).zip(count(rest)).map(|(first, rest)| vec![first, rest]);
    Ok(value.reshaped(shape.ok_or_else(|| invalid("the shape overflows"))?))
}

pub(super) fn reshape(call: &Call) -> Result<Value> {
    let attributes = call.attributes(&["allowzero"])?;
    let value = call.required(0)?;
    let wanted =
        integers(call.optional(1), "the shape")?.ok_or_else(|| invalid("argument 1 is missing"))?;
    let keeps_zero = attributes.integer("allowzero")?.unwrap_or(0) != 0;
    let mut shape = Vec::with_capacity(wanted.len());
    let mut open = None;
    for (index, &size) in wanted.iter().enumerate() {
        match size {
            -1 if open.is_none() => {
                open = Some(index);
                shape.push(1);
            }
            0 if !keeps_zero => {
                let copied = value.shape().get(index);
                shape.push(*copied.ok_or_else(|| invalid("a 0 copies no dimension"))?);
            }
            size => {
                let size = usize::try_from(size);
                shape.push(size.map_err(|_| invalid(format!("shape {wanted:?}")))?);
            }
        }
    }
    let total = count(value.shape());
    if let (Some(index), Some(total)) = (open, total)
        && let Some(quotient) = count(&shape).and_then(|rest| total.checked_div(rest))
    {
        shape[index] = quotient;
    }
    if count(&shape) != total {
        return Err(invalid(format!("shape {:?} cannot become {wanted:?}", value.shape())));
    }
    Ok(value.reshaped(shape))
}

pub(super) fn squeeze(call: &Call) -> Result<Value> {
    let value = call.required(0)?;
    let rank = value.shape().len();
    let mut dropped: Vec<bool> = value.shape().iter().map(|&size| size == 1).collect();
    if let Some(axes) = axes(call)? {
        dropped = vec![false; rank];
        for &index in &axes {
            let index = axis(index, rank)?;
            if value.shape()[index] != 1 {
                return Err(invalid(format!("axis {index} of shape {:?}", value.shape())));
            }
            dropped[index] = true;
        }
    }
    let kept = value.shape().iter().zip(dropped).filter(|(_, dropped)| !dropped);
    let shape = kept.map(|(&size, _)| size).collect();
    Ok(value.reshaped(shape))
}

pub(super) fn unsqueeze(call: &Call) -> Result<Value> {
    let value = call.required(0)?;
    let axes = axes(call)?.ok_or_else(|| invalid("the axes are missing"))?;
    let rank = value.shape().len() + axes.len();
    let mut inserted = vec![false; rank];
    for &index in &axes {
        let index = axis(index, rank)?;
        if std::mem::replace(&mut inserted[index], true) {
            return Err(invalid(format!("axis {index} is given twice")));
        }
    }
    let mut sizes = value.shape().iter().copied();
    let shape = inserted.iter().map(|&new| if new { 1 } else { sizes.next().unwrap_or(1) });
    let shape = shape.collect();
    Ok(value.reshaped(shape))
}

/// The axes, which are an attribute in early versions and an argument in later ones.
fn axes(call: &Call) -> Result<Option<Vec<i64>>> {
    let attributes =
        call.attributes(if call.version < AXES_ARE_ARGUMENT { &["axes"] } else { &[] })?;
    let attribute = attributes.integers("axes")?.map(<[i64]>::to_vec);
    Ok(integers(call.optional(1), "the axes")?.or(attribute))
}

/// A flow may only be transposed where that keeps the order of its elements.
pub(super) fn transpose(call: &Call) -> Result<Value> {
    let attributes = call.attributes(&["perm"])?;
    let value = call.required(0)?;
    let rank = value.shape().len();
    let order = match attributes.integers("perm")? {
        None => (0..rank).rev().collect(),
        Some(order) => {
            let order: std::result::Result<Vec<usize>, _> =
                order.iter().map(|&index| usize::try_from(index)).collect();
            order.map_err(|_| invalid("an axis is negative"))?
        }
    };
    let mut sorted = order.clone();
    sorted.sort_unstable();
    if !sorted.into_iter().eq(0..rank) {
        return Err(invalid(format!("{order:?} is no order of {rank} axes")));
    }
    let shape: Vec<usize> = order.iter().map(|&index| value.shape()[index]).collect();
    match value {
        Value::Flow(flow) => {
            let moved = order.iter().filter(|&&index| flow.shape[index] != 1);
            if !moved.is_sorted() {
                return Err(unsupported(format!("transposing an input of {:?}", flow.shape)));
            }
            Ok(Value::Flow(Flow { shape, ..flow }))
        }
        Value::Constant(tensor) => {
            let mut strides = vec![1; rank];
            for index in (1..rank).rev() {
                strides[index - 1] = strides[index] * tensor.shape[index];
            }
            let strides: Vec<usize> = order.iter().map(|&index| strides[index]).collect();
            let indices = strided(&shape, &strides);
            Ok(Value::Constant(tensor.picked(shape, &indices)))
        }
    }
}

/// The shape of a value, for one state.
pub(super) fn shape(call: &Call) -> Result<Value> {
    call.attributes(&[])?;
    let value = call.required(0)?;
    let sizes: std::result::Result<Vec<i64>, _> =
        value.shape().iter().map(|&size| i64::try_from(size)).collect();
    let sizes = sizes.map_err(|_| invalid("the shape overflows"))?;
    Ok(Value::Constant(Tensor::integers(sizes)))
}

/// Elements of a list of integers, by constant indices.
pub(super) fn gather(call: &Call) -> Result<Value> {
    let attributes = call.attributes(&["axis"])?;
    let data = match call.required(0)? {
        Value::Constant(tensor) if tensor.shape.len() == 1 => tensor,
        _ => return Err(unsupported("only shapes may be gathered from")),
    };
    axis(attributes.integer("axis")?.unwrap_or(0), 1)?;
    let indices = match call.required(1)? {
        Value::Constant(tensor) => tensor,
        Value::Flow(_) => return Err(unsupported("the indices must be constant")),
    };
    let picked: Result<Vec<usize>> = indices
        .as_integers()
        .ok_or_else(|| invalid("the indices must be integers"))?
        .iter()
        .map(|&index| axis(index, data.shape[0]))
        .collect();
    Ok(Value::Constant(data.picked(indices.shape, &picked?)))
}
