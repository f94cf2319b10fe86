//! Products, quotients, steps and choices of numbers that vary.

use std::convert::Infallible;

use policert_policy::activation::{Reciprocal, Root};
use policert_policy::{Elements, Network, Written, WrittenElements, precise_scores};

use super::*;

/// An evaluation that adds up in an order of its own, and divides in its own way.
struct OwnOrder<'r>(&'r mut Random);

#[expect(clippy::cast_possible_truncation, reason = "it is what is evaluated")]
impl Elements for OwnOrder<'_> {
    type Element = f32;
    type Error = Infallible;

    fn row(&mut self, weights: &[f64], bias: f64, x: &[f32]) -> Result<f32, Infallible> {
        let mut terms: Vec<f32> = weights.iter().zip(x).map(|(&w, x)| w as f32 * x).collect();
        terms.push(bias as f32);
        self.sum(&terms)
    }

    fn scale(&mut self, x: &f32, mul: f64, div: f64, add: f64) -> Result<f32, Infallible> {
        let (mul, div, add) = (mul as f32, div as f32, add as f32);
        Ok(match self.0.below(3) {
            0 => x * (mul / div) + add,
            1 => x.mul_add(mul * (1.0 / div), add),
            _ => x * mul / div + add,
        })
    }

    fn apply(&mut self, activation: Activation, x: &f32) -> Result<f32, Infallible> {
        Ok(plain_function(activation, *x))
    }

    fn sum(&mut self, terms: &[f32]) -> Result<f32, Infallible> {
        let (mut rest, mut sum) = (terms.to_vec(), 0.0);
        while !rest.is_empty() {
            sum += rest.swap_remove(self.0.below(rest.len()));
        }
        Ok(sum)
    }

    fn max(&mut self, terms: &[f32]) -> Result<f32, Infallible> {
        Ok(terms.iter().copied().fold(f32::NEG_INFINITY, f32::max))
    }
}

impl WrittenElements for OwnOrder<'_> {
    fn product(&mut self, a: &f32, b: &f32) -> Result<f32, Infallible> {
        Ok(a * b)
    }

    fn quotient(&mut self, a: &f32, b: &f32, _: bool) -> Result<f32, Infallible> {
        Ok(if self.0.below(2) == 0 { a / b } else { a * (1.0 / b) })
    }

    fn choice(&mut self, condition: &f32, a: &f32, b: &f32) -> Result<f32, Infallible> {
        Ok(if *condition > 0.5 { *a } else { *b })
    }
}

/// a · b, made of squares.
fn product(b: &mut NetworkBuilder, one: NodeId, other: NodeId) -> NodeId {
    let all = |width: usize, value: f64| vec![value; width];
    let width = b.width(one);
    let scaled = |b: &mut NetworkBuilder, x: NodeId, mul: f64, div: f64| {
        b.scale(x, all(width, mul), all(width, div), all(width, 0.0)).expect("finite")
    };
    let opposite = scaled(b, other, -1.0, 1.0);
    let sides = [b.add(vec![one, other]), b.add(vec![one, opposite])].map(|x| x.expect("width"));
    let square = Activation::Smooth(Smooth::Square);
    let [sum, difference] = sides.map(|x| b.activation(x, square).expect("finite"));
    let opposite = scaled(b, difference, -1.0, 1.0);
    let four = b.add(vec![sum, opposite]).expect("width");
    let node = scaled(b, four, 1.0, 4.0);
    b.stands_for(node, Written::Product { a: one, b: other });
    node
}

