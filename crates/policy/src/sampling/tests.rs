//! Probabilities against those of the brute-force oracle.

use policert_model::{LabelId, VarId};
use policert_numeric::{IntBox, IntInterval};
use policert_testkit::oracle::softmax::softmax;
use proptest::prelude::*;

use super::*;
use crate::matrix::Matrix;
use crate::network::generate::{Functions, NetworkKind, network, reference_scores, tape};
use crate::network::{ElementType, Network, NetworkBuilder};
use crate::semantics::{ChoiceRule, Filter, PolicySemantics};
use crate::trees::{Ensemble, IntegerTrees, Tree, TreeNode};

const DOMAIN: IntInterval = IntInterval::new(-3, 3);

fn drawing(at_least: Option<&str>) -> PolicySemantics {
    let at_least = at_least.map(|text| text.parse().expect("a share"));
    PolicySemantics { choice: ChoiceRule::Sample, at_least, ..PolicySemantics::default() }
}

fn policy(network: Network, semantics: PolicySemantics) -> Policy {
    let inputs: Vec<VarId> = (0..network.input_width()).map(VarId::new).collect();
    let outputs = (0..network.output_width()).map(LabelId::new).collect();
    let domains = IntBox::new(vec![DOMAIN; inputs.len()]);
    Policy::new(network, inputs, outputs, semantics, &domains).expect("fits")
}

/// The policy with these constant scores.
fn constant(scores: &[f64], semantics: PolicySemantics) -> Policy {
    let mut b = NetworkBuilder::new(1).expect("inputs");
    let zero = Matrix::new(scores.len(), 1, vec![0.0; scores.len()]).expect("size");
    let x = b.affine(b.input(), zero, scores.to_vec()).expect("finite");
    policy(b.finish(x, ElementType::F64), semantics)
}

/// More than what the reference is wrong by.
fn slip() -> Rational {
    Rational::integer(2).pow(-300).expect("small")
}

proptest! {
    #[test]
    fn probabilities_lie_between_their_bounds(
        mut tape in tape(),
        point in prop::collection::vec(-4i64..5, 2),
        mask in prop::collection::vec(any::<bool>(), 5),
        share in 1i64..100,
    ) {
        let kind = NetworkKind { wild: false, functions: Functions::Linear, branching: true };
        let network = network(&mut tape, 2, kind);
        let scores = reference_scores(&network, &point);
        let competing: Vec<usize> = (0..scores.len()).filter(|&o| mask[o]).collect();
        prop_assume!(!competing.is_empty());
        let exact: Vec<Rational> = competing.iter().map(|&o| scores[o].clone()).collect();
        let exact = softmax(&exact);
        let share = format!("{share}/100");
        let policy = policy(network, drawing(Some(&share)));
        let drawn = policy.probabilities(&point, &competing);
        prop_assert!(drawn.rest.signum() >= 0 && drawn.rest < Rational::new(1, 1 << 40).expect("not 0"));
        for ((output, least), exact) in drawn.outputs.iter().zip(&exact) {
            prop_assert!(competing.contains(output));
            prop_assert!(least - &slip() <= *exact, "{least} {exact}");
            prop_assert!(*exact <= &(least + &drawn.rest) + &slip(), "{least} {exact}");
        }
        // What is at least the share is drawn.
        let share = share.parse::<Rational>().expect("a number");
        let filtered = PolicySemantics { filter: Filter::Applicable, ..policy.semantics() };
        let policy = self::policy(policy.network().expect("one").clone(), filtered);
        let choice = policy.chooser().choose(&point, &mask[..scores.len()]);
        let expected: Vec<usize> = competing
            .iter()
            .zip(&exact)
            .filter(|(_, exact)| **exact >= &share - &slip())
            .map(|(&output, _)| output)
            .collect();
        prop_assert!(!choice.is_undecided());
        prop_assert_eq!(choice.outputs(), expected.as_slice());
    }
}

