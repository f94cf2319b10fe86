//! The oracle over the reals against all combinations of linear pieces.

mod question;

use std::iter::zip;
use std::time::Duration;

use policert_engine_api::{CancelFlag, Limits};
use policert_policy::activation::{Jump, Staircase};
use policert_policy::{Activation, Network, NetworkBuilder};
use policert_testkit::slow_tests;

use super::search::RealSearch;
use super::split::MANY_VARIABLES;
use super::*;
use crate::bound::Bend;
use crate::generator::{Random, network};
use question::Question;

fn exactly(value: f64) -> Rational {
    Rational::from_f64(value).expect("finite")
}

fn ratio(num: i64, den: i64) -> Rational {
    Rational::new(num, den).expect("a number")
}

#[test]
fn agrees_with_all_combinations_of_pieces() {
    let cases = if slow_tests() { 30_000 } else { 2_000 };
    // The last one has a bend before functions that the scores do not depend on any more.
    compare_with_pieces((0..cases).chain([43_427]), 128, |random| 1 + random.below(4));
}

#[test]
fn agrees_with_all_combinations_of_pieces_of_many_inputs() {
    // Exact arithmetic is slow there.
    let cases = if slow_tests() { 1_000 } else { 60 };
    compare_with_pieces(0..cases, 8, |random| MANY_VARIABLES + 1 + random.below(3));
}

fn compare_with_pieces(
    seeds: impl Iterator<Item = u64>,
    most: usize,
    dimensions: impl Fn(&mut Random) -> usize,
) {
    let (mut cases, mut with_steps, mut open_with_steps, mut beyond) = (0, 0, 0, 0);
    let (mut sat, mut unsat, mut open, mut compared) = (0, 0, 0, 0);
    for seed in seeds {
        cases += 1;
        let mut random = Random::new(seed);
        let dimensions = dimensions(&mut random);
        let question = Question::random(&mut random, dimensions);
        with_steps += usize::from(question.has_steps());
        let mut oracle = RealOracle::new(
            &question.network,
            (0..dimensions).collect(),
            dimensions,
            &mut Budget::unlimited(),
        )
        .expect("a network");
        let limits = Limits { time: Some(Duration::from_secs(1)), ..Limits::default() };
        let mut budget = Budget::new(limits, CancelFlag::default());
        let Ok(answer) = oracle.decide(&question.inequalities, &mut budget) else {
            // Weights between 10⁻³¹¹ and 10³⁰: bounds refute nothing, exact numbers are long.
            let count = if question.has_steps() { &mut open_with_steps } else { &mut open };
            *count += 1;
            continue;
        };
        let expected = question.by_pieces(most);
        match &answer {
            RealAnswer::Sat(point) => {
                sat += 1;
                assert_ne!(question.satisfied_at(point), Some(false), "seed {seed}");
                assert_ne!(expected, Some(false), "seed {seed}");
            }
            RealAnswer::Unsat => {
                unsat += 1;
                assert_ne!(expected, Some(true), "seed {seed}");
                for _ in 0..20 {
                    let point: Vec<Rational> =
                        (0..dimensions).map(|_| ratio(random.int(-24, 36), 6)).collect();
                    assert_ne!(question.satisfied_at(&point), Some(true), "seed {seed}");
                }
            }
            RealAnswer::Undecided(reason) => {
                let count = if question.has_steps() { &mut open_with_steps } else { &mut open };
                *count += 1;
                // Steps far from 0 are not counted.
                beyond += usize::from(question.has_steps() && oracle.has_pieces());
                assert!(!question.network.is_piecewise_linear(), "seed {seed}: {reason}");
            }
        }
        compared += usize::from(expected.is_some());
    }
    assert!(sat * 4 > cases && unsat * 4 > cases, "{sat} {unsat} {open}");
    assert!(open * 20 < cases && compared * 3 > cases, "{open} {compared} {cases}");
    // Many pieces, in less than a second.
    assert!(open_with_steps * 2 < with_steps, "{open_with_steps} {with_steps}");
    assert!(beyond * 20 <= with_steps, "{beyond} {with_steps}");
}

