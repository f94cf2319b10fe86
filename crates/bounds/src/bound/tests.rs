//! Bounds of score differences against exact scores at points.

#![expect(clippy::float_cmp, reason = "exact values are meant")]

use policert_numeric::{IntBox, IntInterval, Rational};
use policert_policy::{
    ElementType, ExactEvaluator, Matrix, Network, NetworkBuilder, NodeId, precise_scores,
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

fn compared(pairs: &[(usize, usize)]) -> Compared<'_> {
    Compared { pairs, certain: pairs.len() }
}

fn all(bounder: &Bounder) -> Vec<(usize, usize)> {
    let program = bounder.program();
    all_pairs(program.nodes[program.output].width)
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
            let mut some = all_pairs(outputs);
            some.retain(|_| random.below(3) > 0);
            let box_of = (&own.lo[..], &own.hi[..]);
            bounder.enter(&frame, box_of, compared(&some), &mut unlimited()).expect("no limits");
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
        bounder
            .enter(&frame, (&own.lo, &own.hi), compared(&all(&bounder)), &mut unlimited())
            .expect("no limits");
        let visit = &mut |d: ScoreDifference<'_>| {
            let value = difference_above(&network, &inputs, d.greater, d.lesser);
            let value = value.expect("a small number").to_f64();
            assert!(d.lower > value - 1e-9, "seed {seed}: {} for {value}", d.lower);
        };
        bounder.differences(&frame, &all_pairs(3), &mut unlimited(), visit).expect("no limits");
    }
}

/// The bound of the difference of two scores over the part that was entered last.
fn bound_of(bounder: &mut Bounder, frame: &RegionFrame, pair: (usize, usize)) -> f64 {
    let mut found = 0.0;
    let visit = &mut |d: ScoreDifference<'_>| found = d.lower;
    bounder.differences(frame, &[pair], &mut unlimited(), visit).expect("no limits");
    found
}

/// A random affine node of some rows, with biases from `-below` to `1 - below`.
fn affine(
    builder: &mut NetworkBuilder,
    input: NodeId,
    (rows, below): (usize, f64),
    random: &mut Random,
) -> NodeId {
    let columns = builder.width(input);
    let entries = (0..rows * columns).map(|_| random.unit() - 0.5).collect();
    let matrix = Matrix::new(rows, columns, entries).expect("fits");
    let bias = (0..rows).map(|_| random.unit() - below).collect();
    builder.affine(input, matrix, bias).expect("finite")
}

/// Modules that maxima choose between, in layers, as in action schema networks.
fn pools(random: &mut Random) -> Network {
    let mut builder = NetworkBuilder::new(4).expect("inputs");
    let mut layer = vec![builder.input()];
    for _ in 0..3 {
        let mut next = Vec::new();
        for _ in 0..6 {
            let input = layer[random.below(layer.len())];
            let sum = affine(&mut builder, input, (2, 0.3), random);
            next.push(builder.relu(sum));
        }
        layer = (0..5)
            .map(|_| {
                let pool = (0..2 + random.below(3)).map(|_| next[random.below(6)]).collect();
                builder.max(pool).expect("of one width")
            })
            .collect();
    }
    let output = builder.concat(layer).expect("parts");
    builder.finish(output, ElementType::F64)
}

