//! Activation functions, maxima and minima.

use super::call::Call;
use super::graph::Import;
use super::operators::BOUNDS_ARE_ARGUMENTS;
use super::tensor::broadcast_indices;
use super::value::Value;
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
        let flow = call.required(0)?.into_numbers()?;
        let node = self.builder.activation(flow.node, (operator.function)(&values?))?;
        Ok(Value::computed(node, flow.shape, flow.element))
    }

    /// Bounds are attributes in early versions and arguments in later ones; infinite bounds are
    /// none.
    pub(super) fn clip(&mut self, call: &Call) -> Result<Value> {
        let known: &[&str] =
            if call.version < BOUNDS_ARE_ARGUMENTS { &["min", "max"] } else { &[] };
        let attributes = call.attributes(known)?;
        let flow = call.required(0)?.into_numbers()?;
        let lo = scalar(call.optional(1))?.or(attributes.float("min")?);
        let hi = scalar(call.optional(2))?.or(attributes.float("max")?);
        let node = self.builder.activation(flow.node, Activation::clip(lo, hi))?;
        Ok(Value::computed(node, flow.shape, flow.element))
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
            let flow = self.broadcast(flow.clone().into_numbers()?, &shape)?;
            let (lo, hi) = if is_max { (Some(bound), None) } else { (None, Some(bound)) };
            let node = self.builder.activation(flow.node, Activation::clip(lo, hi))?;
            return Ok(Value::computed(node, shape, flow.element));
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
        Ok(Value::computed(node, shape, element))
    }

    /// A slope of its own for each element below 0: max(x, 0) + slope · min(x, 0).
    pub(super) fn prelu(&mut self, call: &Call) -> Result<Value> {
        call.attributes(&[])?;
        let flow = call.required(0)?.into_numbers()?;
        let slopes = call.numbers(1, "the slope")?;
        let indices = broadcast_indices(&slopes.shape, &flow.shape);
        let indices = indices.ok_or_else(|| {
            let message = format!("slopes of shape {:?} for {:?}", slopes.shape, flow.shape);
            PolicyError::invalid("", message)
        })?;
        let values = slopes.floats().unwrap_or_default();
        let slopes: Vec<f64> = indices.into_iter().map(|i| values[i]).collect();
        let node = match slopes.split_first() {
            Some((&alpha, rest)) if rest.iter().all(|&other| (other - alpha).abs() <= 0.0) => {
                self.builder.activation(flow.node, Activation::Leaky { alpha })?
            }
            _ => {
                let all = |value: f64| vec![value; slopes.len()];
                let (one, zero) = (all(1.0), all(0.0));
                let above = self.builder.relu(flow.node);
                let below = Activation::clip(None, Some(0.0));
                let below = self.builder.activation(flow.node, below)?;
                let below = self.builder.scale(below, slopes, one, zero)?;
                self.builder.add(vec![above, below])?
            }
        };
        Ok(Value::computed(node, flow.shape, flow.element))
    }
}

/// The number that all elements of a constant are.
fn repeated_scalar(value: &Value) -> Option<f64> {
    let Value::Constant(tensor) = value else { return None };
    let (&first, rest) = tensor.floats()?.split_first()?;
    rest.iter().all(|&other| (other - first).abs() <= 0.0).then_some(first)
}

/// The only element of a constant.
fn scalar(value: Option<Value>) -> Result<Option<f64>> {
    let Some(value) = value else { return Ok(None) };
    match value.into_constant("a bound")?.floats() {
        Some(&[value]) => Ok(Some(value)),
        _ => Err(PolicyError::unsupported("", "a bound must be one floating-point number")),
    }
}
