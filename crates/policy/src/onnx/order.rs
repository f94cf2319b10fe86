//! Operators at the end of a policy: what keeps the order of scores, and what chooses the greatest.

use super::call::Call;
use super::graph::Import;
use super::reshape::axis;
use super::tensor::{Element, Tensor, count};
use super::unread::ranked;
use super::value::{Decision, Drawing, Known, Ranked, UnreadValue, Value};
use crate::activation::{Activation, Smooth};
use crate::error::PolicyError;
use crate::network::NodeId;

type Result<T> = std::result::Result<T, PolicyError>;

fn unsupported(message: impl Into<String>) -> PolicyError {
    PolicyError::unsupported("", message)
}

/// From this version of the operator set on, softmax is along one axis; before, along all axes from
/// one on.
const ALONG_ONE_AXIS: i64 = 13;

/// Softmax, LogSoftmax, Exp: an increasing function, the same for all elements.
pub(super) fn increasing(import: &mut Import<'_, '_>, call: &Call) -> Result<Value> {
    let value = call.required(0)?;
    let Some(ranked) = ranked(&value) else { return value.into_numbers().map(Value::Flow) };
    let operator = call.operator();
    let mut values = None;
    if operator == "Exp" {
        call.attributes(&[])?;
        let exponential = Activation::Smooth(Smooth::Exponential);
        let power = ranked.values.map(|node| import.builder.activation(node, exponential));
        values = power.transpose()?;
    } else {
        let attributes = call.attributes(&["axis"])?;
        let (shape, rank) = (&ranked.shape, ranked.shape.len());
        let group = if call.version < ALONG_ONE_AXIS {
            let first = axis(attributes.integer("axis")?.unwrap_or(1), rank)?;
            count(&shape[first..])
        } else {
            Some(shape[axis(attributes.integer("axis")?.unwrap_or(-1), rank)?])
        };
        if group != count(shape) {
            let message = format!("of several groups of numbers (shape {shape:?})");
            return Err(unsupported(message));
        }
    }
    let is_positive = operator != "LogSoftmax";
    let drawing = match (operator, ranked.drawing) {
        ("Softmax", Drawing::Logarithms) => Drawing::Probabilities,
        ("LogSoftmax", Drawing::Logarithms) => Drawing::Logarithms,
        _ => Drawing::Unknown,
    };
    Ok(Value::Ranked(Ranked { is_positive, values, drawing, ..ranked }))
}

/// Values of which the order is known, after arithmetic with a constant that is the same for all of
/// them; `None` if that may change the order.
pub(super) fn shifted(operator: &str, ranked: &Ranked, constant: &Tensor) -> Option<Ranked> {
    let (&first, rest) = constant.floats()?.split_first()?;
    if !first.is_finite() || rest.iter().any(|&other| (other - first).abs() > 0.0) {
        return None;
    }
    let (is_positive, drawing) = match operator {
        "Add" | "Sub" => (false, ranked.drawing.shifted()),
        "Mul" | "Div" if first > 0.0 => (ranked.is_positive, Drawing::Unknown),
        _ => return None,
    };
    Some(Ranked { is_positive, drawing, values: None, ..ranked.clone() })
}

/// ArgMax over all elements.
pub(super) fn arg_max(call: &Call) -> Result<Value> {
    let attributes = call.attributes(&["axis", "keepdims", "select_last_index"])?;
    let value = call.required(0)?;
    let along = attributes.integer("axis")?.unwrap_or(0);
    let keeps = attributes.integer("keepdims")?.unwrap_or(1) != 0;
    if attributes.integer("select_last_index")?.unwrap_or(0) != 0 {
        let message = "`select_last_index` chooses the last of the greatest, which is not \
                       supported; export it with 0";
        return Err(unsupported(message));
    }
    decision(value, along, keeps)
}

fn decision(value: Value, along: i64, keeps: bool) -> Result<Value> {
    let (node, mut shape, masked, drawing) = match (ranked(&value), value) {
        (Some(Ranked { node, shape, masked, drawing, .. }), _) => (node, shape, masked, drawing),
        // Quantised scores.
        (None, Value::Flow(flow)) => (flow.node, flow.shape, None, Drawing::Unknown),
        (None, value) => return value.into_numbers().map(Value::Flow),
    };
    let along = axis(along, shape.len())?;
    if count(&shape) != Some(shape[along]) {
        return Err(unsupported(format!("along axis {along} of shape {shape:?}")));
    }
    if keeps {
        shape[along] = 1;
    } else {
        shape.remove(along);
    }
    let (element, classes) = (Element::Integer, None);
    let decision = Decision { node, shape, element, classes, masked, drawing };
    Ok(Value::Decision(decision))
}