/// A jump belongs to one of its sides, also where bounds are attained only there.
#[test]
fn jumps_belong_to_one_side() {
    let half = ratio(1, 2);
    // The step of 2x, less 2x.
    let sawtooth = |staircase| {
        let mut builder = NetworkBuilder::new(1).expect("inputs");
        let all = |value: f64| vec![value];
        let twice = builder.scale(builder.input(), all(2.0), all(1.0), all(0.0)).expect("fits");
        let steps = builder.activation(twice, Activation::Staircase(staircase)).expect("finite");
        let opposite = builder.scale(twice, all(-1.0), all(1.0), all(0.0)).expect("fits");
        let output = builder.add(vec![steps, opposite]).expect("fits");
        finished(builder, output)
    };
    // The signs of x and of −x together, which is 0.
    let mut builder = NetworkBuilder::new(1).expect("inputs");
    let sign = Activation::Staircase(Staircase::Sign);
    let opposite = builder.scale(builder.input(), vec![-1.0], vec![1.0], vec![0.0]).expect("fits");
    let signs = [builder.input(), opposite].map(|x| builder.activation(x, sign).expect("finite"));
    let output = builder.add(signs.to_vec()).expect("fits");
    let signs = finished(builder, output);
    let (floor, round) = (sawtooth(Staircase::Floor), sawtooth(Staircase::Round));
    for (network, factor, upper, strict, is_sat) in [
        (&floor, 1, -Rational::ONE, false, false),
        (&floor, 1, ratio(1 - (1 << 40), 1 << 40), false, true),
        (&floor, -1, Rational::ZERO, true, false),
        (&floor, -1, Rational::ZERO, false, true),
        (&round, -1, -&half, false, true),
        (&round, -1, -&half, true, false),
        (&round, 1, -&half, false, true),
        (&round, 1, -&half, true, false),
        (&signs, -1, Rational::ZERO, true, false),
        (&signs, 1, Rational::ZERO, true, false),
        (&signs, 1, Rational::ZERO, false, true),
    ] {
        let (answer, parts) = asked(network, factor, upper.clone(), strict);
        let expected = if is_sat { "Sat" } else { "Unsat" };
        assert!(format!("{answer:?}").starts_with(expected), "{factor} {upper} {answer:?}");
        assert!(parts < 200, "{parts}");
    }
}

#[test]
fn bounds_are_needed() {
    let mut builder = NetworkBuilder::new(1).expect("inputs");
    let output = builder.relu(builder.input());
    let network = builder.finish(output, policert_policy::ElementType::F64);
    let mut oracle =
        RealOracle::new(&network, vec![0], 2, &mut Budget::unlimited()).expect("a network");
    let mut decide = |terms: &[(usize, i64, i64)]| {
        let inequality = |&(variable, factor, upper): &(usize, i64, i64)| {
            LinearInequality::new([(variable, ratio(factor, 1))], ratio(upper, 1), false)
        };
        let inequalities: Vec<LinearInequality> = terms.iter().map(inequality).collect();
        oracle.decide(&inequalities, &mut Budget::unlimited()).expect("no limits")
    };
    let unbounded = |variable| RealAnswer::Undecided(UndecidedReason::Unbounded { variable });
    assert_eq!(decide(&[(0, 1, 5)]), unbounded(0));
    // Nothing is said about variable 1; variable 2 is the score.
    let below_four = decide(&[(0, 1, 5), (0, -1, -4), (2, 1, 4)]);
    assert_eq!(below_four, RealAnswer::Sat(vec![ratio(4, 1), ratio(0, 1)]));
    assert_eq!(decide(&[(0, 1, 5), (0, -1, -4), (2, 1, 3)]), RealAnswer::Unsat);
    assert_eq!(decide(&[(0, 1, 5), (0, -1, -6)]), RealAnswer::Unsat);
}

