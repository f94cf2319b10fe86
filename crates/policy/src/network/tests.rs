//! Building and folding networks.

use policert_numeric::Rational;
use proptest::prelude::*;

use super::generate::{Functions, NetworkKind, network, reference_scores, tape};
use super::*;
use crate::activation::Smooth;
use crate::error::PolicyError;

fn builder() -> NetworkBuilder {
    NetworkBuilder::new(2).expect("inputs")
}

fn matrix(rows: usize, columns: usize, entries: &[f64]) -> Matrix {
    Matrix::new(rows, columns, entries.to_vec()).expect("size")
}

#[test]
fn scaling_is_merged_where_exact() {
    let mut b = builder();
    let x = b.scale(b.input(), vec![1.0; 2], vec![2.0; 2], vec![-1.5; 2]).expect("finite");
    let x = b.affine(x, matrix(1, 2, &[3.0, 5.0]), vec![1.0]).expect("finite");
    let x = b.scale(x, vec![0.5], vec![1.0], vec![0.25]).expect("finite");
    let network = b.finish(x, ElementType::F64);
    assert_eq!(network.nodes().len(), 2);
    let Op::Affine { weights, bias, .. } = &network.nodes()[1].op else { unreachable!() };
    assert_eq!((weights.entries(), bias.as_slice()), (&[0.75, 1.25][..], &[-5.25][..]));
}

#[test]
fn scaling_that_would_round_is_kept() {
    let mut b = builder();
    let x = b.affine(b.input(), matrix(1, 2, &[0.1, 1.0]), vec![0.0]).expect("finite");
    let x = b.scale(x, vec![0.1], vec![1.0], vec![0.0]).expect("finite");
    assert_eq!(b.finish(x, ElementType::F64).nodes().len(), 3);
    let mut b = builder();
    let x = b.scale(b.input(), vec![1.0; 2], vec![3.0; 2], vec![0.0; 2]).expect("finite");
    let x = b.affine(x, matrix(1, 2, &[1.0, 1.0]), vec![0.0]).expect("finite");
    assert_eq!(b.finish(x, ElementType::F64).nodes().len(), 3);
}

#[test]
fn identical_scaling_and_unused_nodes_disappear() {
    let mut b = builder();
    let x = b.scale(b.input(), vec![1.0; 2], vec![1.0; 2], vec![-0.0; 2]).expect("finite");
    assert_eq!(x, b.input());
    let _unused = b.tanh(x);
    let y = b.relu(x);
    let network = b.finish(y, ElementType::F64);
    assert_eq!((network.nodes().len(), network.output_width()), (2, 2));
    assert!(network.is_piecewise_linear());
}

#[test]
fn constants_that_are_no_numbers_are_refused() {
    let mut b = builder();
    let x = b.input();
    let weights = matrix(1, 2, &[0.0, f64::NAN]);
    let PolicyError::Invalid { message, .. } = b.affine(x, weights, vec![0.0]).unwrap_err() else {
        unreachable!()
    };
    assert_eq!(message, "weight (0, 1) is nan: not a finite number");
    assert!(b.affine(x, matrix(1, 2, &[0.0; 2]), vec![f64::INFINITY]).is_err());
    assert!(b.scale(x, vec![1.0; 2], vec![0.0; 2], vec![0.0; 2]).is_err());
    assert!(b.scale(x, vec![f64::NAN; 2], vec![1.0; 2], vec![0.0; 2]).is_err());
    assert!(b.activation(x, Activation::Leaky { alpha: f64::NAN }).is_err());
    assert!(b.activation(x, Activation::clip(Some(f64::NAN), None)).is_err());
    assert!(b.activation(x, Activation::clip(Some(f64::INFINITY), None)).is_err());
}

#[test]
fn of_bounds_that_cross_the_upper_one_counts() {
    let mut b = builder();
    let x = b.activation(b.input(), Activation::clip(Some(3.0), Some(-1.0))).expect("finite");
    let network = b.finish(x, ElementType::F64);
    assert_eq!(
        reference_scores(&network, &[5, -5]),
        [Rational::integer(-1), Rational::integer(-1)]
    );
}

#[test]
fn sizes_that_do_not_fit_are_refused() {
    let mut b = builder();
    let x = b.input();
    assert!(NetworkBuilder::new(0).is_err());
    assert!(Matrix::new(2, 2, vec![0.0; 3]).is_none());
    assert!(b.affine(x, matrix(1, 3, &[0.0; 3]), vec![0.0]).is_err());
    assert!(b.affine(x, matrix(1, 2, &[0.0; 2]), vec![0.0; 2]).is_err());
    assert!(b.affine(x, matrix(0, 2, &[]), vec![]).is_err());
    assert!(b.scale(x, vec![1.0], vec![1.0], vec![0.0]).is_err());
    let y = b.concat(vec![x, x]).expect("vectors");
    assert_eq!(b.width(y), 4);
    assert!(b.add(vec![x, y]).is_err());
    assert!(b.max(vec![]).is_err());
    assert!(b.concat(vec![]).is_err());
}

#[test]
fn hidden_sizes() {
    let mut b = builder();
    let x = b.affine(b.input(), matrix(3, 2, &[0.0; 6]), vec![0.0; 3]).expect("finite");
    let x = b.relu(x);
    let x = b.affine(x, matrix(1, 3, &[0.0; 3]), vec![0.0]).expect("finite");
    let network = b.finish(x, ElementType::F32);
    assert_eq!(network.hidden_sizes(), Some(vec![3]));
    assert_eq!(network.hidden_widths(), [3]);
}

