//! Scores in single precision by definition: the plain evaluation, and how far any other one can be from
//! the exact scores. The policy has code of its own for both.

mod terms;
mod varying;

#[cfg(test)]
mod tests;

use policert_numeric::round::{add_up, mul_up};
use policert_numeric::{Enclosure, Interval, Rational, power_of_two};
use policert_policy::activation::{Elu, Staircase};
use policert_policy::{Activation, NodeId, Op, SinglePrecision, Smooth, Step, Written};

use crate::interval_scores::evaluate;
use terms::{Computed, FLUSHED, LIMIT, ROUNDING, rounded, scaled, sum_in_any_order};

/// The scores by the plain evaluation in a state; `None` for one that is no finite number.
pub(crate) fn plain_scores(single: &SinglePrecision, inputs: &[i64]) -> Vec<Option<Rational>> {
    let features: Vec<f32> = single.features(inputs).iter().map(Rational::to_f32).collect();
    let network = single.network();
    let mut values: Vec<Vec<f32>> = Vec::new();
    for step in network.steps() {
        let value = match step {
            None => Vec::new(),
            Some(Step::Op(op)) => plain_node(op, &values, &features),
            Some(Step::Written(written)) => plain_written(written, &values),
        };
        values.push(value);
    }
    values[network.output().index()].iter().map(|&score| Rational::from_f32(score)).collect()
}

#[expect(clippy::cast_possible_truncation, reason = "constants are rounded to single precision")]
pub(crate) fn plain_node(op: &Op, values: &[Vec<f32>], features: &[f32]) -> Vec<f32> {
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

fn plain_written(written: Written, values: &[Vec<f32>]) -> Vec<f32> {
    let of = |id: NodeId| values[id.index()].iter().copied();
    match written {
        Written::Product { a, b } => of(a).zip(of(b)).map(|(a, b)| a * b).collect(),
        Written::Quotient { a, b, keeps_zeros } => {
            let is_kept = |b: f32| keeps_zeros && b.abs() <= 0.0;
            of(a).zip(of(b)).map(|(a, b)| if is_kept(b) { a } else { a / b }).collect()
        }
        Written::Choice { condition, a, b } => {
            let chosen = |((condition, a), b): ((f32, f32), f32)| match condition {
                1.0 => a,
                0.0 => b,
                _ => f32::NAN,
            };
            of(condition).zip(of(a)).zip(of(b)).map(chosen).collect()
        }
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

/// What errors do to scores.
#[derive(Debug)]
pub(crate) struct Errors {
    /// How far a score may be from the exact one, by output; infinite where nothing is known.
    pub radii: Vec<f64>,
    /// Computed scores that are closer may be equal, or exchanged, after functions such as a softmax.
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
            return Computed::number(exact, 0.0, Some(0));
        }
        // Once, after a rounding in double precision perhaps.
        let off = add_up(mul_up(mul_up(1.001, ROUNDING), magnitude), FLUSHED);
        Computed::number(exact, off, None)
    };
    let features: Vec<Computed> = features.iter().zip(single.are_integral()).map(input).collect();
    let network = single.network();
    let mut values: Vec<Vec<Computed>> = Vec::new();
    for step in network.steps() {
        let value = match step {
            None => Vec::new(),
            Some(Step::Op(op)) => node_in_any_order(op, &values, &features)?,
            Some(Step::Written(written)) => written_in_any_order(written, &values)?,
        };
        let is_small = |x: &Computed| x.greatest() < LIMIT;
        if !value.iter().all(is_small) {
            return None;
        }
        values.push(value);
    }
    let scores = &values[network.output().index()];
    let greatest = scores.iter().map(Computed::greatest).fold(0.0, f64::max);
    // Each function of all scores subtracts from them, and a softmax is of their exponentials.
    let subtracted = mul_up(8.0 * ROUNDING, add_up(greatest, 64.0));
    let merged = match single.normalisations() {
        0 => 0.0,
        functions => add_up(1.0 / f64::from(1 << 18), mul_up(f64::from(functions), subtracted)),
    };
    Some(Errors { radii: scores.iter().map(Computed::read).collect(), merged })
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
                let mut weights = (0..row.len()).filter(|&i| row[i].abs() > 0.0);
                if let (Some(only), None) = (weights.next(), weights.next())
                    && bias.abs() <= 0.0
                    && (row[only] - 1.0).abs() <= 0.0
                {
                    return Some(of(input)[only]);
                }
                let terms: Vec<(f64, Computed)> =
                    row.iter().copied().zip(of(input).iter().copied()).collect();
                sum_in_any_order(&terms, bias)
            };
            weights.row_iter().zip(bias).map(sum).collect()
        }
        Op::Scale { input, mul, div, add } => {
            (0..mul.len()).map(|i| scaled(&of(input)[i], mul[i], div[i], add[i])).collect()
        }
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
            let greater = |a: Computed, b: Computed| {
                let unit = a.unit.zip(b.unit).map(|(a, b)| a.min(b));
                Computed::number(a.exact.max(b.exact), a.read().max(b.read()), unit)
            };
            let terms = |i: usize| inputs.iter().map(move |id| of(id)[i]);
            places(inputs).map(|i| terms(i).reduce(greater)).collect()
        }
        Op::Concat { inputs } => {
            Some(inputs.iter().flat_map(|id| of(id).iter().copied()).collect())
        }
    }
}

