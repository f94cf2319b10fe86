//! Products and quotients of values that depend on the input, powers, roots, logarithms.
//!
//! A product is made of squares: a · b = ((a + b)² − (a − b)²) / 4. A function that has no value somewhere is
//! read only where its argument is certainly elsewhere, whatever the inputs are.

use super::call::Call;
use super::graph::Import;
use super::linear::repeated;
use super::tensor::Tensor;
use super::value::{Flow, Value};
use crate::activation::{Activation, LEAST_ARGUMENT, Logarithm, Reciprocal, Root, Smooth};
use crate::error::PolicyError;
use crate::network::{NodeId, Written};

type Result<T> = std::result::Result<T, PolicyError>;

fn unsupported(message: impl Into<String>) -> PolicyError {
    PolicyError::unsupported("", message)
}

impl Import<'_, '_> {
    /// The square of each element.
    pub(super) fn square(&mut self, x: NodeId) -> Result<NodeId> {
        self.builder.activation(x, Activation::Smooth(Smooth::Square))
    }

    /// The products of the elements of two vectors.
    pub(super) fn product(&mut self, a: NodeId, b: NodeId) -> Result<NodeId> {
        if a == b {
            return self.square(a);
        }
        let opposite = self.times(b, -1.0)?;
        let (sum, difference) =
            (self.builder.add(vec![a, b])?, self.builder.add(vec![a, opposite])?);
        let (sum, difference) = (self.square(sum)?, self.square(difference)?);
        let opposite = self.times(difference, -1.0)?;
        let four = self.builder.add(vec![sum, opposite])?;
        let product = self.divided(four, 4)?;
        self.builder.stands_for(product, Written::Product { a, b });
        Ok(product)
    }

    /// a / b for each of their elements.
    pub(super) fn quotient(&mut self, a: NodeId, b: NodeId) -> Result<NodeId> {
        let inverse = self.reciprocal(b)?;
        let quotient = self.product(a, inverse)?;
        self.builder.stands_for(quotient, Written::Quotient { a, b, keeps_zeros: false });
        Ok(quotient)
    }

    /// Bounds of all elements of a vector, whatever the inputs are.
    fn bounds(&mut self, x: NodeId) -> Result<(f64, f64)> {
        self.meter.before(0)?;
        let ranges = self.builder.ranges(x).iter();
        Ok(ranges.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), range| {
            (lo.min(range.lo()), hi.max(range.hi()))
        }))
    }

    /// A function for arguments from 1 on, if ranges that are not known yet may be assumed.
    fn assumed<T>(&mut self, function: fn(f64) -> Option<T>) -> Option<T> {
        let assumes = self.assumes_ranges.as_mut()?;
        *assumes = true;
        function(1.0)
    }

    /// One over each element.
    pub(super) fn reciprocal(&mut self, x: NodeId) -> Result<NodeId> {
        let (lo, hi) = self.bounds(x)?;
        let (x, least, sign) =
            if hi < 0.0 { (self.times(x, -1.0)?, -hi, -1.0) } else { (x, lo, 1.0) };
        let reciprocal = Reciprocal::new(least).or_else(|| self.assumed(Reciprocal::new));
        let Some(reciprocal) = reciprocal else {
            return Err(unsupported(format!(
                "its divisor could be 0: it is supported where the divisor is certainly at least {} in \
                 magnitude, for instance by the ranges of the variables, after Clip, Softplus plus a \
                 constant, or a square plus a constant",
                least_argument()
            )));
        };
        let node =
            self.builder.activation(x, Activation::Smooth(Smooth::Reciprocal(reciprocal)))?;
        if sign < 0.0 { self.times(node, -1.0) } else { Ok(node) }
    }

    /// One over each element, all of which are known to be at least `least`, or to be multiplied by 0.
    pub(super) fn positive_reciprocal(&mut self, x: NodeId, least: f64) -> Result<NodeId> {
        let reciprocal = Reciprocal::new(least)
            .ok_or_else(|| unsupported(format!("a divisor of at least {least}")))?;
        self.builder.activation(x, Activation::Smooth(Smooth::Reciprocal(reciprocal)))
    }

    /// The square root of each element.
    pub(super) fn root(&mut self, x: NodeId) -> Result<NodeId> {
        let (least, _) = self.bounds(x)?;
        let Some(root) = Root::new(least).or_else(|| self.assumed(Root::new)) else {
            return Err(unsupported(
                "its argument could be negative: it is supported of what is certainly not, for \
                 instance by the ranges of the variables, of a sum of squares, or after Relu or Clip",
            ));
        };
        self.builder.activation(x, Activation::Smooth(Smooth::Root(root)))
    }

    /// The natural logarithm of each element.
    fn logarithm(&mut self, x: NodeId) -> Result<NodeId> {
        let (least, _) = self.bounds(x)?;
        let Some(logarithm) = Logarithm::new(least).or_else(|| self.assumed(Logarithm::new)) else {
            return Err(unsupported(format!(
                "its argument could be 0 or negative: it is supported of what is certainly at least \
                 {}, for instance by the ranges of the variables, after Clip, or of a sum of squares plus \
                 a constant",
                least_argument()
            )));
        };
        self.builder.activation(x, Activation::Smooth(Smooth::Logarithm(logarithm)))
    }

    /// A vector to a power that is an integer of at least 1.
    fn integer_power(&mut self, x: NodeId, exponent: u32) -> Result<NodeId> {
        if exponent == 1 {
            return Ok(x);
        }
        let half = self.integer_power(x, exponent / 2)?;
        let even = self.square(half)?;
        if exponent.is_multiple_of(2) { Ok(even) } else { self.product(even, x) }
    }
}