#[test]
fn constants_are_no_layers_and_branches_have_no_hidden_sizes() {
    // max(W x, c) with a constant vector c, as a row of zeros and ones.
    let mut b = builder();
    let x = b.affine(b.input(), matrix(3, 2, &[1.0; 6]), vec![0.0; 3]).expect("finite");
    let c = matrix(3, 2, &[0.0; 6]);
    let c = b.affine(b.input(), c, vec![0.0, 1.0, 0.0]).expect("finite");
    let x = b.max(vec![x, c]).expect("vectors");
    let x = b.affine(x, matrix(1, 3, &[1.0; 3]), vec![0.0]).expect("finite");
    let network = b.finish(x, ElementType::F32);
    assert_eq!(network.hidden_sizes(), Some(vec![3]));
    assert_eq!(network.hidden_widths(), [3]);

    let mut b = builder();
    let x = b.affine(b.input(), matrix(3, 2, &[1.0; 6]), vec![0.0; 3]).expect("finite");
    let y = b.affine(b.input(), matrix(3, 2, &[2.0; 6]), vec![0.0; 3]).expect("finite");
    let x = b.add(vec![x, y]).expect("vectors");
    let x = b.affine(x, matrix(1, 3, &[1.0; 3]), vec![0.0]).expect("finite");
    let network = b.finish(x, ElementType::F32);
    assert_eq!(network.hidden_sizes(), None);
    assert_eq!(network.hidden_widths(), [3, 3]);
}

#[test]
fn squashing_at_the_end_is_dropped() {
    let mut b = builder();
    let x = b.tanh(b.input());
    let y = b.affine(x, matrix(1, 2, &[1.0; 2]), vec![0.0]).expect("finite");
    let y = b.activation(y, Activation::Smooth(Smooth::Sigmoid)).expect("finite");
    let y = b.tanh(y);
    let network = b.finish(y, ElementType::F64).without_final_squashing();
    assert_eq!(network.nodes().len(), 3);
    assert!(matches!(network.node(network.output()).op, Op::Affine { .. }));
}

proptest! {
    #[test]
    fn folding_keeps_the_function(
        mut tape in tape(),
        inputs in prop::collection::vec(-20i64..20, 1..4),
        wild in any::<bool>(),
    ) {
        let kind = NetworkKind { wild, functions: Functions::Linear, branching: true };
        let network = network(&mut tape, inputs.len(), kind);
        // The same nodes with scaling on both sides of each layer, not folded.
        let folded = fold::folded(
            network.nodes.to_vec(),
            network.output,
            network.element_type,
            fold::Merges::All,
            &std::collections::BTreeMap::new(),
        );
        let mut plain = network.nodes.to_vec();
        let op = Op::Pointwise { input: network.output, activation: Activation::RELU };
        plain.push(NetworkNode { op, width: 1 });
        let pruned = fold::pruned(plain, network.output, network.element_type, false, &[]);
        let expected = reference_scores(&network, &inputs);
        prop_assert_eq!(reference_scores(&folded, &inputs), expected.clone());
        prop_assert_eq!(reference_scores(&pruned, &inputs), expected);
    }

    #[test]
    fn merged_scaling_keeps_the_function(
        mul in prop::collection::vec(-8i32..8, 2),
        div in prop::collection::vec(1i32..5, 2),
        add in prop::collection::vec(-8i32..8, 2),
        weights in prop::collection::vec(-8i32..8, 4),
        inputs in prop::collection::vec(-20i64..20, 2),
    ) {
        let floats = |numbers: &[i32]| -> Vec<f64> {
            numbers.iter().map(|&number| f64::from(number) / 4.0).collect()
        };
        let mut b = builder();
        let x = b.scale(b.input(), floats(&mul), floats(&div), floats(&add)).expect("finite");
        let x = b.affine(x, matrix(2, 2, &floats(&weights)), floats(&add)).expect("finite");
        let x = b.scale(x, floats(&add), floats(&div), floats(&mul)).expect("finite");
        let plain = fold::pruned(b.nodes_for_tests(), x, ElementType::F64, false, &[]);
        let folded = b.finish(x, ElementType::F64);
        let expected: Vec<Rational> = reference_scores(&plain, &inputs);
        prop_assert_eq!(reference_scores(&folded, &inputs), expected);
        if div.iter().all(|d| d.count_ones() == 1) {
            prop_assert!(folded.nodes().len() <= 2);
        }
    }
}

proptest! {
    #[test]
    fn maxima_are_sums_of_relus(mut tape in tape(), inputs in prop::collection::vec(-20i64..20, 1..4)) {
        let kind = NetworkKind { wild: false, functions: Functions::Linear, branching: true };
        let network = network(&mut tape, inputs.len(), kind);
        let rewritten = network.without_maxima().expect("a network");
        let is_maximum = |node: &NetworkNode| matches!(node.op, Op::Max { .. });
        prop_assert!(!rewritten.nodes().iter().any(is_maximum));
        prop_assert_eq!(reference_scores(&rewritten, &inputs), reference_scores(&network, &inputs));
    }
}