/// Statistics and answer of a question about score 0 over the box [−1, 1]ⁿ: `factor · score ≤ upper`,
/// or `<`.
fn asked(network: &Network, factor: i64, upper: Rational, strict: bool) -> (RealAnswer, u64) {
    let dimensions = network.input_width();
    let mut oracle =
        RealOracle::new(network, (0..dimensions).collect(), dimensions, &mut Budget::unlimited())
            .expect("a network");
    let mut inequalities: Vec<LinearInequality> = (0..dimensions)
        .flat_map(|variable| [(variable, 1), (variable, -1)])
        .map(|(variable, sign)| {
            LinearInequality::new([(variable, ratio(sign, 1))], Rational::ONE, false)
        })
        .collect();
    let score = [(dimensions, ratio(factor, 1))];
    inequalities.push(LinearInequality::new(score, upper, strict));
    let answer = oracle.decide(&inequalities, &mut Budget::unlimited()).expect("no limits");
    (answer, oracle.statistics().parts)
}

fn finished(builder: NetworkBuilder, output: policert_policy::NodeId) -> Network {
    builder.finish(output, policert_policy::ElementType::F64)
}

#[test]
fn functions_that_bend_on_the_inputs_end() {
    for (lo, hi) in [(Some(0.0), None), (None, Some(0.5)), (Some(-0.5), Some(0.5))] {
        let mut builder = NetworkBuilder::new(1).expect("inputs");
        let output =
            builder.activation(builder.input(), Activation::clip(lo, hi)).expect("a range");
        let network = finished(builder, output);
        let greatest = ratio(if hi.is_some() { 1 } else { 2 }, 2);
        let (answer, parts) = asked(&network, -1, -&greatest, true);
        assert_eq!(answer, RealAnswer::Unsat, "more than {greatest}");
        assert!(parts < 10, "{parts}");
        let (answer, _) = asked(&network, -1, -&greatest, false);
        assert!(matches!(answer, RealAnswer::Sat(_)), "at least {greatest}");
    }
}

/// Pairs of neurons that cancel, those of a pair `shift` apart: the score is 0 everywhere.
fn cancelling(pairs: usize, inputs: usize) -> Network {
    let mut random = Random::new(5);
    let rows: Vec<f64> = (0..pairs * inputs).map(|_| random.unit()).collect();
    let bias: Vec<f64> = (0..pairs).map(|_| random.unit() / 2.0).collect();
    let mut builder = NetworkBuilder::new(inputs).expect("inputs");
    let twice = |numbers: &[f64]| [numbers, numbers].concat();
    let matrix = policert_policy::Matrix::new(2 * pairs, inputs, twice(&rows)).expect("fits");
    let sums = builder.affine(builder.input(), matrix, twice(&bias)).expect("finite");
    let hidden = builder.relu(sums);
    let weights = (0..2 * pairs).map(|at| if at < pairs { 1.0 } else { -1.0 }).collect();
    let matrix = policert_policy::Matrix::new(1, 2 * pairs, weights).expect("fits");
    let output = builder.affine(hidden, matrix, vec![0.0]).expect("finite");
    finished(builder, output)
}

#[test]
fn neurons_that_cancel_end() {
    // 12 pairs are more functions than those of a small network: the second search decides.
    for (pairs, inputs) in [(8, 2), (12, 2), (5, 4)] {
        let network = cancelling(pairs, inputs);
        let (answer, parts) = asked(&network, -1, Rational::ZERO, true);
        assert_eq!(answer, RealAnswer::Unsat, "{pairs} pairs");
        assert!(parts < 20_000, "{pairs} pairs: {parts}");
        let (answer, _) = asked(&network, -1, Rational::ZERO, false);
        assert!(matches!(answer, RealAnswer::Sat(_)), "{pairs} pairs");
    }
}

#[test]
fn a_network_is_prepared_within_its_budget() {
    let network = cancelling(8, 2);
    let new = |limits: Limits, flag: CancelFlag| {
        RealOracle::new(&network, vec![0, 1], 2, &mut Budget::new(limits, flag)).err()
    };
    let stopped = |error: Option<PrepareError>| match error {
        Some(PrepareError::Stopped(reason)) => Some(reason),
        _ => None,
    };
    let memory = Limits { memory: Some(1 << 20), ..Limits::default() };
    assert_eq!(stopped(new(memory, CancelFlag::default())), Some(StopReason::Memory));
    let flag = CancelFlag::default();
    flag.raise();
    assert_eq!(stopped(new(Limits::default(), flag)), Some(StopReason::Interrupted));
}