fn least_argument() -> String {
    format!("{LEAST_ARGUMENT:e}")
}

/// Mul and Div of two values that depend on the input, brought to one shape; where they are the same, a
/// square.
pub(super) fn arithmetic(
    import: &mut Import<'_, '_>,
    operator: &str,
    (a, b): (Flow, Flow),
    shape: &[usize],
) -> Result<NodeId> {
    if operator == "Mul" && a.node == b.node && a.shape == b.shape {
        return import.square(a.node);
    }
    if operator == "Div" && import.as_written {
        let (a, b) = (import.broadcast(a, shape)?, import.broadcast(b, shape)?);
        return import.quotient(a.node, b.node);
    }
    // One over the values before they are repeated.
    let b = match operator {
        "Div" => Flow::computed(import.reciprocal(b.node)?, b.shape, b.element),
        _ => b,
    };
    let (a, b) = (import.broadcast(a, shape)?, import.broadcast(b, shape)?);
    import.product(a.node, b.node)
}

/// Sqrt, Reciprocal, Log.
pub(super) fn function(import: &mut Import<'_, '_>, call: &Call) -> Result<Value> {
    call.attributes(&[])?;
    let flow = call.required(0)?.into_numbers()?;
    let node = match call.operator() {
        "Sqrt" => import.root(flow.node)?,
        "Log" => import.logarithm(flow.node)?,
        _ => import.reciprocal(flow.node)?,
    };
    Ok(Value::computed(node, flow.shape, flow.element))
}

/// Pow with a constant exponent: 1 to 16, −1, −2, ½ and −½.
pub(super) fn pow(import: &mut Import<'_, '_>, call: &Call) -> Result<Value> {
    call.attributes(&[])?;
    let base = call.required(0)?;
    let exponent = call.required(1)?.into_constant("the exponent")?;
    let shape = super::linear::common_shape(&[base.clone(), Value::Constant(exponent.clone())])?;
    let flow = base.into_numbers()?;
    let exponent = common(&exponent)
        .ok_or_else(|| unsupported("the exponent must be one number for all elements"))?;
    let flow = import.broadcast(flow, &shape)?;
    let is = |value: f64| (exponent - value).abs() <= 0.0;
    let whole = (1..=GREATEST_EXPONENT).find(|&whole| is(f64::from(whole)));
    let node = if let Some(whole) = whole {
        import.integer_power(flow.node, whole)?
    } else if is(0.5) {
        import.root(flow.node)?
    } else if is(-1.0) {
        import.reciprocal(flow.node)?
    } else if is(-2.0) {
        let square = import.square(flow.node)?;
        import.reciprocal(square)?
    } else if is(-0.5) {
        let root = import.root(flow.node)?;
        import.reciprocal(root)?
    } else {
        return Err(unsupported(format!(
            "the exponent is {exponent}; supported are 1 to {GREATEST_EXPONENT}, -1, -2, 0.5 and -0.5"
        )));
    };
    Ok(Value::computed(node, shape, flow.element))
}

/// The greatest exponent that is multiplied out.
const GREATEST_EXPONENT: u32 = 16;

/// The number that all elements of a constant are.
fn common(tensor: &Tensor) -> Option<f64> {
    let numbers = match tensor.as_integers() {
        #[expect(clippy::cast_precision_loss, reason = "compared with small numbers")]
        Some(integers) => integers.iter().map(|&integer| integer as f64).collect(),
        None => repeated(tensor, &tensor.shape).ok()?,
    };
    let (&first, rest) = numbers.split_first()?;
    rest.iter().all(|&other| (other - first).abs() <= 0.0).then_some(first)
}