/// (x − mean) / √(variance + ε), as layer normalisation is, x · sigmoid of another vector, and a choice by a comparison.
fn network(random: &mut Random, kind: usize) -> Network {
    let width = 2 + random.below(4);
    let mut b = NetworkBuilder::new(2).expect("inputs");
    let mut affine = |b: &mut NetworkBuilder, x: NodeId, rows: usize| {
        let columns = b.width(x);
        let weights = Matrix::new(rows, columns, wide(&numbers(random, rows * columns)));
        b.affine(x, weights.expect("size"), wide(&numbers(random, rows))).expect("finite")
    };
    let input = b.input();
    let h = affine(&mut b, input, width);
    let other = affine(&mut b, input, width);
    let all = |value: f64| vec![value; width];
    let v = match kind {
        0 => {
            let count = f64::from(u8::try_from(width).expect("small"));
            let mean = |b: &mut NetworkBuilder, x: NodeId| {
                let ones = Matrix::new(width, width, vec![1.0; width * width]).expect("size");
                let sum = b.affine(x, ones, all(0.0)).expect("finite");
                b.scale(sum, all(1.0), all(count), all(0.0)).expect("finite")
            };
            let m = mean(&mut b, h);
            let opposite = b.scale(m, all(-1.0), all(1.0), all(0.0)).expect("finite");
            let centred = b.add(vec![h, opposite]).expect("width");
            let squares = b.activation(centred, Activation::Smooth(Smooth::Square));
            let variance = mean(&mut b, squares.expect("finite"));
            let shifted = b.scale(variance, all(1.0), all(1.0), all(1e-5)).expect("finite");
            let root = Activation::Smooth(Smooth::Root(Root::new(1e-5).expect("positive")));
            let root = b.activation(shifted, root).expect("finite");
            let inverse = Reciprocal::new(1e-3).expect("positive");
            let inverse = Activation::Smooth(Smooth::Reciprocal(inverse));
            let inverse = b.activation(root, inverse).expect("finite");
            let node = product(&mut b, centred, inverse);
            b.stands_for(node, Written::Quotient { a: centred, b: root, keeps_zeros: false });
            node
        }
        1 => {
            let gate = b.activation(other, Activation::Smooth(Smooth::Sigmoid)).expect("finite");
            product(&mut b, h, gate)
        }
        _ => {
            let sign = Activation::Staircase(Staircase::Sign);
            let sign = b.activation(h, sign).expect("finite");
            let condition = b.activation(sign, Activation::RELU).expect("finite");
            let opposite = b.scale(h, all(-1.0), all(1.0), all(0.0)).expect("finite");
            let difference = b.add(vec![other, opposite]).expect("width");
            let chosen = product(&mut b, condition, difference);
            let node = b.add(vec![h, chosen]).expect("width");
            b.stands_for(node, Written::Choice { condition, a: other, b: h });
            node
        }
    };
    let v = affine(&mut b, v, 2);
    b.finish_as_written(v, ElementType::F32)
}

#[test]
fn numbers_that_vary_together_are_within_the_bounds() {
    let (mut known, mut close) = ([0; 3], [f64::INFINITY; 3]);
    for case in case_numbers(120) {
        let mut random = Random::new(case);
        let kind = random.below(3);
        let network = network(&mut random, kind);
        let single = SinglePrecision::new(&network).expect("known");
        for _ in 0..6 {
            let point: [i8; 2] =
                std::array::from_fn(|_| i8::try_from(random.below(41)).expect("small") - 20);
            let inputs = point.map(i64::from);
            let plain = plain_scores(&single, &inputs);
            // The policy's own evaluation and bounds.
            let own = single.plain_scores(&inputs);
            let errors = errors_in(&single, &inputs);
            let exact = precise_scores(&network, &inputs, 200).expect("enclosed");
            let mut computed = vec![own.clone()];
            for _ in 0..6 {
                let input = point.map(f32::from).to_vec();
                let Ok(mut values) = network.fold_as_written(&mut OwnOrder(&mut random), input);
                computed.push(values.swap_remove(network.output().index()));
            }
            for output in 0..2 {
                assert_eq!(plain[output], Rational::from_f32(own[output]), "case {case}");
                let (radius, ours) =
                    (errors.radii[output], single.errors_at(&inputs).radii()[output]);
                let Some(bound) = Rational::from_f64(radius) else { continue };
                // Two derivations of the same kind of bound.
                assert!(radius < 4.0 * ours && ours < 4.0 * radius, "case {case}: {radius} {ours}");
                known[kind] += 1;
                let score = &exact.scores()[output];
                for computed in &computed {
                    let value = Rational::from_f32(computed[output]).expect("finite");
                    let off = (&value - score.lower()).abs().max((value - score.upper()).abs());
                    assert!(off <= bound, "case {case}: {off} > {radius} at {inputs:?}");
                    close[kind] = close[kind].min(radius / off.to_f64().max(1e-30));
                }
            }
        }
    }
    assert!(known.iter().all(|&known| known > 200), "{known:?}");
    assert!(close.iter().all(|&close| close < 1000.0), "{close:?}");
}
