//! Bounds of score differences against exact scores at points.

#![expect(clippy::float_cmp, reason = "exact values are meant")]

use policert_numeric::{IntBox, IntInterval, Rational};
use policert_policy::{
    ElementType, ExactEvaluator, Matrix, Network, NetworkBuilder, precise_scores,
};

use policert_engine_api::CancelFlag;

use super::*;
use crate::generator::{Random, network};

fn unlimited() -> Budget {
    Budget::unlimited()
}

fn exact(value: f64) -> Rational {
    Rational::from_f64(value).expect("finite")
}

#[expect(clippy::cast_precision_loss, reason = "small integers")]
fn frame(program: &Program, sides: &IntBox) -> RegionFrame {
    let lo = sides.sides().iter().map(|side| side.lo as f64).collect();
    let hi = sides.sides().iter().map(|side| side.hi as f64).collect();
    RegionFrame::new(program, lo, hi)
}

fn part(sides: &IntBox, random: &mut Random) -> IntBox {
    let part = |side: &IntInterval| {
        let (a, b) = (random.int(side.lo, side.hi), random.int(side.lo, side.hi));
        IntInterval::new(a.min(b), a.max(b))
    };
    IntBox::new(sides.sides().iter().map(part).collect())
}

fn point(sides: &IntBox, random: &mut Random) -> Vec<i64> {
    sides.sides().iter().map(|side| random.int(side.lo, side.hi)).collect()
}

fn all_pairs(outputs: usize) -> Vec<(usize, usize)> {
    let pair = |p| (0..outputs).filter(move |&q| q != p).map(move |q| (p, q));
    (0..outputs).flat_map(pair).collect()
}

/// score(a) − score(b), not below the exact value (by less than 2⁻²⁰⁰); `None` if numbers on the way are
/// too large to be written down.
fn difference_above(network: &Network, inputs: &[i64], a: usize, b: usize) -> Option<Rational> {
    if let Some(evaluator) = ExactEvaluator::new(network) {
        let scores = evaluator.scores(inputs).to_rationals();
        return Some(&scores[a] - &scores[b]);
    }
    let scores = precise_scores(network, inputs, 400)?;
    let scores = scores.scores();
    Some(scores[a].upper() - scores[b].lower())
}

#[test]
fn bounds_hold_at_random_points() {
    let (mut finite, mut positive) = (0, 0);
    let networks = if policert_testkit::slow_tests() { 5_000 } else { 150 };
    for seed in 0..networks {
        let mut random = Random::new(seed);
        let inputs = 1 + random.below(6);
        let outputs = 2 + random.below(4);
        let network = network(inputs, outputs, &mut random);
        let mut bounder = Bounder::new(Program::new(&network));
        let size = [1, 5, 60, 1 << 40][random.below(4)];
        let region = IntBox::new(vec![IntInterval::new(-size, size); inputs]);
        let frame = frame(bounder.program(), &region);
        for _ in 0..3 {
            let sides = part(&region, &mut random);
            let own = self::frame(bounder.program(), &sides);
            bounder.enter(&frame, &own.lo, &own.hi, &mut unlimited()).expect("no limits");
            let mut bounds = Vec::new();
            let visit = &mut |d: ScoreDifference<'_>| bounds.push((d.greater, d.lesser, d.lower));
            let pairs = all_pairs(outputs);
            bounder.differences(&frame, &pairs, &mut unlimited(), visit).expect("no limits");
            for _ in 0..6 {
                let inputs = point(&sides, &mut random);
                for &(a, b, lower) in &bounds {
                    if !lower.is_finite() {
                        assert_eq!(lower, f64::NEG_INFINITY);
                        continue;
                    }
                    finite += 1;
                    positive += usize::from(lower > 0.0);
                    let Some(value) = difference_above(&network, &inputs, a, b) else { continue };
                    assert!(exact(lower) <= value, "seed {seed}: {lower} is above {value}");
                }
            }
        }
    }
    assert!(finite > 10_000 && positive > 1_000, "{finite} {positive}");
}

#[test]
fn bounds_of_points_are_tight() {
    for seed in 0..200 {
        let mut random = Random::new(seed);
        let mut builder = NetworkBuilder::new(3).expect("inputs");
        let mut node = builder.input();
        for width in [5, 4, 3] {
            let columns = builder.width(node);
            let entries = (0..width * columns).map(|_| random.unit()).collect();
            let matrix = Matrix::new(width, columns, entries).expect("fits");
            let bias = (0..width).map(|_| random.unit()).collect();
            node = builder.affine(node, matrix, bias).expect("finite");
            if width > 3 {
                node = builder.relu(node);
            }
        }
        let network = builder.finish(node, ElementType::F64);
        let mut bounder = Bounder::new(Program::new(&network));
        let region = IntBox::new(vec![IntInterval::new(-9, 9); 3]);
        let frame = frame(bounder.program(), &region);
        let inputs = point(&region, &mut random);
        let own = self::frame(bounder.program(), &IntBox::point(&inputs));
        bounder.enter(&frame, &own.lo, &own.hi, &mut unlimited()).expect("no limits");
        let visit = &mut |d: ScoreDifference<'_>| {
            let value = difference_above(&network, &inputs, d.greater, d.lesser);
            let value = value.expect("a small number").to_f64();
            assert!(d.lower > value - 1e-9, "seed {seed}: {} for {value}", d.lower);
        };
        bounder.differences(&frame, &all_pairs(3), &mut unlimited(), visit).expect("no limits");
    }
}

#[test]
fn equal_rows_differ_by_their_biases_exactly() {
    let mut builder = NetworkBuilder::new(2).expect("inputs");
    let matrix = Matrix::new(3, 2, vec![0.1, 0.7, 0.1, 0.7, 0.1, 0.7]).expect("fits");
    let bias = vec![0.3, 0.3, 0.3 + f64::EPSILON];
    let output = builder.affine(builder.input(), matrix, bias).expect("finite");
    let network = builder.finish(output, ElementType::F64);
    let mut bounder = Bounder::new(Program::new(&network));
    let frame = frame(bounder.program(), &IntBox::new(vec![IntInterval::new(0, 1000); 2]));
    bounder.enter(&frame, &frame.lo, &frame.hi, &mut unlimited()).expect("no limits");
    let mut lower = Vec::new();
    let visit = &mut |d: ScoreDifference<'_>| lower.push(d.lower);
    let pairs = [(0, 1), (2, 0), (0, 2)];
    bounder.differences(&frame, &pairs, &mut unlimited(), visit).expect("no limits");
    assert_eq!(lower[0], 0.0);
    assert!(lower[1] > 0.0 && lower[2] < 0.0);
}

#[test]
fn a_batch_of_bounds_stops_with_its_budget() {
    let mut random = Random::new(7);
    let network = network(3, 4, &mut random);
    let mut bounder = Bounder::new(Program::new(&network));
    let frame = frame(bounder.program(), &IntBox::new(vec![IntInterval::new(-5, 5); 3]));
    bounder.enter(&frame, &frame.lo, &frame.hi, &mut unlimited()).expect("no limits");
    let flag = CancelFlag::default();
    let mut budget = Budget::new(policert_engine_api::Limits::default(), flag.clone());
    let mut blocks = 0;
    // Raised while the first block of eight is looked at: there is no second one.
    let pairs = all_pairs(4).repeat(8);
    let stopped = bounder.differences(&frame, &pairs, &mut budget, &mut |_| {
        blocks += 1;
        flag.raise();
    });
    assert_eq!((stopped, blocks), (Err(StopReason::Interrupted), LANES));
}
