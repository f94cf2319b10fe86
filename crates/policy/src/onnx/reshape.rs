//! Operators that change shapes or nothing at all, and constants.

use super::call::Call;
use super::graph::Import;
use super::operators::{AXES_ARE_ARGUMENT, RATIO_IS_ARGUMENT};
use super::proto::data_type;
use super::tensor::{Data, Element, Tensor, count};
use super::value::{Flow, Origin, Value};
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

/// Nothing happens outside training; the mask of what is left is all true.
pub(super) fn dropout(call: &Call) -> Result<Vec<Value>> {
    call.attributes(if call.version < RATIO_IS_ARGUMENT { &["ratio"] } else { &["seed"] })?;
    let training = match call.optional(2) {
        None => false,
        Some(Value::Constant(tensor)) => tensor.as_integers() != Some(&[0]),
        Some(_) => true,
    };
    if training {
        return Err(unsupported("dropout in training is random"));
    }
    let value = call.required(0)?;
    let shape = value.shape().to_vec();
    let kept = Data::Integers(vec![1; count(&shape).unwrap_or(0)]);
    Ok(vec![value, Value::Constant(Tensor { shape, data: kept })])
}

/// Conversions that change no number.
pub(super) fn cast(import: &mut Import<'_, '_>, call: &Call) -> Result<Value> {
    let attributes = call.attributes(&["to", "saturate", "round_mode"])?;
    let code = attributes.integer("to")?.ok_or_else(|| invalid("attribute `to` is missing"))?;
    let code = i32::try_from(code).unwrap_or(0);
    let refused = || unsupported(format!("a cast to {}", data_type::name(code)));
    let target = Element::of(code).ok_or_else(refused)?;
    let rounds = || unsupported(format!("a cast to {} that rounds", data_type::name(code)));
    match call.required(0)? {
        Value::Flow(flow) => {
            let is_truth = matches!(flow.origin, Origin::Truth);
            if !is_truth && is_narrow(code) {
                let message = format!(
                    "a cast of an input to {}; what says which labels are applicable is \
                     \"applicable\" in an interface of version 2",
                    data_type::name(code)
                );
                let is_input = matches!(flow.origin, Origin::Inputs(_));
                return Err(if is_input { unsupported(message) } else { refused() });
            }
            match &flow.origin {
                // The values of variables are integers.
                Origin::Inputs(inputs) if flow.element.is_real() && target == Element::Integer => {
                    import.need(inputs, policert_numeric::IntInterval::ALL);
                }
                Origin::Truth if target != Element::Text => {}
                Origin::Computed | Origin::Inputs(_) | Origin::Truth => {
                    if !flow.element.widens_to(target) {
                        return Err(rounds());
                    }
                }
            }
            Ok(Value::Flow(Flow { element: target, ..flow }))
        }
        Value::Constant(tensor) => {
            if code == data_type::BOOL {
                return Err(refused());
            }
            let data = converted(&tensor.data, target).ok_or_else(rounds)?;
            Ok(Value::Constant(Tensor { data, ..tensor }))
        }
        Value::Ranked(mut ranked) if ranked.element.widens_to(target) => {
            ranked.element = target;
            Ok(Value::Ranked(ranked))
        }
        Value::Ranked(_) => Err(rounds()),
        Value::Decision(mut decision) if !is_narrow(code) && target != Element::Text => {
            decision.element = target;
            Ok(Value::Decision(decision))
        }
        other => other.into_flow().map(Value::Flow),
    }
}

/// Returns whether numbers of 32 bits may not fit into the type.
fn is_narrow(code: i32) -> bool {
    [data_type::BOOL, data_type::UINT8, data_type::INT8, data_type::UINT16, data_type::INT16]
        .contains(&code)
}

/// The same numbers in another type; `None` if some number is not the same.
fn converted(data: &Data, target: Element) -> Option<Data> {
    let to_f64 = |value: i64| -> Option<f64> {
        // Integers of 32 bits are doubles; larger ones do not occur in networks.
        i32::try_from(value).ok().map(f64::from)
    };
    let fits = |value: f64| target.holds(value).then_some(value);
    match (data, target) {
        (Data::Integers(values), Element::Integer) => Some(Data::Integers(values.clone())),
        (Data::Integers(values), _) => {
            let values: Option<Vec<f64>> =
                values.iter().map(|&value| to_f64(value).and_then(fits)).collect();
            Some(Data::Floats(values?, target))
        }
        (Data::Floats(..), Element::Integer) | (_, Element::Text) | (Data::Texts(_), _) => None,
        (Data::Floats(values, _), _) => {
            let values: Option<Vec<f64>> = values.iter().map(|&value| fits(value)).collect();
            Some(Data::Floats(values?, target))
        }
    }
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
    let wanted = call.integers(1, "the shape")?.ok_or_else(|| invalid("argument 1 is missing"))?;
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
    Ok(call.integers(1, "the axes")?.or(attribute))
}

/// The shape of a value, for one state.
pub(super) fn shape(call: &Call) -> Result<Value> {
    let attributes = call.attributes(&["start", "end"])?;
    let value = call.required(0)?;
    let sizes: std::result::Result<Vec<i64>, _> =
        value.shape().iter().map(|&size| i64::try_from(size)).collect();
    let sizes = sizes.map_err(|_| invalid("the shape overflows"))?;
    let rank = i64::try_from(sizes.len()).unwrap_or(i64::MAX);
    let end_of = |index: i64| {
        let index = if index < 0 { index.saturating_add(rank) } else { index };
        usize::try_from(index.clamp(0, rank)).unwrap_or(0)
    };
    let start = end_of(attributes.integer("start")?.unwrap_or(0));
    let end = end_of(attributes.integer("end")?.unwrap_or(rank)).max(start);
    Ok(Value::Constant(Tensor::integers(sizes[start..end].to_vec())))
}
