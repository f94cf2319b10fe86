//! The oracle over the reals against all combinations of linear pieces.

use std::iter::zip;
use std::time::Duration;

use policert_engine_api::{CancelFlag, Limits};
use policert_numeric::simplex::{Feasibility, SimplexRow, feasible_point};
use policert_policy::{Activation, Network, NetworkBuilder, Op};
use policert_testkit::slow_tests;

use super::*;
use crate::generator::{Random, network};

fn exactly(value: f64) -> Rational {
    Rational::from_f64(value).expect("finite")
}

fn ratio(num: i64, den: i64) -> Rational {
    Rational::new(num, den).expect("a number")
}

/// Node, element, and for each of its linear pieces the bounds of the argument.
type Pieces = (usize, usize, Vec<(Option<f64>, Option<f64>)>);

/// A question about a network whose input k reads variable k.
struct Question {
    network: Network,
    inequalities: Vec<LinearInequality>,
}

impl Question {
    fn dimensions(&self) -> usize {
        self.network.input_width()
    }

    /// The values of a point and its scores; none for a network that is not made of pieces.
    fn values(&self, point: &[Rational]) -> Option<Vec<Rational>> {
        let scores = ExactEvaluator::new(&self.network)?.scores_at(point);
        Some(point.iter().cloned().chain(scores).collect())
    }

    fn satisfied_at(&self, point: &[Rational]) -> Option<bool> {
        let values = self.values(point)?;
        Some(self.inequalities.iter().all(|inequality| inequality.holds(&values)))
    }

    /// A small box, and inequalities many of which hold with equality at some point.
    fn random(random: &mut Random) -> Self {
        let dimensions = 1 + random.below(4);
        let outputs = 1 + random.below(4);
        let network = network(dimensions, outputs, random);
        let mut inequalities = Vec::new();
        let mut point = Vec::new();
        for variable in 0..dimensions {
            let (lo, width) = (ratio(random.int(-8, 6), 2), ratio(random.int(0, 9), 3));
            let hi = &lo + &width;
            point.push(&lo + &(&width * &ratio(random.int(0, 4), 4)));
            let strict = random.chance(10);
            let terms = |factor: Rational| [(variable, factor)];
            inequalities.push(LinearInequality::new(terms(Rational::ONE), hi, strict));
            inequalities.push(LinearInequality::new(terms(-Rational::ONE), -lo, false));
        }
        let mut question = Self { network, inequalities };
        let values = question.values(&point);
        for _ in 0..1 + random.below(3) {
            let of_scores = random.chance(80);
            let first = if of_scores { dimensions } else { 0 };
            let count = if of_scores { outputs } else { dimensions };
            let mut terms: Vec<(usize, Rational)> = (0..1 + random.below(2))
                .map(|_| (first + random.below(count), ratio(random.int(-2, 2), 1)))
                .collect();
            if random.chance(10) {
                terms.push((random.below(dimensions), ratio(random.int(-2, 2), 3)));
            }
            let upper = match &values {
                Some(values) if random.chance(70) => {
                    let sum: Rational = terms.iter().map(|(v, c)| c * &values[*v]).sum();
                    // As it is at the point, or a hair's breadth from it.
                    match random.below(4) {
                        0 => &sum - &ratio(1, 1 << 40),
                        1 => &sum + &ratio(1, 1 << 40),
                        _ => sum,
                    }
                }
                _ => ratio(random.int(-6, 6), 2),
            };
            let inequality = LinearInequality::new(terms, upper, random.chance(40));
            question.inequalities.push(inequality);
        }
        question
    }

    /// Returns whether there is a point, by all combinations of linear pieces; `None` if there are
    /// too many.
    fn by_pieces(&self) -> Option<bool> {
        let exact = ExactEvaluator::new(&self.network)?;
        let pieces: Vec<Pieces> = self.pieces()?;
        let combinations: usize = pieces.iter().map(|(.., pieces)| pieces.len()).product();
        (0..combinations)
            .map(|mut number| {
                let chosen: Vec<usize> = pieces
                    .iter()
                    .map(|(.., pieces)| {
                        let piece = number % pieces.len();
                        number /= pieces.len();
                        piece
                    })
                    .collect();
                self.satisfiable_on(&exact, &pieces, &chosen)
            })
            .reduce(|a, b| a || b)
    }

