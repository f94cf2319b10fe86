//! Exact scores against plain rational evaluation.

use proptest::prelude::*;

use super::*;
use crate::network::generate::{Kind, network, reference_scores, tape};
use crate::network::{ElementType, NetworkBuilder};

proptest! {
    #[test]
    fn agrees_with_plain_rationals(
        mut tape in tape(),
        inputs in prop_oneof![
            prop::collection::vec(-20i64..20, 1..4),
            prop::collection::vec(any::<i64>(), 1..4),
        ],
        wild in any::<bool>(),
    ) {
        let kind = Kind { wild, smooth: false, branching: true };
        let network = network(&mut tape, inputs.len(), kind);
        let exact = ExactEvaluator::new(&network).expect("piecewise linear");
        let scores = exact.scores(&inputs);
        let expected = reference_scores(&network, &inputs);
        prop_assert_eq!(scores.to_rationals(), expected.clone());
        for a in 0..expected.len() {
            for b in 0..expected.len() {
                prop_assert_eq!(scores.compare(a, b), expected[a].cmp(&expected[b]));
            }
        }
    }
}

/// Layers whose sums leave 64 and then 128 bits.
#[test]
fn machine_integers_give_way_to_big_ones() {
    let mut b = NetworkBuilder::new(1).expect("inputs");
    let mut x = b.input();
    for _ in 0..8 {
        let weights = Matrix::new(1, 1, vec![1.0 + f64::EPSILON]).expect("size");
        x = b.affine(x, weights, vec![f64::EPSILON]).expect("finite");
        x = b.relu(x);
    }
    let network = b.finish(x, ElementType::F64);
    let exact = ExactEvaluator::new(&network).expect("piecewise linear");
    for input in [i64::MAX, 1, 0, -1, i64::MIN] {
        let scores = exact.scores(&[input]);
        assert_eq!(scores.to_rationals(), reference_scores(&network, &[input]));
    }
}

#[test]
fn smooth_networks_have_no_exact_scores() {
    let mut b = NetworkBuilder::new(1).expect("inputs");
    let x = b.tanh(b.input());
    assert!(ExactEvaluator::new(&b.finish(x, ElementType::F64)).is_none());
}
