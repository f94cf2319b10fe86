//! What a network computes in single precision, one operation after the other: products are added up from the first input to the
//! last, the bias at the end.
//!
//! Values are ranges of single-precision numbers. Sums and products with a constant are rounded to nearest, which keeps their
//! order, so that computed ends are the ends of what is computed. A function without linear pieces is that of double precision,
//! rounded, and is taken to be within one unit of the last place of the nearest number.

use policert_numeric::Interval;
use policert_policy::{Activation, Network, Op};

use crate::interval_scores::step_at;

/// A range of computed numbers.
#[derive(Clone, Copy, Debug)]
struct Singles {
    lo: f32,
    hi: f32,
}

/// The outputs for inputs that are rounded to single precision first; `None` if a number on the way is not finite.
pub(super) fn outputs(network: &Network, shown: &[f64]) -> Option<Vec<Interval>> {
    let mut values: Vec<Vec<Singles>> = Vec::new();
    for node in network.nodes() {
        let value = node_values(&node.op, &values, shown);
        if !value.iter().all(|x| x.lo.is_finite() && x.hi.is_finite()) {
            return None;
        }
        values.push(value);
    }
    let outputs = values.pop()?.into_iter();
    outputs.map(|x| Interval::new(f64::from(x.lo), f64::from(x.hi))).collect()
}

fn node_values(op: &Op, values: &[Vec<Singles>], shown: &[f64]) -> Vec<Singles> {
    let of = |id: &policert_policy::NodeId| &values[id.index()];
    let width = |ids: &[policert_policy::NodeId]| ids.first().map_or(0, |id| of(id).len());
    match op {
        Op::Input => shown.iter().map(|&x| Singles::point(single(x))).collect(),
        Op::Affine { input, weights, bias } => {
            let row = |(row, &bias): (&[f64], &f64)| {
                let products = row.iter().zip(of(input)).map(|(&w, x)| x.times(single(w)));
                let sum = products.fold(Singles::point(0.0), Singles::plus);
                sum.plus(Singles::point(single(bias)))
            };
            weights.row_iter().zip(bias).map(row).collect()
        }
        Op::Scale { input, mul, div, add } => {
            let constants = mul.iter().zip(div).zip(add);
            let scaled = |(x, ((&mul, &div), &add)): (&Singles, ((&f64, &f64), &f64))| {
                let product = x.times(single(mul));
                let div = single(div);
                Singles::sorted(product.lo / div, product.hi / div)
                    .plus(Singles::point(single(add)))
            };
            of(input).iter().zip(constants).map(scaled).collect()
        }
        Op::Pointwise { input, activation } => {
            of(input).iter().map(|x| x.image(*activation)).collect()
        }
        Op::Add { inputs } => (0..width(inputs))
            .map(|i| inputs.iter().map(|id| of(id)[i]).fold(Singles::point(0.0), Singles::plus))
            .collect(),
        Op::Max { inputs } => (0..width(inputs))
            .map(|i| {
                let terms = inputs.iter().map(|id| of(id)[i]);
                let both =
                    |a: Singles, b: Singles| Singles { lo: a.lo.max(b.lo), hi: a.hi.max(b.hi) };
                terms.reduce(both).unwrap_or(Singles::point(f32::NAN))
            })
            .collect(),
        Op::Concat { inputs } => inputs.iter().flat_map(|id| of(id).iter().copied()).collect(),
    }
}

impl Singles {
    fn point(x: f32) -> Self {
        Self { lo: x, hi: x }
    }

    /// NaN stays NaN.
    fn sorted(a: f32, b: f32) -> Self {
        if a > b { Self { lo: b, hi: a } } else { Self { lo: a, hi: b } }
    }

    fn plus(self, other: Self) -> Self {
        Self { lo: self.lo + other.lo, hi: self.hi + other.hi }
    }

    fn times(self, factor: f32) -> Self {
        Self::sorted(factor * self.lo, factor * self.hi)
    }

