//! Scores in single precision by definition: the plain evaluation, and how far any other one can be from
//! the exact scores. The policy has code of its own for both.
//!
//! A sum of n terms that is computed in any order, fused or not, is off by at most γₙ times the sum of
//! the magnitudes of its terms (Higham, *Accuracy and Stability of Numerical Algorithms*, section 4.2, and
//! one rounding of each product), and by 2⁻¹²⁶ for each number that is flushed to 0. Where all terms are
//! multiples of a power of two, and less than 2²⁴ times as much together, nothing is rounded.

use policert_numeric::round::{add_up, div_up, mul_up, sub_up};
use policert_numeric::{Enclosure, Interval, Rational, dyadic_parts, power_of_two};
use policert_policy::activation::{Elu, Staircase};
use policert_policy::{Activation, NodeId, Op, SinglePrecision, Smooth};

use crate::interval_scores::evaluate;

/// The scores by the plain evaluation in a state; `None` for one that is no finite number.
pub(crate) fn plain_scores(single: &SinglePrecision, inputs: &[i64]) -> Vec<Option<Rational>> {
    let features: Vec<f32> = single.features(inputs).iter().map(Rational::to_f32).collect();
    let network = single.network();
    let mut values: Vec<Vec<f32>> = Vec::new();
    for node in network.nodes() {
        let value = plain_node(&node.op, &values, &features);
        values.push(value);
    }
    values[network.output().index()].iter().map(|&score| Rational::from_f32(score)).collect()
}

#[expect(clippy::cast_possible_truncation, reason = "constants are rounded to single precision")]
fn plain_node(op: &Op, values: &[Vec<f32>], features: &[f32]) -> Vec<f32> {
    let of = |id: &NodeId| &values[id.index()];
    let places = |ids: &[NodeId]| 0..ids.first().map_or(0, |id| of(id).len());
    match op {
        Op::Input => features.to_vec(),
        Op::Affine { input, weights, bias } => {
            let mut sums = Vec::with_capacity(bias.len());
            for (row, &bias) in weights.row_iter().zip(bias) {
                let mut sum = 0.0f32;
                for (&weight, &x) in row.iter().zip(of(input)) {
                    let product = weight as f32 * x;
                    sum += product;
                }
                sums.push(sum + bias as f32);
            }
            sums
        }
        Op::Scale { input, mul, div, add } => (0..mul.len())
            .map(|i| of(input)[i] * mul[i] as f32 / div[i] as f32 + add[i] as f32)
            .collect(),
        Op::Pointwise { input, activation } => {
            of(input).iter().map(|&x| plain_function(*activation, x)).collect()
        }
        Op::Add { inputs } => places(inputs)
            .map(|i| inputs[1..].iter().fold(of(&inputs[0])[i], |sum, id| sum + of(id)[i]))
            .collect(),
        Op::Max { inputs } => places(inputs)
            .map(|i| {
                let terms = inputs.iter().map(|id| of(id)[i]);
                terms.reduce(|a, b| if b > a || b.is_nan() { b } else { a }).unwrap_or(f32::NAN)
            })
            .collect(),
        Op::Concat { inputs } => inputs.iter().flat_map(|id| of(id).iter().copied()).collect(),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "constants are rounded to single precision")]
fn plain_function(activation: Activation, x: f32) -> f32 {
    match activation {
        Activation::Leaky { alpha } => {
            if x < 0.0 {
                alpha as f32 * x
            } else {
                x
            }
        }
        Activation::Clip { lo, .. } if x < lo as f32 => lo as f32,
        Activation::Clip { hi, .. } if x > hi as f32 => hi as f32,
        Activation::Clip { .. } => x,
        Activation::Staircase(Staircase::Floor) => x.floor(),
        Activation::Staircase(Staircase::Round) => x.round_ties_even(),
        Activation::Staircase(Staircase::Sign) => f32::from(i8::from(x > 0.0) - i8::from(x < 0.0)),
        // The number nearest to the value, which no other rounding comes between at this precision.
        Activation::Smooth(_) => Enclosure::of_f64(f64::from(x), 512)
            .and_then(|x| activation.of_enclosure(&x))
            .map_or(f32::NAN, |value| value.lower().to_f32()),
    }
}

/// A number that some evaluation computes.
#[derive(Clone, Copy, Debug)]
struct Computed {
    /// Contains the exact value.
    exact: Interval,
    /// The greatest distance from it.
    off: f64,
    /// The exponent of a power of two of which it is a multiple, where it is not off.
    unit: Option<i32>,
}

const ROUNDING: f64 = 1.0 / (1 << 24) as f64;
const FLUSHED: f64 = f32::MIN_POSITIVE as f64;
/// Numbers below are computed without overflow.
const LIMIT: f64 = f32::MAX as f64 / 4.0;
/// The unit of 0.
const ANY_UNIT: i32 = 4000;
/// Smaller units may be flushed.
const LEAST_UNIT: i32 = -120;