#[test]
fn what_is_not_touched_does_not_matter() {
    let (mut left_out, mut close) = (0, 0);
    for seed in 0..if policert_testkit::slow_tests() { 3000 } else { 120 } {
        let mut random = Random::new(seed);
        let network = pools(&mut random);
        let mut bounder = Bounder::new(Program::new(&network));
        let region = IntBox::new(vec![IntInterval::new(-2, 2); 4]);
        let frame = frame(bounder.program(), &region);
        let sides = part(&region, &mut random);
        let own = self::frame(bounder.program(), &sides);
        let (a, b) = (random.below(10), random.below(10));
        let bounds = |bounder: &mut Bounder| bound_of(bounder, &frame, (a, b));
        let sides = (&own.lo[..], &own.hi[..]);
        bounder.enter(&frame, sides, compared(&[(a, b)]), &mut unlimited()).expect("no limits");
        let (touched, refined) = (bounds(&mut bounder), bounder.refined.len());
        bounder.enter_part(&frame, sides.0, sides.1, &[], &mut unlimited()).expect("no limits");
        let all = bounds(&mut bounder);
        assert!((touched - all).abs() < 1e-9, "seed {seed}: {touched}, {all} with all");
        left_out += usize::from(refined < bounder.refined.len());
        close += usize::from(refined > 0);
    }
    assert!(left_out > 60 && close > 20, "{left_out} {close}");
}

#[test]
fn what_was_sharpened_only_in_part_holds() {
    let (mut sharpened, mut positive, mut better) = (0, 0, 0);
    for seed in 0..if policert_testkit::slow_tests() { 3000 } else { 120 } {
        let mut random = Random::new(seed);
        let network = pools(&mut random);
        let mut bounder = Bounder::new(Program::new(&network));
        let region = IntBox::new(vec![IntInterval::new(-2, 2); 4]);
        let frame = frame(bounder.program(), &region);
        let sides = part(&region, &mut random);
        let own = self::frame(bounder.program(), &sides);
        let (a, b) = (random.below(10), random.below(10));
        let mut bound = |many: usize| {
            bounder.many = many;
            let sides = (&own.lo[..], &own.hi[..]);
            bounder.enter(&frame, sides, compared(&[(a, b)]), &mut unlimited()).expect("no limits");
            (bound_of(&mut bounder, &frame, (a, b)), bounder.sharpened.len())
        };
        let ((some, chosen), (all, _)) = (bound(0), bound(usize::MAX));
        assert_eq!(bound(0).0, some, "seed {seed}: another time");
        assert!(some <= all + 1e-9, "seed {seed}: {some} is above {all} of all");
        for _ in 0..20 {
            let inputs = point(&sides, &mut random);
            let Some(value) = difference_above(&network, &inputs, a, b) else { continue };
            assert!(exact(some) <= value, "seed {seed}: {some} is above {value}");
        }
        sharpened += usize::from(chosen > 0);
        positive += usize::from(some > 0.0);
        better += usize::from(all > some + 1e-9);
    }
    assert!(sharpened > 20 && positive > 10 && better > 0, "{sharpened} {positive} {better}");
}

/// Layers of maxima that functions and other maxima read, wider than the input.
fn nested_maxima(random: &mut Random) -> Network {
    let mut builder = NetworkBuilder::new(3).expect("inputs");
    let mut layer = vec![builder.input()];
    for _ in 0..2 {
        let mut sums = Vec::new();
        for _ in 0..5 {
            let input = layer[random.below(layer.len())];
            sums.push(affine(&mut builder, input, (4, 0.5), random));
        }
        let pool = |random: &mut Random, of: &[NodeId]| {
            (0..2 + random.below(2)).map(|_| of[random.below(of.len())]).collect::<Vec<_>>()
        };
        let maxima: Vec<NodeId> =
            (0..4).map(|_| builder.max(pool(random, &sums)).expect("of one width")).collect();
        layer = (0..3)
            .map(|_| match random.below(3) {
                0 => builder.max(pool(random, &maxima)).expect("of one width"),
                1 => {
                    let greatest = builder.max(pool(random, &maxima)).expect("of one width");
                    builder.relu(greatest)
                }
                _ => builder.relu(maxima[random.below(maxima.len())]),
            })
            .collect();
    }
    let output = builder.concat(layer).expect("parts");
    builder.finish(output, ElementType::F64)
}