    fn image(self, activation: Activation) -> Self {
        let Self { lo, hi } = self;
        match activation {
            Activation::Leaky { .. } if lo >= 0.0 => self,
            Activation::Leaky { alpha } => {
                // Without a negative number of zero, which is below nothing.
                let slope = single(alpha);
                let below = if slope == 0.0 {
                    Self::point(0.0)
                } else {
                    Self { lo, hi: hi.min(0.0) }.times(slope)
                };
                let above = if hi > 0.0 { hi } else { below.hi };
                Self { lo: below.lo.min(above), hi: below.hi.max(above) }
            }
            Activation::Clip { lo: least, hi: greatest } => {
                let clipped = |x: f32| x.max(single(least)).min(single(greatest));
                Self { lo: clipped(lo), hi: clipped(hi) }
            }
            Activation::Staircase(staircase) => {
                let step = |x: f32| single(step_at(staircase, f64::from(x)));
                Self { lo: step(lo), hi: step(hi) }
            }
            Activation::Smooth(_) => {
                let Some(range) = Interval::new(f64::from(lo), f64::from(hi)) else {
                    return Self::point(f32::NAN);
                };
                let image = activation.of_interval(range);
                Self { lo: single(image.lo()).next_down(), hi: single(image.hi()).next_up() }
            }
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "rounding to single precision is meant")]
fn single(value: f64) -> f32 {
    value as f32
}

#[cfg(test)]
mod tests {
    use policert_policy::{ElementType, Matrix, NetworkBuilder, Smooth};
    use policert_testkit::{Random, case_numbers};

    use super::*;
    use crate::single::plain_node;

    /// Weights that are no dyadic fractions, so that sums are rounded.
    fn weight(random: &mut Random) -> f64 {
        f64::from(i32::try_from(random.between(-30, 30)).expect("small")) / 7.0
    }

    #[test]
    fn computed_outputs_lie_in_their_ranges() {
        let (mut exact, mut smooth) = (0, 0);
        for number in case_numbers(200) {
            let mut random = Random::new(number);
            let mut builder = NetworkBuilder::new(2).expect("inputs");
            let (mut node, mut width) = (builder.input(), 2);
            let functions = [
                Activation::RELU,
                Activation::Leaky { alpha: -0.3 },
                Activation::Leaky { alpha: 0.1 },
                Activation::Clip { lo: -1.0, hi: 0.7 },
                Activation::Smooth(Smooth::Tanh),
                Activation::Smooth(Smooth::Sigmoid),
            ];
            let function = functions[random.below(functions.len())];
            for _ in 0..3 {
                let weights = (0..5 * width).map(|_| weight(&mut random)).collect();
                let bias = (0..5).map(|_| weight(&mut random)).collect();
                let matrix = Matrix::new(5, width, weights).expect("the shape fits");
                node = builder.affine(node, matrix, bias).expect("fits");
                node = builder.activation(node, function).expect("finite");
                width = 5;
            }
            let network = builder.finish(node, ElementType::F32);
            let shown = [weight(&mut random), weight(&mut random)];
            let features = shown.map(single);
            let mut values: Vec<Vec<f32>> = Vec::new();
            for node in network.nodes() {
                values.push(plain_node(&node.op, &values, &features));
            }
            let found = outputs(&network, &shown).expect("finite");
            for (&computed, range) in values.last().expect("nodes").iter().zip(found) {
                assert!(range.contains(f64::from(computed)), "case {number}: {computed} {range:?}");
                let is_smooth = matches!(function, Activation::Smooth(_));
                if is_smooth {
                    assert!(range.width() < 1e-3, "case {number}: {range:?}");
                    smooth += 1;
                } else {
                    assert!(range.width() <= 0.0, "case {number}: {range:?}");
                    exact += 1;
                }
            }
        }
        assert!(exact > 300 && smooth > 200, "{exact} {smooth}");
    }
}
