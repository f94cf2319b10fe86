//! Activation functions that are made of others: operators, and the ways in which exporters write
//! them out as several nodes.

use super::call::Call;
use super::graph::Import;
use super::proto::NodeProto;
use super::tensor::Tensor;
use super::value::Value;
use crate::activation::{Activation, Elu, Smooth, Staircase, TanhGate};
use crate::error::PolicyError;
use crate::network::NodeId;

type Result<T> = std::result::Result<T, PolicyError>;

/// The numbers of the usual approximation of GELU, rounded to double precision: √(2/π) and 0.044715.
const USUAL: (f64, f64) = (0.797_884_560_802_865_4, 0.044_715);

impl Import<'_, '_> {
    /// `x · mul / div` for single numbers.
    fn scaled(&mut self, x: NodeId, factor: Factor) -> Result<NodeId> {
        let all = |value: f64| vec![value; self.builder.width(x)];
        let (mul, div, add) = (all(factor.mul), all(factor.div), all(0.0));
        self.builder.scale(x, mul, div, add)
    }

    /// function(x · factor) / factor · times.
    fn conjugated(
        &mut self,
        x: NodeId,
        factor: Factor,
        function: Smooth,
        times: Factor,
    ) -> Result<NodeId> {
        let inner = self.scaled(x, factor)?;
        let value = self.builder.activation(inner, Activation::Smooth(function))?;
        let back = self.scaled(value, factor.inverse())?;
        self.scaled(back, times)
    }
}

/// A number as a quotient of two that are stored.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Factor {
    mul: f64,
    div: f64,
}

impl Factor {
    const ONE: Self = Self { mul: 1.0, div: 1.0 };

    fn of(mul: f64) -> Self {
        Self { mul, div: 1.0 }
    }

    fn inverse(self) -> Self {
        Self { mul: self.div, div: self.mul }
    }

    /// The product; `None` if it rounds.
    fn times(self, other: Self) -> Option<Self> {
        let exact = |a: f64, b: f64| {
            let product = a * b;
            let rest = a.mul_add(b, -product).abs();
            (product.is_normal() && rest <= 0.0).then_some(product)
        };
        Some(Self { mul: exact(self.mul, other.mul)?, div: exact(self.div, other.div)? })
    }
}

/// Abs, Ceil, HardSigmoid, HardSwish, Selu, Celu, Gelu, Mish, Swish.
pub(super) fn activation(import: &mut Import<'_, '_>, call: &Call) -> Result<Value> {
    let attributes = call.attributes(&["alpha", "approximate", "beta", "gamma"])?;
    let flow = call.required(0)?.into_numbers()?;
    let (alpha, beta) = (attributes.float("alpha")?, attributes.float("beta")?);
    let x = flow.node;
    let all = |value: f64| vec![value; import.builder.width(x)];
    let single = |value: f32| f64::from(value);
    let node = match call.operator() {
        "Abs" => import.builder.activation(x, Activation::Leaky { alpha: -1.0 })?,
        "Ceil" => {
            let opposite = import.times(x, -1.0)?;
            let floor = Activation::Staircase(Staircase::Floor);
            let floor = import.builder.activation(opposite, floor)?;
            import.times(floor, -1.0)?
        }
        "HardSigmoid" => {
            let (slope, offset) = (alpha.unwrap_or(single(0.2)), beta.unwrap_or(0.5));
            let (mul, div, add) = (all(slope), all(1.0), all(offset));
            let line = import.builder.scale(x, mul, div, add)?;
            import.builder.activation(line, Activation::Clip { lo: 0.0, hi: 1.0 })?
        }
        // x · min(max(α · x + ½, 0), 1), where α is 1/6 in single precision.
        "HardSwish" => {
            let factor = Factor::of(single(1.0 / 6.0));
            import.conjugated(x, factor, Smooth::HardGate, Factor::ONE)?
        }
        "Mish" => import.builder.activation(x, Activation::Smooth(Smooth::Mish))?,
        "Selu" => {
            let gamma = attributes.float("gamma")?.unwrap_or(single(1.050_701));
            let alpha = alpha.unwrap_or(single(1.673_263_2));
            let elu = Activation::Smooth(Smooth::Elu(Elu { alpha }));
            let node = import.builder.activation(x, elu)?;
            import.scaled(node, Factor::of(gamma))?
        }
        // α · elu(x / α), with 1 for the α of elu.
        "Celu" => {
            let alpha = alpha.unwrap_or(1.0);
            if alpha.is_nan() || alpha <= 0.0 {
                return Err(PolicyError::unsupported("", "`alpha` must be positive"));
            }
            let elu = Smooth::Elu(Elu { alpha: 1.0 });
            import.conjugated(x, Factor::of(alpha).inverse(), elu, Factor::ONE)?
        }
        "Gelu" => match attributes.text("approximate")?.as_deref() {
            None | Some("none") => {
                let factor = Factor::of(std::f64::consts::FRAC_1_SQRT_2);
                import.conjugated(x, factor, Smooth::ErfGate, Factor::ONE)?
            }
            Some("tanh") => {
                let (outer, cubic) = USUAL;
                tanh_gate(import, x, (outer, cubic), Factor::ONE)?
            }
            Some(other) => {
                let message = format!("`approximate` {other} is not supported");
                return Err(PolicyError::unsupported("", message));
            }
        },
        _ => {
            let alpha = alpha.unwrap_or(1.0);
            if alpha.is_nan() || alpha <= 0.0 {
                return Err(PolicyError::unsupported("", "`alpha` must be positive"));
            }
            import.conjugated(x, Factor::of(alpha), Smooth::Silu, Factor::ONE)?
        }
    };
    Ok(Value::computed(node, flow.shape, flow.element))
}