/// TopK with K = 1: the greatest element and its index.
pub(super) fn top_k(import: &mut Import<'_, '_>, call: &Call) -> Result<Vec<Value>> {
    let attributes = call.attributes(&["axis", "k", "largest", "sorted"])?;
    let k = match call.integers(1, "the number of elements")? {
        Some(k) => k,
        None => vec![attributes.integer("k")?.unwrap_or(0)],
    };
    if k != [1] || attributes.integer("largest")?.unwrap_or(1) == 0 {
        return Err(unsupported("it is supported for the greatest element alone"));
    }
    let value = call.required(0)?;
    let index = decision(value.clone(), attributes.integer("axis")?.unwrap_or(-1), true)?;
    let greatest = match (&value, &index) {
        (Value::Flow(flow), Value::Decision(decision)) => {
            let places = 0..import.builder.width(flow.node);
            let nodes: Result<Vec<NodeId>> =
                places.map(|place| import.selection(flow.node, &[place])).collect();
            let node = import.builder.max(nodes?)?;
            Value::computed(node, decision.shape.clone(), flow.element)
        }
        (Value::Ranked(_), Value::Decision(_)) => Value::Unread(UnreadValue {
            shape: Some(index.shape().to_vec()),
            element: value.element(),
            known: Known::Nothing,
            place: String::new(),
            message: "the greatest of values of which only the order is known".to_owned(),
        }),
        (other, _) => return other.clone().into_numbers().map(|flow| vec![Value::Flow(flow)]),
    };
    Ok(vec![greatest, index])
}

/// Several decisions, one after the other: one decision among all combinations, the last one
/// changing fastest. The score of a combination is the sum of the scores of its parts, so the first
/// greatest one has the first greatest parts.
pub(super) fn joint(import: &mut Import<'_, '_>, values: Vec<Value>) -> Result<Value> {
    let mut common = Drawing::Logarithms;
    let mut decisions = Vec::with_capacity(values.len());
    for value in values {
        match value {
            Value::Decision(Decision {
                node,
                classes: None,
                masked: None,
                shape,
                element,
                drawing,
            }) => {
                // Each is drawn by itself: the logarithms of their probabilities add up.
                if drawing == Drawing::Unknown {
                    common = Drawing::Unknown;
                }
                decisions.push((node, shape, element));
            }
            other => return other.into_flow().map(Value::Flow),
        }
    }
    let widths: Vec<usize> =
        decisions.iter().map(|(node, ..)| import.builder.width(*node)).collect();
    let total = count(&widths).filter(|&total| total <= MAX_COMBINATIONS);
    let total = total.ok_or_else(|| {
        unsupported(format!("{widths:?} choices have more than {MAX_COMBINATIONS} combinations"))
    })?;
    let element = decisions.first().map_or(Element::Integer, |(_, _, element)| *element);
    let nodes: Vec<NodeId> = decisions.iter().map(|(node, ..)| *node).collect();
    let scores = import.builder.concat(nodes)?;
    let mut entries = Vec::with_capacity(total * widths.len());
    for combination in 0..total {
        let (mut rest, mut end) = (combination, widths.iter().sum::<usize>());
        for &width in widths.iter().rev() {
            end -= width;
            entries.push((combination, end + rest % width, 1.0));
            rest /= width;
        }
    }
    let node = import.sparse_affine(scores, entries.into_iter(), vec![0.0; total])?;
    import.remarks.push(format!(
        "the policy makes {} choices at once, of {widths:?}: its outputs are their {total} \
         combinations, the last choice changing fastest",
        widths.len()
    ));
    let shape = vec![widths.len()];
    let (classes, masked, drawing) = (None, None, common);
    Ok(Value::Decision(Decision { node, shape, element, classes, masked, drawing }))
}

/// More combinations than this are a mistake.
const MAX_COMBINATIONS: usize = 1 << 12;

/// The scores of a classifier of `ai.onnx.ml` after its transformation.
pub(super) fn increasing_outputs(scores: Ranked, transform: &str) -> Value {
    match transform {
        "NONE" => Value::Ranked(scores),
        "SOFTMAX" | "LOGISTIC" => {
            let drawing = Drawing::Unknown;
            Value::Ranked(Ranked { is_positive: true, values: None, drawing, ..scores })
        }
        other => Value::Unread(UnreadValue {
            shape: Some(scores.shape),
            element: Some(scores.element),
            known: Known::Nothing,
            place: String::new(),
            message: format!("`post_transform` {other} may change the order of the scores"),
        }),
    }
}
