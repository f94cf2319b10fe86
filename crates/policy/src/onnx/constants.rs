//! Values that are the same in every state: mostly shapes, which exporters compute in the graph.

use super::call::Call;
use super::tensor::{Data, Element, Tensor, broadcast_indices, count};
use super::value::Value;
use crate::error::PolicyError;

type Result<T> = std::result::Result<T, PolicyError>;

fn invalid(message: impl Into<String>) -> PolicyError {
    PolicyError::invalid("", message)
}

fn unsupported(message: impl Into<String>) -> PolicyError {
    PolicyError::unsupported("", message)
}

/// Add, Sub, Mul, Div of integers; of real numbers where the result is exact.
pub(super) fn arithmetic(
    operator: &str,
    a: &Tensor,
    b: &Tensor,
    shape: Vec<usize>,
) -> Result<Tensor> {
    let fits = || invalid("the shapes do not fit");
    let first = broadcast_indices(&a.shape, &shape).ok_or_else(fits)?;
    let second = broadcast_indices(&b.shape, &shape).ok_or_else(fits)?;
    let pairs = || first.iter().copied().zip(second.iter().copied());
    if let (Some(x), Some(y)) = (a.as_integers(), b.as_integers()) {
        let results: Option<Vec<i64>> = pairs()
            .map(|(i, j)| match operator {
                "Add" => x[i].checked_add(y[j]),
                "Sub" => x[i].checked_sub(y[j]),
                "Mul" => x[i].checked_mul(y[j]),
                _ => x[i].checked_div(y[j]),
            })
            .collect();
        let data = results.ok_or_else(|| unsupported("the integers overflow"))?;
        return Ok(Tensor { shape, data: Data::Integers(data) });
    }
    let (Some(x), Some(y)) = (a.floats(), b.floats()) else {
        return Err(invalid("integers and real numbers are combined"));
    };
    let element = a.element();
    let exact = |a: f64, b: f64| -> Option<f64> {
        use policert_numeric::Rational;
        let (p, q) = (Rational::from_f64(a)?, Rational::from_f64(b)?);
        let result = match operator {
            "Add" => p + q,
            "Sub" => p - q,
            "Mul" => p * q,
            _ => p.checked_div(&q)?,
        };
        let near = result.to_f64();
        (element.holds(near) && Rational::from_f64(near)? == result).then_some(near)
    };
    let results: Option<Vec<f64>> = pairs().map(|(i, j)| exact(x[i], y[j])).collect();
    let rounds = || unsupported("arithmetic of constants is not supported where it rounds");
    Ok(Tensor { shape, data: Data::Floats(results.ok_or_else(rounds)?, element) })
}

/// A constant in the graph.
pub(super) fn constant(call: &Call) -> Result<Value> {
    let known =
        ["value", "value_float", "value_floats", "value_int", "value_ints", "value_strings"];
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
    } else if call.node.attribute.is_empty() {
        return Err(invalid("the constant has no value"));
    } else {
        let texts = attributes.texts("value_strings")?;
        Tensor { shape: vec![texts.len()], data: Data::Texts(texts) }
    };
    Ok(Value::Constant(tensor))
}

/// A value of a shape that is given, all of its elements the same.
pub(super) fn constant_of_shape(call: &Call) -> Result<Value> {
    let attributes = call.attributes(&["value"])?;
    let sizes = call.integers(0, "the shape")?.ok_or_else(|| invalid("the shape is missing"))?;
    let sizes: std::result::Result<Vec<usize>, _> =
        sizes.iter().map(|&size| usize::try_from(size)).collect();
    let shape = sizes.map_err(|_| invalid("a size is negative"))?;
    let total = count(&shape).filter(|&total| total <= MAX_ELEMENTS);
    let total = total.ok_or_else(|| unsupported(format!("shape {shape:?} is too large")))?;
    let one = match attributes.tensor("value")? {
        Some(tensor) if tensor.len() == 1 => tensor,
        Some(_) => return Err(invalid("the value must be one number")),
        None => Tensor { shape: Vec::new(), data: Data::Floats(vec![0.0], Element::F32) },
    };
    Ok(Value::Constant(one.picked(shape, &vec![0; total])))
}

/// More elements than this are a mistake.
const MAX_ELEMENTS: usize = 1 << 26;

/// Integers from a start to a limit.
pub(super) fn range(call: &Call) -> Result<Value> {
    call.attributes(&[])?;
    let scalar = |index: usize, what: &str| match call.integers(index, what)?.as_deref() {
        Some(&[value]) => Ok(value),
        _ => Err(invalid(format!("{what} must be one integer"))),
    };
    let (start, limit) = (scalar(0, "the start")?, scalar(1, "the limit")?);
    let step = scalar(2, "the step")?;
    if step == 0 {
        return Err(invalid("the step is 0"));
    }
    let mut values = Vec::new();
    let mut at = start;
    while if step > 0 { at < limit } else { at > limit } {
        if values.len() == MAX_ELEMENTS {
            return Err(unsupported("the range is too long"));
        }
        values.push(at);
        let Some(next) = at.checked_add(step) else { break };
        at = next;
    }
    Ok(Value::Constant(Tensor::integers(values)))
}

/// Number of elements of a value, for one state.
pub(super) fn size(call: &Call) -> Result<Value> {
    call.attributes(&[])?;
    let total = count(call.required(0)?.shape()).and_then(|count| i64::try_from(count).ok());
    let total = total.ok_or_else(|| invalid("the shape overflows"))?;
    Ok(Value::Constant(Tensor { shape: Vec::new(), data: Data::Integers(vec![total]) }))
}

/// Equal, Greater, Less and so on of integers that are the same in every state.
pub(super) fn compared(
    a: &Tensor,
    b: &Tensor,
    shape: Vec<usize>,
    holds: impl Fn(std::cmp::Ordering) -> bool,
) -> Result<Tensor> {
    let (Some(x), Some(y)) = (a.as_integers(), b.as_integers()) else {
        return Err(unsupported("real constants are compared"));
    };
    let fits = || invalid("the shapes do not fit");
    let first = broadcast_indices(&a.shape, &shape).ok_or_else(fits)?;
    let second = broadcast_indices(&b.shape, &shape).ok_or_else(fits)?;
    let results = first.iter().zip(&second).map(|(&i, &j)| i64::from(holds(x[i].cmp(&y[j]))));
    Ok(Tensor { data: Data::Integers(results.collect()), shape })
}