fn tanh_gate(
    import: &mut Import<'_, '_>,
    x: NodeId,
    (outer, cubic): (f64, f64),
    times: Factor,
) -> Result<NodeId> {
    let Some(gate) = TanhGate::new(outer, cubic) else {
        let message = format!("GELU with the constants {outer} and {cubic} is not supported");
        return Err(PolicyError::unsupported("", message));
    };
    let node = import.builder.activation(x, Activation::Smooth(Smooth::TanhGate(gate)))?;
    import.scaled(node, times)
}

/// The gate that a value is multiplied with.
enum Gate {
    /// sigmoid(α · x).
    Sigmoid(Factor),
    /// 1 + erf(α · x).
    Erf(Factor),
    /// 1 + tanh(a · (x + b · x³)).
    Tanh(f64, f64),
    /// tanh(ln(1 + eˣ)).
    Softplus,
}

/// The value of a node that ends an activation function which is written out: x · sigmoid(α · x), or
/// x · (1 + erf(α · x)), x · (1 + tanh(a · (x + b · x³))), or x · tanh(ln(1 + eˣ)), each times a constant; and softplus with
/// the threshold beyond which single precision has no other value than x. `None` for other nodes.
pub(super) fn written_out(import: &mut Import<'_, '_>, node: &NodeProto) -> Result<Option<Value>> {
    match (node.op_type.as_str(), &node.input[..]) {
        ("Mul", [a, b]) => {
            let a_gates = product(import, a, b)?;
            if a_gates.is_some() { Ok(a_gates) } else { product(import, b, a) }
        }
        ("Where", [condition, x, soft]) => Ok(softplus(import, condition, x, soft)),
        _ => Ok(None),
    }
}

/// Reads the softplus that is x where x is greater than a threshold of at least 20, and ln(1 + eˣ)
/// elsewhere: both are the same in single precision.
fn softplus(import: &Import<'_, '_>, condition: &str, x: &str, soft: &str) -> Option<Value> {
    let (operator, compared) = import.producer(condition)?;
    let (curve, argument) = import.producer(soft)?;
    let [first, threshold] = compared else { return None };
    let is_threshold = import.scalar(threshold)? >= 20.0;
    let is_softplus = operator == "Greater" && curve == "Softplus" && first == x;
    (is_threshold && is_softplus && argument.first()? == x).then(|| import.known(soft)).flatten()
}

/// `linear` times `gate`.
fn product(import: &mut Import<'_, '_>, linear: &str, gate: &str) -> Result<Option<Value>> {
    let Some((times, x, kind)) = matched(import, linear, gate) else { return Ok(None) };
    let Some(Value::Flow(flow)) = import.known(&x) else { return Ok(None) };
    // The gates of curves are half of those with 1 + erf and 1 + tanh.
    let half = times.times(Factor::of(2.0));
    let node = match (kind, half) {
        _ if !flow.element.is_real() => return Ok(None),
        (Gate::Sigmoid(alpha), _) => import.conjugated(flow.node, alpha, Smooth::Silu, times)?,
        (Gate::Erf(alpha), Some(times)) => {
            import.conjugated(flow.node, alpha, Smooth::ErfGate, times)?
        }
        (Gate::Tanh(outer, cubic), Some(times)) => {
            tanh_gate(import, flow.node, (outer, cubic), times)?
        }
        (Gate::Softplus, _) => {
            let node = import.builder.activation(flow.node, Activation::Smooth(Smooth::Mish))?;
            import.scaled(node, times)?
        }
        (Gate::Erf(_) | Gate::Tanh(..), None) => return Ok(None),
    };
    Ok(Some(Value::computed(node, flow.shape, flow.element)))
}

/// A constant factor, the name of the value x, and the gate.
type Matched = (Factor, String, Gate);

