//! Which output of a graph is the policy.

use super::declared;
use super::graph::Import;
use super::proto::ValueInfoProto;
use super::value::{Decision, Drawing, Ranked, Value};
use crate::error::PolicyError;
use crate::network::NodeId;
use crate::trees::Classes;

/// The meaning of the values of the chosen output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Head {
    /// They are the outputs of the network.
    Values,
    /// They are in the order of the outputs of the network.
    Order,
    /// They are the index, or the class, of the first greatest output of the network.
    Decision,
}

/// The output that is the policy.
pub(super) struct Chosen {
    pub(super) name: String,
    pub(super) node: NodeId,
    pub(super) head: Head,
    pub(super) classes: Option<Classes>,
    /// The score that labels get which are not applicable, if the graph sets it.
    pub(super) masked: Option<f64>,
    /// True if the probabilities are the softmax of the outputs of the network.
    pub(super) draws_by_softmax: bool,
    /// A remark on the choice, if there were several outputs.
    pub(super) remark: Option<String>,
}

/// An output with what it stands for.
type Output<'g> = (&'g ValueInfoProto, Value);

/// Chooses the output.
///
/// 1. The one that is named.
/// 2. The only one.
/// 3. The only one that is a decision: the index of a greatest score, or the class of that index.
/// 4. The only one that has several elements, if there is no decision.
/// 5. The first of three of one row, one number and one number: actions, values and their
///    probability, as Stable-Baselines3 gives them for continuous actions.
///
/// # Errors
/// If none of the rules says which one, or the one that they say cannot be read.
pub(super) fn choose(
    import: &mut Import<'_, '_>,
    outputs: &[ValueInfoProto],
    wanted: Option<&str>,
) -> Result<Chosen, PolicyError> {
    let mut values = Vec::with_capacity(outputs.len());
    for output in outputs {
        let place = place(output);
        let value = import.value(&output.name).map_err(|error| error.at(&place))?;
        declared::check(output, &value).map_err(|error| error.at(&place))?;
        values.push((output, value));
    }
    let index = index(&values, wanted)?;
    let (output, value) = values.swap_remove(index);
    let remark = (outputs.len() > 1 && wanted.is_none()).then(|| {
        format!("of the outputs {} of the graph, `{}` is the policy", names(outputs), output.name)
    });
    let (node, head, classes, masked, drawing) = match value {
        Value::Flow(flow) => (flow.node, Head::Values, None, None, Drawing::Logarithms),
        Value::Ranked(Ranked { node, masked, drawing, .. }) => {
            (node, Head::Order, None, masked, drawing)
        }
        Value::Decision(Decision { node, classes, masked, drawing, .. }) => {
            (node, Head::Decision, classes, masked, drawing)
        }
        Value::Unread(unread) => return Err(unread.refusal()),
        Value::Constant(_) => {
            let message = "it does not depend on the input";
            return Err(PolicyError::unsupported(place(output), message));
        }
    };
    let draws_by_softmax = drawing != Drawing::Unknown;
    let name = output.name.clone();
    Ok(Chosen { name, node, head, classes, masked, draws_by_softmax, remark })
}

fn place(output: &ValueInfoProto) -> String {
    format!("output `{}`", output.name)
}

fn names(outputs: &[ValueInfoProto]) -> String {
    let names: Vec<String> = outputs.iter().map(|output| format!("`{}`", output.name)).collect();
    names.join(", ")
}

fn index(values: &[Output<'_>], wanted: Option<&str>) -> Result<usize, PolicyError> {
    if let Some(wanted) = wanted {
        let found = values.iter().position(|(output, _)| output.name == wanted);
        return found.ok_or_else(|| {
            let message = format!("the graph has no output `{wanted}`; it has {}", shown(values));
            PolicyError::invalid("", message)
        });
    }
    if let [_] = values {
        return Ok(0);
    }
    if values.is_empty() {
        return Err(PolicyError::invalid("", "the graph has no outputs"));
    }
    let only = |holds: &dyn Fn(&Value) -> bool| {
        let mut found = (0..values.len()).filter(|&i| holds(&values[i].1));
        found.next().filter(|_| found.next().is_none())
    };
    let is_decision = |value: &Value| matches!(value, Value::Decision(_));
    let several = |value: &Value| value.known_shape().is_none_or(|shape| elements(shape) > 1);
    let chosen = if values.iter().any(|(_, value)| is_decision(value)) {
        only(&is_decision)
    } else if let Some(index) = only(&several) {
        Some(index)
    } else if let [[1, _], [1, 1], [1]] =
        &values.iter().map(|(_, value)| value.known_shape().unwrap_or_default()).collect::<Vec<_>>()
            [..]
    {
        Some(0)
    } else {
        None
    };
    chosen.ok_or_else(|| {
        let message = format!(
            "it is not clear which one of its outputs is the policy: {}. Name it with `--scores`, or \
             with `scores` in an interface of version 2, or export it alone",
            shown(values)
        );
        PolicyError::unsupported("", message)
    })
}

fn shown(values: &[Output<'_>]) -> String {
    let names: Vec<String> =
        values.iter().map(|(output, _)| format!("`{}`", output.name)).collect();
    names.join(", ")
}

fn elements(shape: &[usize]) -> usize {
    shape.iter().product()
}
