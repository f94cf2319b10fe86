//! Exact scores against plain rational evaluation.

use proptest::prelude::*;

use super::*;
use crate::network::generate::{
    Functions, NetworkKind, network, reference_scores, reference_values, tape,
};
use crate::network::{ElementType, NetworkBuilder};

proptest! {
    #[test]
    fn agrees_with_plain_rationals(
        mut tape in tape(),
        inputs in prop_oneof![
            prop::collection::vec(-20i64..20, 1..4),
            prop::collection::vec(any::<i64>(), 1..4),
        ],
        (wild, functions) in (any::<bool>(), Functions::rational()),
    ) {
        let kind = NetworkKind { wild, functions, branching: true };
        let network = network(&mut tape, inputs.len(), kind);
        let Some(exact) = ExactEvaluator::new(&network) else {
            prop_assert_eq!(functions, Functions::Rational);
            return Ok(());
        };
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

proptest! {
    #[test]
    fn rational_inputs_and_pieces_agree_with_plain_rationals(
        mut tape in tape(),
        inputs in prop::collection::vec((-40i64..40, 1i64..13), 1..4),
        others in prop::collection::vec((-40i64..40, 1i64..13), 4),
        wild in any::<bool>(),
    ) {
        let kind = NetworkKind { wild, functions: Functions::Linear, branching: true };
        let network = network(&mut tape, inputs.len(), kind);
        let exact = ExactEvaluator::new(&network).expect("piecewise linear");
        let point = |parts: &[(i64, i64)]| -> Vec<Rational> {
            parts.iter().map(|&(num, den)| Rational::new(num, den).expect("a number")).collect()
        };
        let there = point(&others[..inputs.len()]);
        let inputs = point(&inputs);
        let expected = reference_values(&network, &inputs);
        prop_assert_eq!(&exact.scores_at(&inputs), &expected[network.output().index()]);
        // On the pieces of the point itself the values are the same, and affine everywhere.
        let pieces = |node: usize, element: usize| -> i64 {
            let at = |input: NodeId| &expected[input.index()][element];
            let is_below = |x: &Rational, bound: f64| *x < Rational::from_f64(bound).expect("finite");
            match &network.nodes()[node].op {
                Op::Pointwise { input, activation: Activation::Staircase(staircase) } => {
                    staircase.of(at(*input)).to_i64().expect("small")
                }
                Op::Pointwise { input, activation } => {
                    activation.bends().filter(|&bend| !is_below(at(*input), bend)).map(|_| 1).sum()
                }
                Op::Max { inputs } => {
                    let values = (0..).zip(inputs.iter().map(|&input| at(input)));
                    values.max_by_key(|(_, value)| *value).map_or(0, |(source, _)| source)
                }
                _ => unreachable!("not piecewise"),
            }
        };
        prop_assert_eq!(&exact.values_on_pieces(&inputs, &pieces), &expected);
        let half = Rational::new(1, 2).expect("a number");
        let middle: Vec<Rational> = inputs.iter().zip(&there).map(|(a, b)| (a + b) * &half).collect();
        let values = [inputs, there, middle].map(|at| exact.values_on_pieces(&at, &pieces));
        for ((a, b), m) in values[0].iter().zip(&values[1]).zip(&values[2]) {
            for ((a, b), m) in a.iter().zip(b).zip(m) {
                prop_assert_eq!(&((a + b) * &half), m);
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