fn matched(import: &Import<'_, '_>, linear: &str, gate: &str) -> Option<Matched> {
    let multiples = import.multiples(linear);
    for (gate, gate_factor) in import.multiples(gate) {
        let Some((operator, inputs)) = import.producer(&gate) else { continue };
        let of_gate = |inner: &str| {
            // The same x in both factors.
            import.multiples(inner).into_iter().find_map(|(x, inner_factor)| {
                let (_, factor) = multiples.iter().find(|(name, _)| *name == x)?;
                Some((factor.times(gate_factor)?, x, inner_factor))
            })
        };
        match (operator, inputs) {
            ("Sigmoid", [inner]) => {
                let (times, x, alpha) = of_gate(inner)?;
                return alpha.is_positive().then_some((times, x, Gate::Sigmoid(alpha)));
            }
            ("Tanh", [soft]) => {
                let Some(("Softplus", [x])) = import.producer(soft) else { continue };
                let (_, factor) = multiples.iter().find(|(name, _)| name == x)?;
                return Some((factor.times(gate_factor)?, x.clone(), Gate::Softplus));
            }
            ("Add", [a, b]) => {
                let is_one =
                    |name: &str| import.scalar(name).is_some_and(|c| (c - 1.0).abs() <= 0.0);
                let curve = if is_one(a) { b } else { Some(a).filter(|_| is_one(b))? };
                let (operator, inputs) = import.producer(curve)?;
                let [inner] = inputs else { return None };
                if operator == "Erf" {
                    let (times, x, alpha) = of_gate(inner)?;
                    return alpha.is_positive().then_some((times, x, Gate::Erf(alpha)));
                }
                if operator == "Tanh" {
                    let (x, outer, cubic) = cubic(import, inner)?;
                    let (_, factor) = multiples.iter().find(|(name, _)| *name == x)?;
                    return Some((factor.times(gate_factor)?, x, Gate::Tanh(outer, cubic)));
                }
            }
            _ => {}
        }
    }
    None
}

/// a · (x + b · x³).
fn cubic(import: &Import<'_, '_>, name: &str) -> Option<(String, f64, f64)> {
    import.multiples(name).into_iter().find_map(|(sum, outer)| {
        let ("Add", [a, b]) = import.producer(&sum)? else { return None };
        [(a, b), (b, a)].into_iter().find_map(|(x, cube)| {
            import.multiples(cube).into_iter().find_map(|(cube, factor)| {
                let is_cube = match import.producer(&cube)? {
                    ("Pow", [base, power]) => {
                        base == x && import.scalar(power).is_some_and(|p| (p - 3.0).abs() <= 0.0)
                    }
                    ("Mul", [p, q]) => {
                        let is_square = |name: &String| {
                            matches!(import.producer(name), Some(("Mul", [p, q])) if p == x && q == x)
                        };
                        (p == x && is_square(q)) || (q == x && is_square(p))
                    }
                    _ => false,
                };
                let (outer, factor) = (outer.quotient()?, factor.quotient()?);
                is_cube.then(|| (x.clone(), outer, factor))
            })
        })
    })
}

impl Factor {
    fn is_positive(self) -> bool {
        self.mul > 0.0 && self.div > 0.0
    }

    /// The number itself; `None` if it rounds.
    fn quotient(self) -> Option<f64> {
        let quotient = self.mul / self.div;
        (quotient.mul_add(self.div, -self.mul).abs() <= 0.0).then_some(quotient)
    }
}

impl<'a> Import<'a, '_> {
    /// The names of which a value is a constant multiple, itself first, with the factors.
    fn multiples(&self, name: &str) -> Vec<(String, Factor)> {
        let mut all = vec![(name.to_owned(), Factor::ONE)];
        while let Some((last, factor)) = all.last().cloned()
            && let Some((operator, [a, b])) = self.producer(&last)
        {
            let next = match (operator, self.scalar(a), self.scalar(b)) {
                ("Mul", None, Some(c)) => (a, Factor::of(c)),
                ("Mul", Some(c), None) => (b, Factor::of(c)),
                ("Div", None, Some(c)) => (a, Factor::of(c).inverse()),
                _ => break,
            };
            let Some(product) = factor.times(next.1) else { break };
            all.push((next.0.clone(), product));
        }
        all
    }

    /// The operator of the standard set that computes a value, and its arguments.
    fn producer(&self, name: &str) -> Option<(&'a str, &'a [String])> {
        let node = self.producers.get(name)?;
        matches!(node.domain.as_str(), "" | "ai.onnx")
            .then_some((node.op_type.as_str(), node.input.as_slice()))
    }

    /// The value of a name that has been read.
    fn known(&self, name: &str) -> Option<Value> {
        self.values.get(name).cloned()
    }

    /// A constant that is one number.
    fn scalar(&self, name: &str) -> Option<f64> {
        let stored = |name: &str| {
            let tensor = self.stored.get(name)?;
            let is_one = tensor.dims.iter().all(|&size| size == 1);
            is_one.then(|| Tensor::read(tensor, "").ok()).flatten()
        };
        let tensor = match self.values.get(name) {
            Some(Value::Constant(tensor)) if tensor.len() == 1 => tensor.clone(),
            Some(_) => return None,
            None => stored(name)?,
        };
        match tensor.floats() {
            Some(&[value]) if value.is_finite() => Some(value),
            _ => None,
        }
    }
}