/// The answer for the box, where score `output` is at least the others, and the number of parts.
fn greatest(network: &Network, sides: &[(i64, i64)], output: usize) -> (RealAnswer, u64) {
    let dimensions = sides.len();
    let mut inequalities = Vec::new();
    for (variable, &(lo, hi)) in sides.iter().enumerate() {
        for (factor, upper) in [(1, hi), (-1, -lo)] {
            let terms = [(variable, ratio(factor, 1))];
            inequalities.push(LinearInequality::new(terms, ratio(upper, 1), false));
        }
    }
    for other in (0..network.output_width()).filter(|&other| other != output) {
        let terms = [(dimensions + other, Rational::ONE), (dimensions + output, -Rational::ONE)];
        inequalities.push(LinearInequality::new(terms, Rational::ZERO, false));
    }
    let mut oracle =
        RealOracle::new(network, (0..dimensions).collect(), dimensions, &mut Budget::unlimited())
            .expect("a network");
    let limits = Limits { time: Some(Duration::from_secs(60)), ..Limits::default() };
    let mut budget = Budget::new(limits, CancelFlag::default());
    let answer = oracle.decide(&inequalities, &mut budget).expect("an answer in time");
    (answer, oracle.statistics().parts)
}

/// Layers of weights and biases, with functions between them: ReLU, then tanh.
fn relu_then_tanh(layers: [(&[f64], &[f64]); 3]) -> Network {
    let [(weights, bias), ..] = layers;
    let mut builder = NetworkBuilder::new(weights.len() / bias.len()).expect("inputs");
    let mut node = builder.input();
    for (at, (weights, bias)) in layers.into_iter().enumerate() {
        let columns = weights.len() / bias.len();
        let matrix = policert_policy::Matrix::new(bias.len(), columns, weights.to_vec());
        node = builder.affine(node, matrix.expect("fits"), bias.to_vec()).expect("finite");
        node = match at {
            0 => builder.relu(node),
            1 => builder.tanh(node),
            _ => node,
        };
    }
    finished(builder, node)
}

#[test]
fn bends_before_a_smooth_function_are_split() {
    let network = relu_then_tanh([
        (
            &[-1.0, 2.0, 2.5, -3.0, 3.0, 2.5, -3.0, 1.5, 2.5, 2.0, -3.0, -1.0],
            &[6.0, -2.0, -4.0, 2.0],
        ),
        (
            &[
                -0.5, -1.5, 1.5, -1.0, 3.0, 1.0, -2.5, -0.5, 3.0, 1.0, -2.5, -0.5, 3.0, 2.0, -1.5,
                0.5,
            ],
            &[-3.0, -4.0, -4.0, 0.0],
        ),
        (&[-0.5, -3.0, -2.0, 2.0, 1.5, -0.5, 3.0, 0.5, 0.5, 2.5, -0.5, -1.0], &[0.0, -4.0, -6.0]),
    ]);
    // By cuts of sides alone these took more parts than could be waited for.
    for sides in [[(-3, 1), (-1, 2), (0, 1)], [(-3, 4), (-1, 4), (0, 1)]] {
        let (_, parts) = greatest(&network, &sides, 2);
        assert!(parts < 1000, "{sides:?}: {parts}");
    }
}

/// A search for `score 0 ≥ least` over the box [−1, 1]ⁿ.
fn search_for(network: &Network, least: Rational) -> (RealOracle, RealSearch) {
    let dimensions = network.input_width();
    let mut oracle =
        RealOracle::new(network, (0..dimensions).collect(), dimensions, &mut Budget::unlimited())
            .expect("a network");
    let mut inequalities: Vec<LinearInequality> = (0..dimensions)
        .flat_map(|variable| [(variable, 1), (variable, -1)])
        .map(|(variable, sign)| {
            LinearInequality::new([(variable, ratio(sign, 1))], Rational::ONE, false)
        })
        .collect();
    inequalities.push(LinearInequality::new([(dimensions, -Rational::ONE)], -least, false));
    let searches = oracle.searches(&[inequalities], &mut Budget::unlimited()).expect("no limits");
    let search = searches.open.into_iter().next().expect("open");
    (oracle, search)
}

