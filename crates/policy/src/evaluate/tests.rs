//! Double precision stays within the error bound.

use policert_numeric::{IntBox, IntInterval, Rational};
use proptest::prelude::*;
use proptest::strategy::ValueTree;

use super::*;
use crate::matrix::Matrix;
use crate::network::generate::{Functions, NetworkKind, Tape, network, reference_scores, tape};
use crate::network::{ElementType, NetworkBuilder};
use crate::precise::precise_scores;

fn any_kind() -> impl Strategy<Value = NetworkKind> {
    (any::<bool>(), Functions::rational(), any::<bool>())
        .prop_map(|(wild, functions, branching)| NetworkKind { wild, functions, branching })
}

/// The box around a few points, and the points.
fn points() -> impl Strategy<Value = Vec<Vec<i64>>> {
    let size = prop_oneof![Just(20i64), Just(1 << 20), Just(i64::MAX)];
    (size, 1usize..4).prop_flat_map(|(size, width)| {
        prop::collection::vec(prop::collection::vec(-size..size, width), 1..12)
    })
}

fn box_around(points: &[Vec<i64>]) -> IntBox {
    let sides = (0..points[0].len()).map(|k| {
        let values = points.iter().map(|point| point[k]);
        let (lo, hi) = (values.clone().min(), values.max());
        IntInterval::new(lo.expect("points"), hi.expect("points"))
    });
    IntBox::new(sides.collect())
}

/// The scores of all points, by each of the [`evaluators`].
#[expect(clippy::cast_precision_loss, reason = "as the evaluation does")]
fn evaluate(network: &Network, points: &[Vec<i64>]) -> Vec<Vec<f64>> {
    let inputs: Vec<f64> = points.iter().flatten().map(|&x| x as f64).collect();
    evaluators(network)
        .into_iter()
        .flat_map(|mut evaluator| {
            let mut scores = Vec::new();
            evaluator.evaluate(&inputs, &mut scores);
            let rows = scores.chunks(network.output_width());
            rows.map(<[f64]>::to_vec).collect::<Vec<_>>()
        })
        .collect()
}

/// For the processor at hand, and for any processor.
fn evaluators(network: &Network) -> [Evaluator; 2] {
    let native = Evaluator::new(network);
    let plain = Evaluator { arch: Arch::Scalar, ..native.clone() };
    [native, plain]
}

/// The number of outputs with a finite bound, and the number of those whose bound is 0.
fn check_bound(network: &Network, points: &[Vec<i64>]) -> Result<(usize, usize), TestCaseError> {
    let bound = ErrorBound::over(network, &box_around(points));
    let (mut finite, mut exact) = (0, 0);
    for (scores, point) in evaluate(network, points).iter().zip(points.iter().cycle()) {
        let expected = reference_scores(network, point);
        let at_point = ErrorBound::over(network, &IntBox::point(point));
        for i in 0..scores.len() {
            prop_assert!(bound.scores()[i].contains_exact(&expected[i]));
            for radius in [bound.radii()[i], at_point.radii()[i]] {
                if radius < f64::INFINITY {
                    let score = Rational::from_f64(scores[i]);
                    let error = (score.expect("finite") - &expected[i]).abs();
                    let radius = Rational::from_f64(radius).expect("finite");
                    prop_assert!(error <= radius, "{error} > {radius}");
                    finite += 1;
                    exact += usize::from(radius.is_zero());
                }
            }
        }
    }
    Ok((finite, exact))
}