fn written_in_any_order(written: Written, values: &[Vec<Computed>]) -> Option<Vec<Computed>> {
    let of = |id: NodeId| values[id.index()].iter();
    match written {
        Written::Product { a, b } => {
            of(a).zip(of(b)).map(|(a, b)| varying::product(a, b)).collect()
        }
        Written::Quotient { a, b, keeps_zeros } => {
            of(a).zip(of(b)).map(|(a, b)| varying::quotient(a, b, keeps_zeros)).collect()
        }
        Written::Choice { condition, a, b } => {
            let triples = of(condition).zip(of(a)).zip(of(b));
            triples.map(|((condition, a), b)| varying::choice(condition, a, b)).collect()
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
                return Some(Computed::number(exact, x.read(), x.unit));
            }
            let off = add_up(mul_up(x.read(), alpha.abs().max(1.0)), below.off);
            let unit = x.unit.zip(below.unit).map(|(a, b)| a.min(b)).filter(|_| off <= 0.0);
            Some(Computed::number(exact, off, unit))
        }
        Activation::Clip { lo, hi } => {
            let (mut off, mut unit) = (x.read(), x.unit);
            for end in [lo, hi].into_iter().filter(|end| end.is_finite()) {
                let (_, end_off, end_unit) = rounded(end);
                off = off.max(add_up(x.read(), end_off));
                unit = unit.map(|unit| unit.min(end_unit));
            }
            Some(Computed::number(exact, off, unit.filter(|_| off <= 0.0)))
        }
        Activation::Staircase(staircase) => varying::step(staircase, x, exact),
        Activation::Smooth(Smooth::Square) => varying::square(x),
        Activation::Smooth(Smooth::Root(_)) => varying::root(x, exact),
        Activation::Smooth(Smooth::Logarithm(_)) => varying::logarithm(x, exact),
        Activation::Smooth(Smooth::Reciprocal(_)) => {
            let one = Computed::number(Interval::point(1.0), 0.0, Some(0));
            varying::quotient(&one, x, false)
        }
        Activation::Smooth(smooth) => {
            let argument = x.greatest();
            let gate = |size: f64| mul_up(size, add_up(argument, FLUSHED));
            let of_value = |slope: f64| add_up(exact.magnitude(), mul_up(slope, x.read()));
            // The greatest slope, and what an own error of 2⁻²⁰ is relative to.
            let (slope, scale) = match smooth {
                Smooth::Tanh => (1.0, of_value(1.0).max(1.0)),
                Smooth::Sigmoid => (0.25, 1.0),
                Smooth::Elu(Elu { alpha }) => {
                    let slope = alpha.abs().max(1.0);
                    (slope, of_value(slope).max(slope))
                }
                Smooth::Softplus => (1.0, 2.0 * of_value(1.0).max(1.0)),
                // Their slopes are at most 1.1 and 1.13, and those of the next ones 1.7, 1.5 and 1.1.
                Smooth::Silu | Smooth::ErfGate => (1.25, gate(2.0)),
                // It takes the third power of its argument.
                Smooth::TanhGate(_) if argument > power_of_two(40)? => return None,
                Smooth::TanhGate(_) => (1.75, gate(2.0)),
                Smooth::HardGate => (1.5, gate(2.0)),
                Smooth::Mish => (1.125, gate(4.0)),
                // e^(x + d) − eˣ is at most d·e^(x + d).
                Smooth::Exponential => {
                    let greatest = Interval::point(add_up(x.exact.hi(), x.read())).exp().hi();
                    (greatest, greatest)
                }
                Smooth::Square | Smooth::Logarithm(_) | Smooth::Root(_) | Smooth::Reciprocal(_) => {
                    return None;
                }
            };
            let off = add_up(mul_up(slope, x.read()), mul_up(scale, 1.0 / f64::from(1 << 20)));
            Some(Computed::number(exact, off, None))
        }
    }
}
