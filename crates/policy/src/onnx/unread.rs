//! Values that are not computed: their shapes, which other nodes ask for, and what follows from the
//! little that is known of them.

use super::call::Call;
use super::reduce;
use super::tensor::{Element, broadcast, count};
use super::value::{Drawing, Known, Ranked, UnreadValue, Value};
use crate::activation::OPERATORS as ACTIVATIONS;
use crate::error::PolicyError;

type Result<T> = std::result::Result<T, PolicyError>;

/// Operators whose result has the shape of the first argument, besides the activations.
const SAME_SHAPE: [&str; 22] = [
    "Abs",
    "Cast",
    "Ceil",
    "Celu",
    "Cos",
    "DequantizeLinear",
    "Dropout",
    "Erf",
    "Exp",
    "Gelu",
    "HardSigmoid",
    "Identity",
    "Log",
    "LogSoftmax",
    "Neg",
    "QuantizeLinear",
    "Reciprocal",
    "Selu",
    "Sin",
    "Softmax",
    "Sqrt",
    "Swish",
];

/// Operators whose result has the shape to which all arguments broadcast.
const BROADCAST: [&str; 11] =
    ["Add", "Div", "Equal", "Greater", "Less", "Max", "Min", "Mul", "Pow", "Sub", "Where"];

/// The shape of the result, where it is known without computing it.
pub(super) fn shape(call: &Call) -> Option<Vec<usize>> {
    let operator = call.operator();
    let first = call.arguments.first()?.as_ref()?;
    let is_activation = ACTIVATIONS.iter().any(|known| known.name == operator);
    if is_activation || SAME_SHAPE.contains(&operator) {
        return Some(first.known_shape()?.to_vec());
    }
    if BROADCAST.contains(&operator) {
        let mut all = call.arguments.iter();
        return all.try_fold(Vec::new(), |shape, value| {
            broadcast(&shape, value.as_ref()?.known_shape()?)
        });
    }
    if operator == "Expand" {
        let target = call.integers(1, "the shape").ok()??;
        let target: Option<Vec<usize>> =
            target.iter().map(|&size| usize::try_from(size).ok()).collect();
        return broadcast(first.known_shape()?, &target?);
    }
    if operator.starts_with("Reduce") {
        let shape = first.known_shape()?;
        return reduce::axes(call, shape.len()).ok().map(|reduced| reduced.shape(shape));
    }
    None
}

/// The type of the elements of the result, where it is that of the first argument.
pub(super) fn element(call: &Call) -> Option<Element> {
    match call.operator() {
        "Cast"
        | "Equal"
        | "Greater"
        | "Less"
        | "Where"
        | "QuantizeLinear"
        | "DequantizeLinear"
        | "DynamicQuantizeLinear"
        | "QGemm"
        | "QLinearConcat" => None,
        _ => call.element(),
    }
}

/// The result of a node that has a value that is not computed among its arguments; `None` if all of
/// them are.
///
/// A real number that is the same for all elements of a vector keeps their order where it is added
/// or subtracted, and one that is positive where it divides.
pub(super) fn with_unread(call: &Call) -> Result<Option<Value>> {
    let is_unread = |value: &Option<Value>| matches!(value, Some(Value::Unread(_)));
    let Some(Some(Value::Unread(unread))) = call.arguments.iter().find(|v| is_unread(v)) else {
        return Ok(None);
    };
    let operator = call.operator();
    // The shape is known, or the reason why not is said.
    if operator == "Shape" && unread.shape.is_some() {
        return Ok(None);
    }
    if let [Some(first), Some(Value::Unread(second))] = &call.arguments[..]
        && let Some(common) = common(operator, second)
        && let Some(ranked) = ranked(first)
        && let Some(shape) = shape(call).filter(|shape| *shape == ranked.shape)
        && common.is_one
    {
        call.attributes(&[])?;
        let is_positive = common.keeps_sign && ranked.is_positive;
        let drawing = match common.keeps_sign {
            true => Drawing::Unknown,
            false => ranked.drawing.shifted(),
        };
        let values = None;
        return Ok(Some(Value::Ranked(Ranked { shape, is_positive, values, drawing, ..ranked })));
    }
    if let [Some(Value::Unread(mask)), Some(scores), Some(Value::Constant(low))] =
        &call.arguments[..]
        && (operator, mask.known) == ("Where", Known::Applicable)
        && let Some(ranked) = ranked(scores)
        && mask.shape.as_ref() == Some(&ranked.shape)
        && shape(call).as_ref() == Some(&ranked.shape)
        && let Some((&least, rest)) = low.floats().and_then(<[f64]>::split_first)
        && rest.iter().all(|&other| (other - least).abs() <= 0.0)
        && ranked.masked.is_none()
    {
        // Checked against the scores when the domains of the inputs are known.
        let masked = Some(least);
        return Ok(Some(Value::Ranked(Ranked {
            is_positive: false,
            masked,
            values: None,
            drawing: ranked.drawing.shifted(),
            ..ranked
        })));
    }
    if operator == "Cast" && unread.known == Known::Applicable {
        return Ok(call.arguments[0].clone());
    }
    let keeps = ["Identity", "Reshape", "Squeeze", "Unsqueeze", "Flatten"];
    if keeps.contains(&operator) && is_unread(&call.arguments[0]) && unread.shape.is_some() {
        return Ok(None);
    }
    let known = Known::Nothing;
    let unread =
        UnreadValue { shape: shape(call), element: element(call), known, ..unread.clone() };
    Ok(Some(Value::Unread(unread)))
}

/// A number that changes all elements of a vector in the same way.
struct Common {
    is_one: bool,
    keeps_sign: bool,
}

fn common(operator: &str, value: &UnreadValue) -> Option<Common> {
    let is_one = value.shape.as_deref().and_then(count) == Some(1);
    match (operator, value.known) {
        ("Div" | "Mul", Known::Positive) => Some(Common { is_one, keeps_sign: true }),
        ("Add" | "Sub", Known::Real | Known::Positive) => {
            Some(Common { is_one, keeps_sign: false })
        }
        _ => None,
    }
}

/// A value as one of which the order matters.
pub(super) fn ranked(value: &Value) -> Option<Ranked> {
    match value {
        Value::Ranked(ranked) => Some(ranked.clone()),
        Value::Flow(flow) if flow.element.is_real() => Some(Ranked {
            node: flow.node,
            shape: flow.shape.clone(),
            element: flow.element,
            values: Some(flow.node),
            is_positive: false,
            drawing: Drawing::Logarithms,
            masked: None,
        }),
        Value::Flow(_) | Value::Constant(_) | Value::Decision(_) | Value::Unread(_) => None,
    }
}
