//! Enclosures contain the exact scores.

use proptest::prelude::*;

use super::*;
use crate::matrix::Matrix;
use crate::network::generate::{Functions, NetworkKind, network, reference_scores, tape};
use crate::network::{ElementType, NetworkBuilder};

proptest! {
    #[test]
    fn contain_the_exact_scores(
        mut tape in tape(),
        inputs in prop::collection::vec(-20i64..20, 1..4),
        bits in 20usize..300,
        wild in any::<bool>(),
    ) {
        let kind = NetworkKind { wild, functions: Functions::Linear, branching: true };
        let network = network(&mut tape, inputs.len(), kind);
        let scores = precise_scores(&network, &inputs, bits).expect("enclosed");
        let expected = reference_scores(&network, &inputs);
        for (enclosure, exact) in scores.scores().iter().zip(&expected) {
            prop_assert!(enclosure.contains(exact));
        }
        for a in 0..expected.len() {
            for b in 0..expected.len() {
                if let Some(order) = scores.compare(a, b) {
                    prop_assert_eq!(order, expected[a].cmp(&expected[b]));
                }
            }
        }
    }

    #[test]
    fn contain_the_exact_scores_at_rationals(
        mut tape in tape(),
        inputs in prop::collection::vec((-20i64..20, 1i64..9), 1..4),
        bits in 20usize..300,
    ) {
        let kind = NetworkKind { wild: false, functions: Functions::Linear, branching: true };
        let network = network(&mut tape, inputs.len(), kind);
        let inputs: Vec<Rational> =
            inputs.iter().filter_map(|&(num, den)| Rational::new(num, den)).collect();
        let scores = precise_scores_at(&network, &inputs, bits).expect("enclosed");
        let exact = crate::ExactEvaluator::new(&network).expect("piecewise linear");
        for (enclosure, exact) in scores.scores().iter().zip(&exact.scores_at(&inputs)) {
            prop_assert!(enclosure.contains(exact));
        }
    }

    #[test]
    fn enclosures_of_smooth_networks_overlap_and_shrink(
        mut tape in tape(),
        inputs in prop::collection::vec(-20i64..20, 1..4),
    ) {
        let kind = NetworkKind { wild: false, functions: Functions::Smooth, branching: true };
        let network = network(&mut tape, inputs.len(), kind);
        let coarse = precise_scores(&network, &inputs, 60).expect("enclosed");
        let fine = precise_scores(&network, &inputs, 240).expect("enclosed");
        for (c, f) in coarse.scores().iter().zip(fine.scores()) {
            prop_assert!(c.lower() <= f.upper() && f.lower() <= c.upper());
            let width = f.upper() - f.lower();
            prop_assert!(width <= Rational::integer(2).pow(-120).expect("defined"));
        }
    }
}

#[test]
fn equal_rows_are_equal_scores() {
    let mut b = NetworkBuilder::new(2).expect("inputs");
    let x = b.tanh(b.input());
    let weights = Matrix::new(3, 2, vec![0.3, 0.7, 0.3, 0.7, 0.3, 0.8]).expect("size");
    let x = b.affine(x, weights, vec![0.1; 3]).expect("finite");
    let network = b.finish(x, ElementType::F64);
    let scores = precise_scores(&network, &[1, 2], 64).expect("enclosed");
    assert_eq!(scores.compare(0, 1), Some(Ordering::Equal));
    assert_eq!(scores.compare(0, 2), Some(Ordering::Less));
    assert_eq!(scores.compare(2, 1), Some(Ordering::Greater));
}