#[test]
fn gradients_lead_where_no_random_point_is() {
    // Each of 40 inputs must be near the end that its weights say: Σ |x − end| small.
    let inputs = 40;
    let mut random = Random::new(3);
    let signs: Vec<f64> = (0..inputs).map(|_| if random.chance(50) { 1.0 } else { -1.0 }).collect();
    let diagonal = (0..inputs * inputs)
        .map(|at| if at / inputs == at % inputs { signs[at / inputs] * 0.75 } else { 0.0 });
    let mut builder = NetworkBuilder::new(inputs).expect("inputs");
    let matrix = policert_policy::Matrix::new(inputs, inputs, diagonal.collect()).expect("fits");
    // Flat for half of the points, and on one side of the centre.
    let sums = builder.affine(builder.input(), matrix, vec![-0.25; inputs]).expect("finite");
    let hidden = builder.relu(sums);
    let ones = policert_policy::Matrix::new(1, inputs, vec![1.0; inputs]).expect("fits");
    let output = builder.affine(hidden, ones, vec![0.0]).expect("finite");
    let network = finished(builder, output);
    let (mut oracle, search) = search_for(&network, ratio(399, 20));
    let budget = &mut Budget::unlimited();
    let at_random: Vec<f64> = (0..5_000 * inputs).map(|_| random.unit()).collect();
    let best = search.excesses(&mut oracle, &at_random, budget).expect("no limits");
    assert!(best.iter().all(|&excess| excess > 5.0), "none is near");
    for start in [vec![0.0; inputs], at_random[..inputs].to_vec()] {
        let end = search.descend(&mut oracle, &start, budget).expect("no limits");
        assert!(search.exactly(&mut oracle, &end).is_some(), "{end:?}");
    }
    // Nothing is split.
    let (answer, parts) = asked(&network, -1, -ratio(399, 20), false);
    assert!(matches!(answer, RealAnswer::Sat(_)));
    assert_eq!(parts, 1);
}

#[test]
fn gradients_are_differences() {
    for seed in 0..200 {
        let mut random = Random::new(seed);
        let inputs = 1 + random.below(5);
        let network = network(inputs, 2, &mut random).without_maxima().expect("a network");
        let program = Program::new(&network);
        let output = program.range(program.output);
        let point: Vec<f64> = (0..inputs).map(|_| 2.0 * random.unit()).collect();
        let values = program.values(&point);
        let mut gradient = vec![0.0; program.slots];
        gradient[output.start] = 1.0;
        program.gradient(&values, 0.0, &mut gradient);
        for input in 0..inputs {
            let step = 1e-6;
            let near = |step: f64| {
                let mut near = point.clone();
                near[input] += step;
                program.values(&near)[output.start]
            };
            let slope = (near(step) - near(-step)) / (2.0 * step);
            let sizes = values.iter().fold(1.0f64, |size, value| size.max(value.abs()));
            // Not where differences are lost, and not beside a bend.
            let one_sided = (near(step) - values[output.start]) / step;
            if sizes < 1e3 && (slope - one_sided).abs() < 1e-4 {
                let difference = (gradient[input] - slope).abs();
                assert!(difference < 1e-3 * (1.0 + slope.abs()), "seed {seed}: {slope}");
            }
        }
    }
}