#[test]
fn without_a_least_probability_all_that_compete_are_drawn() {
    let policy = constant(&[1e6, 0.0, -1e6], drawing(None));
    assert_eq!(policy.chooser().choose(&[0], &[]), Choice::Several([0, 1, 2].into()));
    assert!(policy.always_chooses());
    for (chosen, other) in [(0, 1), (2, 0)] {
        assert!(!policy.requires(chosen, other).is_excluded_by(f64::INFINITY));
    }
}

#[test]
fn probabilities_that_are_exactly_the_least_count() {
    let equal = constant(&[0.5, 0.5], drawing(Some("1/2")));
    assert_eq!(equal.chooser().choose(&[0], &[]), Choice::Several([0, 1].into()));
    let above = constant(&[0.5, 0.5], drawing(Some("0.5000000001")));
    assert_eq!(above.chooser().choose(&[0], &[]), Choice::Nothing);
    let nearly = constant(&[0.5, 0.5f64.next_up()], drawing(Some("1/2")));
    assert_eq!(nearly.chooser().choose(&[0], &[]), Choice::One(1));
}

#[test]
fn scores_that_cannot_be_told_apart_may_be_drawn() {
    // tanh(x) + tanh(-x) is 0, but no precision shows it.
    let mut b = NetworkBuilder::new(1).expect("inputs");
    let both = Matrix::new(2, 1, vec![0.5, -0.5]).expect("size");
    let x = b.affine(b.input(), both, vec![0.0; 2]).expect("finite");
    let x = b.tanh(x);
    let sum = Matrix::new(2, 2, vec![1.0, 1.0, 0.0, 0.0]).expect("size");
    let x = b.affine(x, sum, vec![0.0; 2]).expect("finite");
    let policy = policy(b.finish(x, ElementType::F64), drawing(Some("1/2")));
    let choice = policy.chooser().choose(&[1], &[]);
    assert!(choice.outputs().is_empty());
    assert_eq!(choice.possible(), [0, 1]);
    assert_eq!(policy.chooser().choose(&[0], &[]), Choice::Several([0, 1].into()));
}

#[test]
fn tiny_probabilities_are_positive() {
    let drawn = constant(&[0.0, -500.0], drawing(None)).probabilities(&[0], &[0, 1]);
    let tiny = drawn.outputs[1].1.to_f64();
    assert!((tiny / (-500.0f64).exp() - 1.0).abs() < 1e-10, "{tiny}");
}

#[test]
fn shares_of_trees_are_exact() {
    let leaf = |values: &[f64]| Tree {
        nodes: vec![TreeNode::Leaf(values.iter().copied().enumerate().collect())],
    };
    let ensemble =
        Ensemble::new(1, vec![0.0; 3], vec![leaf(&[0.25, 0.5, 0.0]), leaf(&[0.75, 0.0, 0.0])]);
    let trees = IntegerTrees::new(&ensemble.expect("an ensemble")).expect("small");
    let of = |at_least| {
        let outputs = (0..3).map(LabelId::new).collect();
        let domains = IntBox::new(vec![DOMAIN]);
        let policy =
            Policy::of_trees(trees.clone(), vec![VarId(0)], outputs, drawing(at_least), &domains);
        policy.expect("fits").with_law(Law::Shares)
    };
    let policy = of(None);
    assert_eq!(policy.chooser().choose(&[0], &[]), Choice::Several([0, 1].into()));
    assert!(!policy.always_chooses());
    let drawn = policy.probabilities(&[0], &[0, 1, 2]);
    let third = |n| Rational::new(n, 3).expect("not 0");
    assert_eq!(drawn.outputs, [(0, third(2)), (1, third(1))]);
    assert!(drawn.rest.is_zero());
    assert_eq!(of(Some("1/3")).chooser().choose(&[0], &[]), Choice::Several([0, 1].into()));
    assert_eq!(of(Some("0.34")).chooser().choose(&[0], &[]), Choice::One(0));
    let nothing = policy.probabilities(&[0], &[2]);
    assert!(nothing.outputs.is_empty() && nothing.rest.is_zero());
}
