//! Activation functions, maxima and minima, and joining vectors.

use super::graph::{Call, Flow, Import, Value};
use super::operators::BOUNDS_ARE_ARGUMENTS;
use super::tensor::{Data, Tensor};
use crate::activation::{Activation, Operator};
use crate::error::PolicyError;

type Result<T> = std::result::Result<T, PolicyError>;

impl Import<'_, '_> {
    /// A function of one number.
    pub(super) fn activation(&mut self, call: &Call, operator: &Operator) -> Result<Value> {
        let names: Vec<&str> = operator.attributes.iter().map(|(name, _)| *name).collect();
        let attributes = call.attributes(&names)?;
        let value = |&(name, default): &(&str, f32)| -> Result<f64> {
            Ok(attributes.float(name)?.unwrap_or(f64::from(default)))
        };
        let values: Result<Vec<f64>> = operator.attributes.iter().map(value).collect();
        let flow = Self::number_flow(call.required(0)?)?;
        let node = self.builder.activation(flow.node, (operator.function)(&values?))?;
        Ok(Value::Flow(Flow { node, ..flow }))
    }

    /// Bounds are attributes in early versions and arguments in later ones; infinite bounds are
    /// none.
    pub(super) fn clip(&mut self, call: &Call) -> Result<Value> {
        let known: &[&str] =
            if call.version < BOUNDS_ARE_ARGUMENTS { &["min", "max"] } else { &[] };
        let attributes = call.attributes(known)?;
        let flow = Self::number_flow(call.required(0)?)?;
        let lo = scalar(call.optional(1))?.or(attributes.float("min")?);
        let hi = scalar(call.optional(2))?.or(attributes.float("max")?);
        let node = self.builder.activation(flow.node, Activation::clip(lo, hi))?;
        Ok(Value::Flow(Flow { node, ..flow }))
    }

    /// Max, Min.
    pub(super) fn extremum(&mut self, call: &Call) -> Result<Value> {
        call.attributes(&[])?;
        let is_max = call.node.op_type == "Max";
        if let [flow @ Value::Flow(_), bound @ Value::Constant(_)]
        | [bound @ Value::Constant(_), flow @ Value::Flow(_)] = &call.all()?[..]
            && let Some(bound) = repeated_scalar(bound)
        {
            let shape = super::linear::common_shape(&call.all()?)?;
            let flow = Self::number_flow(flow.clone())?;
            let (lo, hi) = if is_max { (Some(bound), None) } else { (None, Some(bound)) };
            let node = self.builder.activation(flow.node, Activation::clip(lo, hi))?;
            return Ok(Value::Flow(Flow { node, shape, ..flow }));
        }
        let (mut nodes, shape, element) = self.operands(call)?;
        if !is_max {
            // The minimum is the negated maximum of the negated values.
            for node in &mut nodes {
                *node = self.times(*node, -1.0)?;
            }
        }
        let maximum = self.builder.max(nodes)?;
        let node = if is_max { maximum } else { self.times(maximum, -1.0)? };
        Ok(Value::Flow(Flow { node, shape, element }))
    }

    /// Joins vectors, or lists of integers.
    pub(super) fn concat(&mut self, call: &Call) -> Result<Value> {
        let attributes = call.attributes(&["axis"])?;
        let values = call.all()?;
        let rank = values[0].shape().len();
        let axis = attributes.integer("axis")?;
        let axis = axis.ok_or_else(|| PolicyError::invalid("", "attribute `axis` is missing"))?;
        let axis = super::reshape::axis(axis, rank)?;
        let mut shape = values[0].shape().to_vec();
        shape[axis] = 0;
        for value in &values {
            let fits = value.shape().len() == rank
                && (0..rank).all(|k| k == axis || value.shape()[k] == shape[k]);
            if !fits {
                let message = format!("shapes {:?} and {:?}", values[0].shape(), value.shape());
                return Err(PolicyError::invalid("", format!("{message} cannot be joined")));
            }
            shape[axis] = shape[axis].saturating_add(value.shape()[axis]);
        }
        if shape[..axis].iter().any(|&size| size != 1) {
            let message = format!("joining along axis {axis} of shape {shape:?}");
            return Err(PolicyError::unsupported("", message));
        }
        if let Some(integers) = all_integers(&values) {
            return Ok(Value::Constant(Tensor { shape, data: Data::Integers(integers) }));
        }
        let element = match values.iter().find(|value| matches!(value, Value::Flow(_))) {
            Some(flow) => Self::number_flow(flow.clone())?.element,
            None => return Err(PolicyError::unsupported("", "constants are joined")),
        };
        let mut nodes = Vec::with_capacity(values.len());
        for value in values {
            let shape = value.shape().to_vec();
            nodes.push(self.node_of(value, &shape)?);
        }
        let node = self.builder.concat(nodes)?;
        Ok(Value::Flow(Flow { node, shape, element }))
    }
}

/// The elements of constants of integers, one after the other; `None` if there are others.
fn all_integers(values: &[Value]) -> Option<Vec<i64>> {
    let mut integers = Vec::new();
    for value in values {
        match value {
            Value::Constant(tensor) => integers.extend(tensor.as_integers()?),
            Value::Flow(_) => return None,
        }
    }
    Some(integers)
}

/// The number that all elements of a constant are.
fn repeated_scalar(value: &Value) -> Option<f64> {
    let Value::Constant(tensor) = value else { return None };
    let (&first, rest) = tensor.floats()?.split_first()?;
    rest.iter().all(|&other| (other - first).abs() <= 0.0).then_some(first)
}

/// The only element of a constant.
fn scalar(value: Option<Value>) -> Result<Option<f64>> {
    match value {
        None => Ok(None),
        Some(Value::Constant(tensor)) => match tensor.floats() {
            Some(&[value]) => Ok(Some(value)),
            _ => Err(PolicyError::unsupported("", "a bound must be one floating-point number")),
        },
        Some(Value::Flow(_)) => Err(PolicyError::unsupported("", "a bound must be constant")),
    }
}