proptest! {
    #[test]
    fn scores_are_within_the_bound(mut tape in tape(), kind in any_kind(), points in points()) {
        check_bound(&network(&mut tape, points[0].len(), kind), &points)?;
    }

    #[test]
    fn scores_of_smooth_networks_are_within_the_bound(
        mut tape in tape(),
        points in points(),
        wild in any::<bool>(),
    ) {
        let kind = NetworkKind { wild, functions: Functions::Smooth, branching: true };
        let network = network(&mut tape, points[0].len(), kind);
        let bound = ErrorBound::over(&network, &box_around(&points));
        for (scores, point) in evaluate(&network, &points).iter().zip(points.iter().cycle()) {
            let precise = precise_scores(&network, point, 200).expect("enclosed");
            for (i, enclosure) in precise.scores().iter().enumerate() {
                let range = bound.scores()[i];
                prop_assert!(range.intersection(enclosure.to_interval()).is_some());
                if bound.radii()[i] < f64::INFINITY {
                    let score = Rational::from_f64(scores[i]).expect("finite");
                    let radius = Rational::from_f64(bound.radii()[i]).expect("finite");
                    prop_assert!((&score - &radius) <= enclosure.upper());
                    prop_assert!((&score + &radius) >= enclosure.lower());
                }
            }
        }
    }

    #[test]
    fn batches_agree_with_single_inputs(mut tape in tape(), points in points()) {
        let kind = NetworkKind { wild: true, functions: Functions::Smooth, branching: true };
        let network = network(&mut tape, points[0].len(), kind);
        let together = evaluate(&network, &points);
        for (point, scores) in points.iter().zip(together) {
            let single = evaluate(&network, std::slice::from_ref(point));
            let bits = |scores: &[f64]| -> Vec<u64> { scores.iter().map(|s| s.to_bits()).collect() };
            prop_assert_eq!(bits(&single[0]), bits(&scores));
        }
    }
}

/// The bound is finite and 0 often enough for the tests above to mean something.
#[test]
fn bounds_are_useful() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut finite, mut exact, mut all) = (0, 0, 0);
    for _ in 0..200 {
        let draw = |runner: &mut proptest::test_runner::TestRunner| -> Tape {
            tape().new_tree(runner).expect("a tape").current()
        };
        let points = vec![vec![3, -4], vec![7, 0]];
        let kind = NetworkKind { wild: false, functions: Functions::Linear, branching: true };
        let network = network(&mut draw(&mut runner), 2, kind);
        let counts = check_bound(&network, &points).expect("within the bound");
        (finite, exact) = (finite + counts.0, exact + counts.1);
        // Over the box and at each point, by both evaluators.
        all += 4 * points.len() * network.output_width();
    }
    assert!(finite == all && exact * 4 > all, "{finite} and {exact} of {all}");
}

#[test]
fn rounding_is_noticed() {
    let mut b = NetworkBuilder::new(1).expect("inputs");
    let weights = Matrix::new(2, 1, vec![0.1, 3.0]).expect("size");
    let x = b.affine(b.input(), weights, vec![0.3, 0.5]).expect("finite");
    let network = b.finish(x, ElementType::F64);
    let bound = ErrorBound::over(&network, &IntBox::new(vec![IntInterval::new(0, 10)]));
    assert!(bound.radii()[0] > 0.0 && bound.radii()[0] < 1e-15);
    assert!(bound.radii()[1] <= 0.0);
    let wide = ErrorBound::over(&network, &IntBox::new(vec![IntInterval::ALL]));
    assert_eq!(wide.radii(), [f64::INFINITY; 2]);
}

#[test]
fn overflow_is_noticed() {
    let mut b = NetworkBuilder::new(1).expect("inputs");
    let big = |entries: &[f64]| Matrix::new(1, 1, entries.to_vec()).expect("size");
    let x = b.affine(b.input(), big(&[1e200]), vec![0.0]).expect("finite");
    let x = b.affine(x, big(&[-1e200]), vec![0.0]).expect("finite");
    // The overflowing value is −∞, which ReLU would hide.
    let x = b.relu(x);
    let network = b.finish(x, ElementType::F64);
    let bound = ErrorBound::over(&network, &IntBox::new(vec![IntInterval::new(1, 2)]));
    assert_eq!(bound.radii(), [f64::INFINITY]);
}
