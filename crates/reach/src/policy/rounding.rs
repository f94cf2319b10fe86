//! All values that evaluations of a network with rounding can give for one input.
//!
//! Each element of each node gets a range that contains the exact value and every computed one:
//! images of the ranges before it, widened by the a-priori error of the node's own operations.
//! tanh and the sigmoid of a runtime are taken to be right within 4 units of the last place.
//!
//! Where a number may overflow there is no range: infinities cancel to what is no number.

use policert_numeric::Interval;
use policert_numeric::round::{UNIT_ROUNDOFF, add_up, div_up, mul_up};
use policert_policy::{Network, Op};

use super::Evaluation;

/// Ranges of the outputs for inputs in ranges, whose members are numbers of the precision. `None` if
/// a number on the way may be beyond the greatest one of the precision, or may have no value.
#[must_use]
pub fn possible_outputs(
    network: &Network,
    inputs: &[Interval],
    evaluation: Evaluation,
) -> Option<Vec<Interval>> {
    let precision = match evaluation {
        Evaluation::F64 => {
            Precision { roundoff: UNIT_ROUNDOFF, least: f64::from_bits(1), greatest: f64::MAX }
        }
        Evaluation::F32 => Precision {
            roundoff: f64::from(f32::EPSILON) / 2.0,
            least: f64::from(f32::from_bits(1)),
            greatest: f64::from(f32::MAX),
        },
    };
    let mut values: Vec<Vec<Interval>> = Vec::with_capacity(network.nodes().len());
    for node in network.nodes() {
        let sources = node.op.inputs();
        let x = sources.first().map_or(&[][..], |input| values[input.index()].as_slice());
        let column = |i: usize| sources.iter().map(move |input| (input.index(), i));
        let result: Vec<Interval> = match &node.op {
            Op::Input => inputs.to_vec(),
            Op::Affine { weights, bias, .. } => weights
                .row_iter()
                .zip(bias)
                .map(|(row, &bias)| {
                    let mut terms: Vec<(Interval, f64)> = row
                        .iter()
                        .zip(x)
                        .map(|(&weight, &x)| (precision.constant(weight) * x, weight))
                        .map(|(term, _)| (term, term.magnitude()))
                        .collect();
                    let bias = precision.constant(bias);
                    terms.push((bias, bias.magnitude()));
                    precision.sum(&terms)
                })
                .collect::<Option<_>>()?,
            Op::Scale { mul, div, add, .. } => x
                .iter()
                .zip(mul.iter().zip(div).zip(add))
                .map(|(&x, ((&mul, &div), &add))| {
                    let product = precision.rounded(precision.constant(mul) * x, 1);
                    let quotient =
                        precision.finite(product)?.checked_div(precision.constant(div))?;
                    let quotient = precision.finite(precision.rounded(quotient, 1))?;
                    Some(precision.rounded(quotient + precision.constant(add), 1))
                })
                .collect::<Option<_>>()?,
            Op::Relu { .. } => x.iter().map(|x| x.relu()).collect(),
            Op::LeakyRelu { alpha, .. } => x
                .iter()
                .map(|&x| {
                    let below = x.min(Interval::ZERO) * precision.constant(*alpha);
                    let below = precision.rounded(below, 1);
                    if x.lo() >= 0.0 {
                        x
                    } else if x.hi() < 0.0 {
                        below
                    } else {
                        below.hull(x.relu())
                    }
                })
                .collect(),
            Op::Tanh { .. } => x.iter().map(|x| precision.rounded(x.tanh(), 8)).collect(),
            Op::Sigmoid { .. } => x.iter().map(|x| precision.rounded(x.sigmoid(), 8)).collect(),
            Op::Clip { lo, hi, .. } => x
                .iter()
                .map(|&x| {
                    let x = lo.map_or(x, |lo| x.max(precision.constant(lo)));
                    hi.map_or(x, |hi| x.min(precision.constant(hi)))
                })
                .collect(),
            Op::Add { .. } => (0..node.width)
                .map(|i| {
                    let terms: Vec<(Interval, f64)> = column(i)
                        .map(|(source, i)| values[source][i])
                        .map(|term| (term, term.magnitude()))
                        .collect();
                    precision.sum(&terms)
                })
                .collect::<Option<_>>()?,
            Op::Max { .. } => (0..node.width)
                .filter_map(|i| {
                    column(i).map(|(source, i)| values[source][i]).reduce(Interval::max)
                })
                .collect(),
            Op::Concat { .. } => {
                sources.iter().flat_map(|input| values[input.index()].clone()).collect()
            }
        };
        let result: Option<Vec<Interval>> =
            result.into_iter().map(|range| precision.finite(range)).collect();
        values.push(result?);
    }
    Some(values.swap_remove(network.output().index()))
}

struct Precision {
    /// Greatest relative error of one operation.
    roundoff: f64,
    /// The least positive number: bounds what underflow loses.
    least: f64,
    /// The greatest number.
    greatest: f64,
}

impl Precision {
    /// A range, unless a number in it may overflow.
    fn finite(&self, range: Interval) -> Option<Interval> {
        (range.magnitude() <= self.greatest).then_some(range)
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

    /// Sums in any order of terms that were rounded themselves; `None` if one may overflow.
    fn sum(&self, terms: &[(Interval, f64)]) -> Option<Interval> {
        let mut sum = Interval::ZERO;
        let (mut magnitude, mut underflow) = (0.0, 0.0);
        for (term, size) in terms {
            sum = sum + *term;
            magnitude = add_up(magnitude, *size);
            underflow = add_up(underflow, 2.0 * self.least);
        }
        let error = add_up(mul_up(self.gamma(terms.len() + 1), magnitude), underflow);
        // No order of summation goes beyond the sum of all magnitudes.
        let fits = add_up(magnitude, error) <= self.greatest;
        fits.then(|| sum + Interval::ball(0.0, error))
    }
}
