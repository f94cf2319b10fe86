//! Every evaluation is within the bounds, with constants merged or not.

use policert_numeric::Rational;
use policert_policy::{
    Activation, ElementType, ExactEvaluator, Matrix, NetworkBuilder, SinglePrecision,
};
use policert_testkit::{Random, case_numbers};

use super::*;

mod varying;

/// A number between -2 and 2 in single precision.
fn number(random: &mut Random) -> f32 {
    let thousandths = i16::try_from(random.below(4001)).expect("small") - 2000;
    f32::from(thousandths) / 997.0
}

fn numbers(random: &mut Random, count: usize) -> Vec<f32> {
    (0..count).map(|_| number(random)).collect()
}

fn wide(values: &[f32]) -> Vec<f64> {
    values.iter().copied().map(f64::from).collect()
}

#[test]
fn merged_constants_are_within_the_bounds() {
    let mut narrowest = f64::INFINITY;
    for case in case_numbers(200) {
        let mut random = Random::new(case);
        let width = 1 + random.below(4);
        let bends = random.below(2) == 0;
        let mut all = |count| numbers(&mut random, count);
        let (first, bias, factor) = (all(2 * width), all(width), all(width));
        let (summand, second) = (all(width), all(width));
        let divisor: Vec<f32> = all(width).iter().map(|d| d.abs() / 3.0 + 0.003).collect();
        let mut b = NetworkBuilder::new(2).expect("inputs");
        let weights = Matrix::new(width, 2, wide(&first)).expect("size");
        let x = b.affine(b.input(), weights, wide(&bias)).expect("finite");
        let x = b.scale(x, wide(&factor), wide(&divisor), wide(&summand)).expect("finite");
        let x = if bends { b.relu(x) } else { x };
        let weights = Matrix::new(1, width, wide(&second)).expect("size");
        let x = b.affine(x, weights, vec![0.0]).expect("finite");
        let network = b.finish(x, ElementType::F32);
        let single = SinglePrecision::new(&network).expect("nothing is merged exactly");
        let exact = ExactEvaluator::new(&network).expect("piecewise linear");
        for _ in 0..10 {
            let mut point = || i8::try_from(random.below(41)).expect("small") - 20;
            let point = [point(), point()];
            let inputs = point.map(i64::from);
            let x = point.map(f32::from);
            let Errors { radii, .. } = errors_in(&single, &inputs);
            let score = &exact.scores(&inputs).to_rationals()[0];
            let row = |i: usize| &first[2 * i..2 * i + 2];
            let (mut before, mut after, mut constant) = (0.0f32, 0.0f32, 0.0f32);
            for i in 0..width {
                let ratio = factor[i] / divisor[i];
                let merged: f32 = row(i).iter().zip(x).map(|(w, x)| w * ratio * x).sum();
                let merged = merged + (bias[i] * ratio + summand[i]);
                before += second[i] * if bends { merged.max(0.0) } else { merged };
                let plain: f32 = row(i).iter().zip(x).map(|(w, x)| w * x).sum();
                after += second[i] * ratio * (plain + bias[i]);
                constant += second[i] * summand[i];
            }
            let plain = plain_scores(&single, &inputs)[0].clone().expect("finite");
            let mut computed = vec![Rational::from_f32(before).expect("finite"), plain];
            if !bends {
                computed.push(Rational::from_f32(after + constant).expect("finite"));
            }
            for value in computed {
                let off = (value - score).abs();
                let radius = Rational::from_f64(radii[0]).expect("finite");
                assert!(off <= radius, "case {case}: {off} > {radius} at {point:?}");
                narrowest = narrowest.min(radii[0] / off.to_f64().max(1e-30));
            }
        }
    }
    assert!(narrowest < 40.0, "{narrowest}");
}

#[test]
fn a_factor_that_may_overflow_leaves_nothing_known() {
    let mut b = NetworkBuilder::new(1).expect("inputs");
    let x = b.activation(b.input(), Activation::RELU).expect("finite");
    let x = b.scale(x, vec![1.0], vec![1e-12], vec![0.0]).expect("finite");
    let x = b.activation(x, Activation::RELU).expect("finite");
    let single = SinglePrecision::new(&b.finish(x, ElementType::F32)).expect("known");
    assert!(errors_in(&single, &[3]).radii[0].is_infinite());
}