/// What errors do to scores.
#[derive(Debug)]
pub(crate) struct Errors {
    /// How far a score may be from the exact one, by output; infinite where nothing is known.
    pub radii: Vec<f64>,
    /// Computed scores that are closer may be equal, or exchanged, after a softmax.
    pub merged: f64,
}

impl Errors {
    fn unknown(single: &SinglePrecision) -> Self {
        Self { radii: vec![f64::INFINITY; single.network().output_width()], merged: 0.0 }
    }
}

/// The errors for states with these inputs.
pub(crate) fn errors(single: &SinglePrecision, inputs: &[Interval]) -> Errors {
    let features = match single.feature_network() {
        None => inputs.to_vec(),
        Some(network) => {
            let mut values: Vec<Vec<Interval>> = Vec::new();
            for node in network.nodes() {
                let value = evaluate(&node.op, &values, inputs);
                values.push(value);
            }
            values.swap_remove(network.output().index())
        }
    };
    errors_of_features(single, &features).unwrap_or_else(|| Errors::unknown(single))
}

/// As [`errors`], in one state.
pub(crate) fn errors_in(single: &SinglePrecision, inputs: &[i64]) -> Errors {
    let features: Vec<Interval> = single.features(inputs).iter().map(Interval::enclosing).collect();
    errors_of_features(single, &features).unwrap_or_else(|| Errors::unknown(single))
}

fn errors_of_features(single: &SinglePrecision, features: &[Interval]) -> Option<Errors> {
    let input = |(&exact, is_integral): (&Interval, bool)| {
        let magnitude = exact.magnitude();
        if is_integral && magnitude <= f64::from(1 << 24) {
            return Computed { exact, off: 0.0, unit: Some(0) };
        }
        // Once, after a rounding in double precision perhaps.
        let off = add_up(mul_up(mul_up(1.001, ROUNDING), magnitude), FLUSHED);
        Computed { exact, off, unit: None }
    };
    let features: Vec<Computed> = features.iter().zip(single.are_integral()).map(input).collect();
    let network = single.network();
    let mut values: Vec<Vec<Computed>> = Vec::new();
    for node in network.nodes() {
        let value = node_in_any_order(&node.op, &values, &features)?;
        let is_small = |x: &Computed| x.greatest() < LIMIT;
        if !value.iter().all(is_small) {
            return None;
        }
        values.push(value);
    }
    let scores = &values[network.output().index()];
    let greatest = scores.iter().map(Computed::greatest).fold(0.0, f64::max);
    let softmax = add_up(1.0 / f64::from(1 << 18), mul_up(8.0 * ROUNDING, add_up(greatest, 64.0)));
    let merged = if single.compares_softmax() { softmax } else { 0.0 };
    Some(Errors { radii: scores.iter().map(Computed::read).collect(), merged })
}

impl Computed {
    fn greatest(&self) -> f64 {
        add_up(self.exact.magnitude(), self.off)
    }

    /// Its distance from the exact value where an operation reads it, which may flush it.
    fn read(&self) -> f64 {
        if self.unit.is_some_and(|unit| unit >= LEAST_UNIT) {
            self.off
        } else {
            add_up(self.off, FLUSHED)
        }
    }
}

/// A constant in single precision, how far it may be from the one that is written, and its unit.
#[expect(clippy::cast_possible_truncation, reason = "it is rounded")]
fn rounded(constant: f64) -> (f64, f64, i32) {
    let near = f64::from(constant as f32);
    let mut off = sub_up(near.max(constant), near.min(constant));
    if near.abs() < FLUSHED {
        off = off.max(constant.abs());
    }
    (near, off, unit_of(near))
}

fn unit_of(value: f64) -> i32 {
    dyadic_parts(value)
        .filter(|(mantissa, _)| *mantissa != 0)
        .map_or(ANY_UNIT, |(_, exponent)| exponent)
}

/// The sum of products with weights, and of a summand.
fn sum_in_any_order(terms: &[(f64, Computed)], summand: f64) -> Option<Computed> {
    let (near, mut off, least) = rounded(summand);
    let (mut exact, mut magnitude) = (Interval::point(summand), near.abs());
    let mut unit = Some(least);
    let mut count = u32::from(near.abs() > 0.0 || off > 0.0);
    for (weight, x) in terms.iter().filter(|(weight, _)| weight.abs() > 0.0) {
        let (near, weight_off, weight_unit) = rounded(*weight);
        exact = exact + Interval::point(*weight) * x.exact;
        magnitude = add_up(magnitude, mul_up(near.abs(), x.greatest()));
        off = add_up(off, mul_up(near.abs(), x.read()));
        off = add_up(off, mul_up(weight_off, x.exact.magnitude()));
        let product = |unit: i32| match unit == ANY_UNIT || weight_unit == ANY_UNIT {
            true => ANY_UNIT,
            false => unit + weight_unit,
        };
        unit = unit.zip(x.unit.map(product)).map(|(a, b)| a.min(b));
        count += 1;
    }
    if let Some(unit) = unit.filter(|&unit| unit >= LEAST_UNIT)
        && off <= 0.0
        && magnitude <= power_of_two(unit.min(900) + 24)?
    {
        return Some(Computed { exact, off: 0.0, unit: Some(unit) });
    }
    let share = f64::from(count) * ROUNDING;
    if share >= 0.5 || magnitude >= LIMIT || magnitude.is_nan() {
        return None;
    }
    let gamma = div_up(share, 1.0 - share);
    let flushed = mul_up(8.0 * f64::from(count) + 8.0, FLUSHED);
    let off = add_up(off, add_up(mul_up(gamma, magnitude), flushed));
    Some(Computed { exact, off, unit: None })
}