    /// The pieces of all elements; none if there are too many combinations.
    fn pieces(&self) -> Option<Vec<Pieces>> {
        let mut all = Vec::new();
        let mut combinations = 1usize;
        for (at, node) in self.network.nodes().iter().enumerate() {
            let pieces: Vec<(Option<f64>, Option<f64>)> = match &node.op {
                Op::Pointwise { activation, .. } if activation.is_piecewise_linear() => {
                    let bends: Vec<f64> = activation.bends().collect();
                    let below = std::iter::once(None).chain(bends.iter().copied().map(Some));
                    let above = bends.iter().copied().map(Some).chain([None]);
                    below.zip(above).collect()
                }
                Op::Max { .. } | Op::Pointwise { .. } => return None,
                _ => continue,
            };
            for element in 0..node.width {
                combinations = combinations.checked_mul(pieces.len())?;
                all.push((at, element, pieces.clone()));
            }
        }
        (combinations <= 128).then_some(all)
    }

    fn satisfiable_on(&self, exact: &ExactEvaluator, pieces: &[Pieces], chosen: &[usize]) -> bool {
        let piece = |node: usize, element: usize| {
            let at = pieces.iter().position(|(n, e, _)| (*n, *e) == (node, element));
            at.map_or(0, |at| chosen[at])
        };
        let dimensions = self.dimensions();
        let mut at = vec![Rational::ZERO; dimensions];
        let origin = exact.values_on_pieces(&at, &piece);
        let units: Vec<_> = (0..dimensions)
            .map(|variable| {
                at[variable] = Rational::ONE;
                let values = exact.values_on_pieces(&at, &piece);
                at[variable] = Rational::ZERO;
                values
            })
            .collect();
        let mut rows = Vec::new();
        let mut push = |terms: &[(usize, usize, Rational)],
                        own: &[(usize, Rational)],
                        upper: &Rational,
                        strict| {
            let mut coefficients = vec![Rational::ZERO; dimensions];
            let mut upper = upper.clone();
            for (variable, factor) in own {
                coefficients[*variable] = &coefficients[*variable] + factor;
            }
            for (node, element, factor) in terms {
                let base = &origin[*node][*element];
                upper = &upper - &(factor * base);
                for (coefficient, values) in zip(&mut coefficients, &units) {
                    *coefficient = &*coefficient + &(factor * &(&values[*node][*element] - base));
                }
            }
            rows.push(SimplexRow { coefficients, upper, strict });
        };
        for ((node, element, bounds), &chosen) in zip(pieces, chosen) {
            let source = self.network.nodes()[*node].op.inputs()[0].index();
            let (lo, hi) = bounds[chosen];
            if let Some(lo) = lo {
                push(&[(source, *element, -Rational::ONE)], &[], &-exactly(lo), false);
            }
            if let Some(hi) = hi {
                push(&[(source, *element, Rational::ONE)], &[], &exactly(hi), false);
            }
        }
        let output = self.network.output().index();
        for inequality in &self.inequalities {
            let terms = inequality.terms.iter();
            let (own, scores): (Vec<_>, Vec<_>) = terms.cloned().partition(|t| t.0 < dimensions);
            let scores: Vec<_> =
                scores.into_iter().map(|(v, c)| (output, v - dimensions, c)).collect();
            push(&scores, &own, &inequality.upper, inequality.strict);
        }
        let wide = ratio(1000, 1);
        let lo = vec![-wide.clone(); dimensions];
        let hi = vec![wide; dimensions];
        matches!(feasible_point(&lo, &hi, &rows, || true), Feasibility::Feasible(_))
    }
}

#[test]
fn agrees_with_all_combinations_of_pieces() {
    let cases = if slow_tests() { 30_000 } else { 2_000 };
    let (mut sat, mut unsat, mut open, mut compared) = (0, 0, 0, 0);
    // The last one has a bend before functions that the scores do not depend on any more.
    for seed in (0..cases).chain([43_427]) {
        let mut random = Random::new(seed);
        let question = Question::random(&mut random);

        let dimensions = question.dimensions();
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
            open += 1;
            continue;
        };
        let expected = question.by_pieces();
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
                open += 1;
                let smooth = !question.network.is_piecewise_linear();
                assert!(smooth, "seed {seed}: {reason}");
            }
        }
        compared += usize::from(expected.is_some());
    }
    assert!(sat * 4 > cases && unsat * 4 > cases, "{sat} {unsat} {open}");
    assert!(
        open * 20 < cases && compared * 3 > usize::try_from(cases).expect("small"),
        "{open} {compared}"
    );
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
