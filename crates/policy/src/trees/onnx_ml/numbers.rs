//! The constants of operators before a tree ensemble.

use std::cmp::Ordering;

use super::super::column::{Kind, Lookup, Number};
use crate::error::PolicyError;
use crate::onnx::attributes::Attributes;
use crate::onnx::tensor::{Data, Element, Tensor};

pub(super) fn unsupported(message: String) -> PolicyError {
    PolicyError::unsupported("", message)
}

/// Returns the error about categories that are texts.
pub(super) fn texts() -> PolicyError {
    let message = "categories that are texts are not supported: train with their numbers, as the model \
                   has them";
    unsupported(message.to_owned())
}

/// Returns a number of an attribute, which is stored in single precision, in a kind of real numbers.
pub(super) fn real(value: f64, kind: Kind) -> Result<Number, PolicyError> {
    if value.is_nan() {
        return Err(PolicyError::invalid("", "a number is NaN"));
    }
    match kind {
        Kind::Single => Ok(single(value)),
        Kind::Double => Ok(Number::Double(value)),
        Kind::Integer => Err(unsupported("it computes with integers".to_owned())),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "it was widened from single precision")]
fn single(value: f64) -> Number {
    Number::Single(value as f32)
}

/// Returns the numbers of the attributes `…_floats`, `…_int64s` or `…_tensor`.
pub(super) fn numbers(
    attributes: &Attributes<'_>,
    name: &str,
) -> Result<(Vec<Number>, Kind), PolicyError> {
    let floats = attributes.floats(&format!("{name}_floats"))?;
    let integers = attributes.integers(&format!("{name}_int64s"))?;
    let tensor = attributes.tensor(&format!("{name}_tensor"))?;
    let numbers: Vec<Number> = match (floats, integers, tensor) {
        (Some(floats), None, None) => floats.into_iter().map(single).collect(),
        (None, Some(integers), None) => integers.iter().map(|&n| Number::Integer(n)).collect(),
        (None, None, Some(tensor)) => tensor_numbers(&tensor)?,
        (None, None, None) => return Err(texts()),
        _ => {
            let message = format!("`{name}_…` is given twice");
            return Err(PolicyError::invalid("", message));
        }
    };
    match numbers.first().map(|first| first.kind()) {
        Some(kind) => Ok((numbers, kind)),
        None => Err(PolicyError::invalid("", format!("`{name}_…` is empty"))),
    }
}

pub(super) fn tensor_numbers(tensor: &Tensor) -> Result<Vec<Number>, PolicyError> {
    match &tensor.data {
        Data::Floats(values, Element::F32) => Ok(values.iter().map(|&v| single(v)).collect()),
        Data::Floats(values, Element::F64) => {
            Ok(values.iter().map(|&value| Number::Double(value)).collect())
        }
        Data::Integers(values) => Ok(values.iter().map(|&value| Number::Integer(value)).collect()),
        Data::Texts(_) => Err(texts()),
        Data::Floats(..) => Err(unsupported("half precision before a tree ensemble".to_owned())),
    }
}

/// Returns the order of two numbers of one kind.
fn order(a: Number, b: Number) -> Ordering {
    b.is_below(a).cmp(&a.is_below(b))
}

/// Puts categories in order.
pub(super) fn ascending(categories: &mut [Number]) -> Result<(), PolicyError> {
    categories.sort_by(|a, b| order(*a, *b));
    if categories.windows(2).all(|pair| pair[0].is_below(pair[1])) {
        return Ok(());
    }
    Err(PolicyError::invalid("", "a category is listed twice"))
}

/// The attributes of an encoder of labels that are read.
pub(crate) const LABEL_ENCODER: [&str; 10] = [
    "keys_floats",
    "keys_int64s",
    "keys_tensor",
    "values_floats",
    "values_int64s",
    "values_tensor",
    "default_float",
    "default_int64",
    "default_tensor",
    // Not read where the keys and values are numbers.
    "default_string",
];

/// Returns the list of an encoder of labels, with the kinds of its keys and of its values.
pub(crate) fn lookup(attributes: &Attributes<'_>) -> Result<(Kind, Lookup, Kind), PolicyError> {
    let (keys, kind) = numbers(attributes, "keys")?;
    let (values, to) = numbers(attributes, "values")?;
    if values.len() != keys.len() {
        let message = format!("{} values for {} keys", values.len(), keys.len());
        return Err(PolicyError::invalid("", message));
    }
    let otherwise = match attributes.tensor("default_tensor")? {
        Some(tensor) => match tensor_numbers(&tensor)?.as_slice() {
            &[number] if number.kind() == to => number,
            _ => {
                let message = "`default_tensor` is no number of the type of the values";
                return Err(PolicyError::invalid("", message));
            }
        },
        None if to == Kind::Integer => {
            Number::Integer(attributes.integer("default_int64")?.unwrap_or(-1))
        }
        None => real(attributes.float("default_float")?.unwrap_or(0.0), to)?,
    };
    // NaN, which is no number of an input, may be a key.
    let mut entries: Vec<(Number, Number)> = keys.into_iter().zip(values).collect();
    entries.retain(|(key, _)| !key.to_f64().is_nan());
    entries.sort_by(|(a, _), (b, _)| order(*a, *b));
    if entries.windows(2).any(|pair| !pair[0].0.is_below(pair[1].0)) {
        return Err(PolicyError::invalid("", "a key is listed twice"));
    }
    Ok((kind, Lookup { entries, otherwise: Some(otherwise) }, to))
}