#[test]
fn bounds_of_maxima_that_functions_read_hold() {
    let (mut finite, mut positive) = (0, 0);
    for seed in 0..if policert_testkit::slow_tests() { 5000 } else { 200 } {
        let mut random = Random::new(seed);
        let network = nested_maxima(&mut random);
        let mut bounder = Bounder::new(Program::new(&network));
        let region = IntBox::new(vec![IntInterval::new(-3, 3); 3]);
        let frame = frame(bounder.program(), &region);
        // What one part leaves behind must not matter in the next one.
        for _ in 0..4 {
            let sides = part(&region, &mut random);
            let own = self::frame(bounder.program(), &sides);
            let pairs = all_pairs(12);
            bounder.many = if random.below(2) == 0 { 0 } else { usize::MAX };
            let box_of = (&own.lo[..], &own.hi[..]);
            bounder.enter(&frame, box_of, compared(&pairs), &mut unlimited()).expect("no limits");
            let mut bounds = Vec::new();
            let visit = &mut |d: ScoreDifference<'_>| bounds.push((d.greater, d.lesser, d.lower));
            bounder.differences(&frame, &pairs, &mut unlimited(), visit).expect("no limits");
            for _ in 0..6 {
                let inputs = point(&sides, &mut random);
                for &(a, b, lower) in &bounds {
                    let Some(value) = difference_above(&network, &inputs, a, b) else { continue };
                    assert!(exact(lower) <= value, "seed {seed}: {lower} is above {value}");
                    finite += 1;
                    positive += usize::from(lower > 0.0);
                }
            }
        }
    }
    assert!(finite > 100_000 && positive > 5_000, "{finite} {positive}");
}

#[test]
fn a_maximum_passes_a_form_on_to_one_source_alone() {
    let mut random = Random::new(3);
    let mut builder = NetworkBuilder::new(4).expect("inputs");
    let mut sources = Vec::new();
    for _ in 0..12 {
        let entries = (0..8).map(|_| random.unit()).collect();
        let matrix = Matrix::new(2, 4, entries).expect("fits");
        let sum = builder.affine(builder.input(), matrix, vec![1.0; 2]).expect("finite");
        sources.push(builder.relu(sum));
    }
    let greatest = builder.max(sources.clone()).expect("of one width");
    let total = builder.add(sources.clone()).expect("of one width");
    let output = builder.concat(vec![total, greatest]).expect("parts");
    let network = builder.finish(output, ElementType::F64);
    let mut bounder = Bounder::new(Program::new(&network));
    let frame = frame(bounder.program(), &IntBox::new(vec![IntInterval::new(0, 1); 4]));
    bounder
        .enter(&frame, (&frame.lo, &frame.hi), compared(&all(&bounder)), &mut unlimited())
        .expect("no limits");
    let output = bounder.program().output;
    let mut passed = |element: usize, factor: f64| {
        let form: Form = smallvec![FormTerm { element, factor }];
        let mut passed = (0, f64::NAN);
        let visit = &mut |_: usize, lower: f64, plane: Plane<'_>| {
            let has = |source: &&NodeId| (0..2).any(|i| plane.effect(source.index(), i) != 0.0);
            passed = (sources.iter().filter(has).count(), lower);
        };
        bounder.planes(&frame, output, &[form], &mut unlimited(), visit).expect("no limits");
        passed
    };
    // What the sum left in other sources is not taken for what the maximum says.
    assert_eq!(passed(0, 1.0).0, 12);
    assert_eq!(passed(2, 1.0).0, 1);
    // From above the maximum is a number unless one source is the greatest everywhere.
    assert_eq!(passed(2, -1.0).0, 0);
    assert_eq!(passed(0, -1.0).0, 12);
    let (sources_left, lower) = passed(3, -1.0);
    assert!(sources_left == 0 && lower.is_finite() && lower < 0.0);
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
    bounder
        .enter(&frame, (&frame.lo, &frame.hi), compared(&all(&bounder)), &mut unlimited())
        .expect("no limits");
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
    bounder
        .enter(&frame, (&frame.lo, &frame.hi), compared(&all(&bounder)), &mut unlimited())
        .expect("no limits");
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