#[test]
fn bounds_of_multipliers_are_below_all_points() {
    let mut refuted = 0;
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let dimensions = MANY_VARIABLES + 1;
        let network = network(dimensions, 1, &mut random);
        let (mut oracle, search) = search_for(&network, ratio(random.int(-8, 8), 2));
        let budget = &mut Budget::unlimited();
        let mut part = search.whole.clone();
        let (frame, none) = (search.frame.clone(), []);
        oracle.bounder.enter_part(&frame, &part.lo, &part.hi, &none, budget).expect("no limits");
        for (.., slot) in oracle.bounder.relaxed().into_iter().take(3) {
            let program = oracle.bounder.program();
            let node = program.node_of(slot);
            let element = slot - program.nodes[node].at;
            let (Some(Jump { at, is_below }), Some(slot)) =
                (oracle.bounder.bend(node, element), oracle.bounder.argument(node, element))
            else {
                continue;
            };
            let above = random.chance(50);
            let strict = above == is_below;
            part.bends.push(Bend { slot, at, above, strict, implied: false });
        }
        let bends = part.bends.clone();
        let entered = oracle.bounder.enter_part(&frame, &part.lo, &part.hi, &bends, budget);
        if !entered.expect("no limits") {
            continue;
        }
        let ascended = search.ascend(&oracle, &part, budget).expect("no limits");
        let row = search.mixed_row(&mut oracle, &part, &ascended.multipliers, budget);
        let Some(row) = row.expect("no limits") else { continue };
        refuted += usize::from(row.is_refuted(&part.lo, &part.hi));
        for _ in 0..50 {
            let point: Vec<f64> = (0..dimensions).map(|_| random.unit()).collect();
            let values = oracle.bounder.program().values(&point);
            let inside = bends.iter().all(|bend| {
                if bend.above { values[bend.slot] >= bend.at } else { values[bend.slot] <= bend.at }
            });
            let excess = search.excesses(&mut oracle, &point, budget).expect("no limits")[0];
            if inside && excess <= 0.0 {
                let left: f64 = zip(&row.slopes, &point).map(|(slope, x)| slope * x).sum();
                assert!(left <= row.upper + 1e-6 * (1.0 + row.upper.abs()), "seed {seed}");
            }
        }
    }
    assert!(refuted > 20, "{refuted}");
}

#[test]
fn small_networks_of_many_inputs_need_few_polytopes() {
    for seed in [0, 3, 7] {
        let mut random = Random::new(seed);
        let mut layer = |builder: &mut NetworkBuilder, node, rows: usize| {
            let columns = builder.width(node);
            let weights = (0..rows * columns).map(|_| random.unit()).collect();
            let matrix = policert_policy::Matrix::new(rows, columns, weights).expect("fits");
            let bias = (0..rows).map(|_| random.unit()).collect();
            builder.affine(node, matrix, bias).expect("finite")
        };
        let mut builder = NetworkBuilder::new(16).expect("inputs");
        let mut node = builder.input();
        for width in [6, 8] {
            let sums = layer(&mut builder, node, width);
            node = builder.relu(sums);
        }
        let output = layer(&mut builder, node, 1);
        let network = finished(builder, output);
        // The greatest value that a descent finds, and more.
        let (mut oracle, search) = search_for(&network, ratio(1000, 1));
        let budget = &mut Budget::unlimited();
        let greatest = (0..40).fold(f64::NEG_INFINITY, |greatest, _| {
            let start: Vec<f64> = (0..16).map(|_| random.unit()).collect();
            let end = search.descend(&mut oracle, &start, budget).expect("no limits");
            let excess = search.excesses(&mut oracle, &end, budget).expect("no limits")[0];
            greatest.max(1000.0 - excess)
        });
        let mut unsat = 0;
        for more in [0.01, 0.1, 0.5, 2.0] {
            let (mut oracle, mut search) = search_for(&network, exactly(greatest + more));
            let answer = loop {
                let answer = search.advance(&mut oracle, 16, budget).expect("no limits");
                if let Some(answer) = answer {
                    break answer;
                }
            };
            unsat += usize::from(answer == RealAnswer::Unsat);
            let RealStatistics { parts, polytopes, .. } = *oracle.statistics();
            let is_few = parts < 5_000 && polytopes * 20 <= parts + 40;
            assert!(is_few, "seed {seed}, {more}: {parts}, {polytopes}");
        }
        assert!(unsat > 0, "seed {seed}");
    }
}
