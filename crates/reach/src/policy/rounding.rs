//! All values that evaluations of a network with rounding can give for one input.
//!
//! Each element of each node gets a range that contains the exact value and every computed one:
//! images of the ranges before it, widened by the a-priori error of the node's own operations.
//! Functions of a runtime that are not piecewise linear are taken to be right within 4 units of the
//! last place, of the value or of what is added up to it.
//!
//! Where a number may overflow there is no range: infinities cancel to what is no number.

use policert_numeric::Interval;
use policert_numeric::round::{UNIT_ROUNDOFF, add_up, div_up, mul_up};
use policert_policy::activation::Staircase;
use policert_policy::{Activation, Elements, Network, Op, Smooth};

use super::Evaluation;

/// Ranges of the outputs for inputs in ranges, whose members are numbers of the precision. `None` if
/// a number on the way may be beyond the greatest one of the precision, or may have no value.
#[must_use]
pub fn possible_outputs(
    network: &Network,
    inputs: &[Interval],
    evaluation: Evaluation,
) -> Option<Vec<Interval>> {
    let mut precision = match evaluation {
        Evaluation::F64 => {
            Precision { roundoff: UNIT_ROUNDOFF, least: f64::from_bits(1), greatest: f64::MAX }
        }
        Evaluation::F32 => Precision {
            roundoff: f64::from(f32::EPSILON) / 2.0,
            least: f64::from(f32::from_bits(1)),
            greatest: f64::from(f32::MAX),
        },
    };
    let inputs: Result<Vec<Interval>, Overflow> =
        inputs.iter().map(|&range| precision.finite(range)).collect();
    let mut values = network.fold(&mut precision, inputs.ok()?).ok()?;
    Some(values.swap_remove(network.output().index()))
}

/// A function in a network that stands for a part of what a runtime computes in one step, a product for
/// instance or a layer that normalises: how that rounds is not known. Its operator.
pub(super) fn unknown_rounding(network: &Network) -> Option<&'static str> {
    network.nodes().iter().find_map(|node| match &node.op {
        Op::Pointwise { activation, .. } => match activation {
            Activation::Leaky { .. } | Activation::Clip { .. } => None,
            // Quantised layers are computed in integers, and round after a factor of their own.
            Activation::Staircase(Staircase::Round) => Some(activation.operator().0),
            Activation::Staircase(Staircase::Floor | Staircase::Sign) => None,
            Activation::Smooth(function) => match function {
                Smooth::Tanh
                | Smooth::Sigmoid
                | Smooth::Elu(_)
                | Smooth::Softplus
                | Smooth::Silu
                | Smooth::ErfGate
                | Smooth::TanhGate(_)
                | Smooth::HardGate
                | Smooth::Mish => None,
                Smooth::Square
                | Smooth::Exponential
                | Smooth::Logarithm(_)
                | Smooth::Root(_)
                | Smooth::Reciprocal(_) => Some(activation.operator().0),
            },
        },
        Op::Input
        | Op::Affine { .. }
        | Op::Scale { .. }
        | Op::Add { .. }
        | Op::Concat { .. }
        | Op::Max { .. } => None,
    })
}

/// A number may be beyond the greatest one, or have no value.
struct Overflow;

struct Precision {
    /// Greatest relative error of one operation.
    roundoff: f64,
    /// The least positive number: bounds what underflow loses.
    least: f64,
    /// The greatest number.
    greatest: f64,
}

impl Elements for Precision {
    type Element = Interval;
    type Error = Overflow;

    fn row(&mut self, weights: &[f64], bias: f64, x: &[Interval]) -> Result<Interval, Overflow> {
        let products = weights.iter().zip(x).map(|(&weight, &x)| self.constant(weight) * x);
        let terms: Vec<Interval> = products.chain([self.constant(bias)]).collect();
        self.sum_of(&terms)
    }

    fn scale(&mut self, x: &Interval, mul: f64, div: f64, add: f64) -> Result<Interval, Overflow> {
        let product = self.finite(self.rounded(self.constant(mul) * *x, 1))?;
        let quotient = product.checked_div(self.constant(div)).ok_or(Overflow)?;
        let quotient = self.finite(self.rounded(quotient, 1))?;
        self.finite(self.rounded(quotient + self.constant(add), 1))
    }

    fn apply(&mut self, activation: Activation, &x: &Interval) -> Result<Interval, Overflow> {
        self.finite(match activation {
            Activation::Leaky { alpha: 0.0 } => x.relu(),
            Activation::Leaky { alpha } => {
                let below = x.min(Interval::ZERO) * self.constant(alpha);
                let below = self.rounded(below, 1);
                if x.lo() >= 0.0 {
                    x
                } else if x.hi() < 0.0 {
                    below
                } else {
                    below.hull(x.relu())
                }
            }
            Activation::Clip { lo, hi } => {
                let x = if lo.is_finite() { x.max(self.constant(lo)) } else { x };
                if hi.is_finite() { x.min(self.constant(hi)) } else { x }
            }
            Activation::Staircase(_) => activation.of_interval(x),
            Activation::Smooth(function) => {
                let cancelled = Interval::ball(0.0, function.curve().cancelled());
                let error = self.rounded(cancelled, 8) - cancelled;
                self.rounded(activation.of_interval(x), 8) + error
            }
        })
    }

    fn sum(&mut self, terms: &[Interval]) -> Result<Interval, Overflow> {
        self.sum_of(terms)
    }

    fn max(&mut self, terms: &[Interval]) -> Result<Interval, Overflow> {
        Ok(terms[1..].iter().copied().fold(terms[0], Interval::max))
    }
}

impl Precision {
    /// A range, unless a number in it may overflow.
    fn finite(&self, range: Interval) -> Result<Interval, Overflow> {
        if range.magnitude() <= self.greatest { Ok(range) } else { Err(Overflow) }
    }

    /// A stored number, exact or rounded to the precision.
    fn constant(&self, value: f64) -> Interval {
        #[expect(clippy::cast_possible_truncation, reason = "rounding is meant")]
        let rounded = if self.roundoff > UNIT_ROUNDOFF { f64::from(value as f32) } else { value };
        Interval::point(value).hull(Interval::point(rounded))
    }

    /// Errors of `count` roundings, relative to 1.
    fn gamma(&self, count: usize) -> f64 {
        let count = u32::try_from(count).map_or(f64::INFINITY, f64::from);
        let nu = mul_up(count, self.roundoff);
        if nu < 0.5 { div_up(nu, 1.0 - nu) } else { f64::INFINITY }
    }

    /// A range widened by some roundings.
    fn rounded(&self, range: Interval, count: usize) -> Interval {
        let error = add_up(mul_up(self.gamma(count), range.magnitude()), self.least);
        range + Interval::ball(0.0, error)
    }

    /// Sums in any order of terms that were rounded themselves.
    fn sum_of(&self, terms: &[Interval]) -> Result<Interval, Overflow> {
        let mut sum = Interval::ZERO;
        let (mut magnitude, mut underflow) = (0.0, 0.0);
        for term in terms {
            sum = sum + *term;
            magnitude = add_up(magnitude, term.magnitude());
            underflow = add_up(underflow, 2.0 * self.least);
        }
        let error = add_up(mul_up(self.gamma(terms.len() + 1), magnitude), underflow);
        // No order of summation goes beyond the sum of all magnitudes.
        let fits = add_up(magnitude, error) <= self.greatest;
        if fits { self.finite(sum + Interval::ball(0.0, error)) } else { Err(Overflow) }
    }
}