fn node_in_any_order(
    op: &Op,
    values: &[Vec<Computed>],
    features: &[Computed],
) -> Option<Vec<Computed>> {
    let of = |id: &NodeId| &values[id.index()];
    let places = |ids: &[NodeId]| 0..ids.first().map_or(0, |id| of(id).len());
    match op {
        Op::Input => Some(features.to_vec()),
        Op::Affine { input, weights, bias } => {
            let sum = |(row, &bias): (&[f64], &f64)| {
                let terms: Vec<(f64, Computed)> =
                    row.iter().copied().zip(of(input).iter().copied()).collect();
                sum_in_any_order(&terms, bias)
            };
            weights.row_iter().zip(bias).map(sum).collect()
        }
        Op::Scale { input, mul, div, add } => (0..mul.len())
            .map(|i| {
                let divides = (div[i] - 1.0).abs() > 0.0;
                (!divides).then(|| sum_in_any_order(&[(mul[i], of(input)[i])], add[i])).flatten()
            })
            .collect(),
        Op::Pointwise { input, activation } => {
            let exact = |x: &Computed| {
                let values = [vec![x.exact]];
                let op = Op::Pointwise { input: NodeId::INPUT, activation: *activation };
                evaluate(&op, &values, &[]).swap_remove(0)
            };
            let function = |x: &Computed| function_in_any_order(*activation, x, exact(x));
            of(input).iter().map(function).collect()
        }
        Op::Add { inputs } => places(inputs)
            .map(|i| {
                let terms: Vec<_> = inputs.iter().map(|id| (1.0, of(id)[i])).collect();
                sum_in_any_order(&terms, 0.0)
            })
            .collect(),
        Op::Max { inputs } => {
            let greater = |a: Computed, b: Computed| Computed {
                exact: a.exact.max(b.exact),
                off: a.read().max(b.read()),
                unit: a.unit.zip(b.unit).map(|(a, b)| a.min(b)),
            };
            let terms = |i: usize| inputs.iter().map(move |id| of(id)[i]);
            places(inputs).map(|i| terms(i).reduce(greater)).collect()
        }
        Op::Concat { inputs } => {
            Some(inputs.iter().flat_map(|id| of(id).iter().copied()).collect())
        }
    }
}

/// The value of a function, which is exactly in `exact`.
fn function_in_any_order(
    activation: Activation,
    x: &Computed,
    exact: Interval,
) -> Option<Computed> {
    match activation {
        Activation::Leaky { alpha } => {
            let below = sum_in_any_order(&[(alpha, *x)], 0.0)?;
            if alpha.abs() <= 0.0 {
                return Some(Computed { exact, off: x.read(), unit: x.unit });
            }
            let off = add_up(mul_up(x.read(), alpha.abs().max(1.0)), below.off);
            let unit = x.unit.zip(below.unit).map(|(a, b)| a.min(b)).filter(|_| off <= 0.0);
            Some(Computed { exact, off, unit })
        }
        Activation::Clip { lo, hi } => {
            let (mut off, mut unit) = (x.read(), x.unit);
            for end in [lo, hi].into_iter().filter(|end| end.is_finite()) {
                let (_, end_off, end_unit) = rounded(end);
                off = off.max(add_up(x.read(), end_off));
                unit = unit.map(|unit| unit.min(end_unit));
            }
            Some(Computed { exact, off, unit: unit.filter(|_| off <= 0.0) })
        }
        // Where it jumps, rounding errors have no bound of this kind.
        Activation::Staircase(_) => None,
        Activation::Smooth(smooth) => {
            // The greatest slope, and what an own error of 2⁻²⁰ is relative to.
            let (slope, scale) = match smooth {
                Smooth::Tanh => (1.0, 1.0),
                Smooth::Sigmoid => (0.25, 1.0),
                Smooth::Elu(Elu { alpha }) => (alpha.abs().max(1.0), alpha.abs().max(1.0)),
                Smooth::Softplus
                | Smooth::Silu
                | Smooth::ErfGate
                | Smooth::TanhGate(_)
                | Smooth::HardGate
                | Smooth::Mish
                | Smooth::Square
                | Smooth::Exponential
                | Smooth::Logarithm(_)
                | Smooth::Root(_)
                | Smooth::Reciprocal(_) => return None,
            };
            let carried = mul_up(slope, x.read());
            let scale = add_up(exact.magnitude(), carried).max(scale);
            let off = add_up(carried, mul_up(scale, 1.0 / f64::from(1 << 20)));
            Some(Computed { exact, off, unit: None })
        }
    }
}
