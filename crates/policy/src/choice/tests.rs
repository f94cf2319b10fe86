//! Choices against brute force with exact scores.

use policert_model::{LabelId, VarId};
use policert_numeric::{IntBox, IntInterval, Rational};
use proptest::prelude::*;

use super::*;
use crate::PolicyError;
use crate::activation::{Activation, Smooth};
use crate::matrix::Matrix;
use crate::network::generate::{Functions, NetworkKind, network, reference_scores, tape};
use crate::network::{ElementType, Network, NetworkBuilder};
use crate::semantics::{Numbers, Ties};

const DOMAIN: IntInterval = IntInterval::new(-3, 3);

fn policy(network: Network, semantics: PolicySemantics) -> Policy {
    let inputs: Vec<VarId> = (0..network.input_width()).map(VarId::new).collect();
    let outputs = (0..network.output_width()).map(LabelId::new).collect();
    let domains = IntBox::new(vec![DOMAIN; inputs.len()]);
    Policy::new(network, inputs, outputs, semantics, &domains).expect("fits")
}

fn semantics() -> impl Strategy<Value = PolicySemantics> {
    let ties = prop_oneof![Just(Ties::First), Just(Ties::Any), Just(Ties::Strict)];
    let filter = prop_oneof![Just(Filter::None), Just(Filter::Applicable)];
    (ties, filter).prop_map(|(ties, filter)| PolicySemantics {
        ties,
        filter,
        ..PolicySemantics::default()
    })
}

/// The chosen outputs by the rules of the design, spelt out.
fn expected(scores: &[Rational], mask: &[bool], semantics: PolicySemantics) -> Vec<usize> {
    let competing: Vec<usize> =
        (0..scores.len()).filter(|&o| semantics.filter == Filter::None || mask[o]).collect();
    let best = competing.iter().map(|&o| &scores[o]).max();
    let maximal: Vec<usize> =
        competing.iter().copied().filter(|&o| Some(&scores[o]) == best).collect();
    match semantics.ties {
        Ties::First => maximal.into_iter().take(1).collect(),
        Ties::Any => maximal,
        Ties::Strict if maximal.len() == 1 => maximal,
        Ties::Strict => Vec::new(),
    }
}

proptest! {
    #[test]
    fn choices_agree_with_brute_force(
        mut tape in tape(),
        (wild, functions) in (any::<bool>(), Functions::rational()),
        semantics in semantics(),
        points in prop::collection::vec(
            (prop::collection::vec(-4i64..5, 2), prop::collection::vec(any::<bool>(), 5)),
            1..20,
        ),
    ) {
        let kind = NetworkKind { wild, functions, branching: true };
        let policy = policy(network(&mut tape, 2, kind), semantics);
        let outputs = policy.outputs().len();
        let inputs: Vec<i64> = points.iter().flat_map(|(point, _)| point.clone()).collect();
        let masks: Vec<bool> =
            points.iter().flat_map(|(_, mask)| mask[..outputs].to_vec()).collect();
        let mut choices = Vec::new();
        policy.chooser().choose_batch(&inputs, &masks, &mut choices);
        prop_assert_eq!(choices.len(), points.len());
        for ((point, mask), choice) in points.iter().zip(&choices) {
            let scores = reference_scores(policy.network().expect("a network"), point);
            let expected = expected(&scores, mask, semantics);
            let ranking = policy.ranking().expect("a network");
            if choice.is_undecided() && crate::ExactEvaluator::new(ranking).is_none() {
                continue;
            }
            prop_assert!(!choice.is_undecided());
            prop_assert_eq!(choice.outputs(), expected.as_slice());
            prop_assert_eq!(&policy.chooser().choose(point, &mask[..outputs]), choice);
        }
    }

    /// A network with tanh whose scores are rational: an unused smooth part forces enclosures.
    #[test]
    fn enclosures_agree_with_brute_force(
        weights in prop::collection::vec(-3i32..4, 6),
        point in prop::collection::vec(-3i64..4, 2),
        semantics in semantics(),
        mask in prop::collection::vec(any::<bool>(), 3),
    ) {
        let linear = |b: &mut NetworkBuilder, x, smooth_weight: f64| {
            let mut entries = Vec::new();
            for row in weights.chunks(2) {
                entries.extend(row.iter().map(|&w| f64::from(w)));
                // The smooth part is the same for all outputs, so it changes no order.
                entries.push(smooth_weight);
            }
            b.affine(x, Matrix::new(3, 3, entries).expect("size"), vec![0.5; 3]).expect("finite")
        };
        let mut b = NetworkBuilder::new(2).expect("inputs");
        let x = b.input();
        let sum = b.affine(x, Matrix::new(1, 2, vec![0.3, 0.7]).expect("size"), vec![0.1]);
        let smooth = b.tanh(sum.expect("finite"));
        let joined = b.concat(vec![x, smooth]).expect("vectors");
        let scores = linear(&mut b, joined, 1e3);
        let policy = policy(b.finish(scores, ElementType::F64), semantics);
        prop_assert!(crate::ExactEvaluator::new(policy.ranking().expect("a network")).is_none());

        let exact: Vec<Rational> = weights
            .chunks(2)
            .map(|row| {
                let terms = row.iter().zip(&point).map(|(&w, &x)| i64::from(w) * x);
                Rational::from(terms.sum::<i64>())
            })
            .collect();
        let choice = policy.chooser().choose(&point, &mask);
        let chosen = expected(&exact, &mask, semantics);
        prop_assert_eq!(choice.outputs(), chosen.as_slice());
        prop_assert!(!choice.is_undecided());
    }
}

fn rows(rows: &[[f64; 2]]) -> Network {
    let mut b = NetworkBuilder::new(1).expect("inputs");
    let weights = rows.iter().map(|row| row[0]).collect();
    let weights = Matrix::new(rows.len(), 1, weights).expect("size");
    let x = b.affine(b.input(), weights, rows.iter().map(|row| row[1]).collect());
    let x = x.expect("finite");
    b.finish(x, ElementType::F64)
}

#[test]
fn a_difference_far_below_the_rounding_error_decides() {
    // The scores at 3 are 3·0.1 and 0.3 as doubles, which differ by less than an ulp.
    let policy = policy(rows(&[[0.0, 0.3], [0.1, 0.0]]), PolicySemantics::default());
    let expected = reference_scores(policy.network().expect("a network"), &[3]);
    assert!(expected[1] > expected[0]);
    assert_eq!(policy.chooser().choose(&[3], &[]), Choice::One(1));
}

#[test]
fn inputs_outside_the_domain_are_decided_exactly() {
    let policy = policy(rows(&[[1.0, 0.0], [1.0, 1e-3]]), PolicySemantics::default());
    for input in [i64::MAX, 1 << 60, -(1 << 60), 4] {
        assert_eq!(policy.chooser().choose(&[input], &[]), Choice::One(1));
    }
}

#[test]
fn scores_that_cannot_be_told_apart_are_undecided() {
    // tanh(x) + tanh(-x) is 0, but no precision shows it.
    let mut b = NetworkBuilder::new(1).expect("inputs");
    let both = Matrix::new(2, 1, vec![0.5, -0.5]).expect("size");
    let x = b.affine(b.input(), both, vec![0.0; 2]).expect("finite");
    let x = b.tanh(x);
    let sum = Matrix::new(2, 2, vec![1.0, 1.0, 0.0, 0.0]).expect("size");
    let x = b.affine(x, sum, vec![0.0; 2]).expect("finite");
    let policy = policy(b.finish(x, ElementType::F64), PolicySemantics::default());
    let choice = policy.chooser().choose(&[1], &[]);
    assert_eq!(choice, Choice::between(Vec::new(), vec![0, 1]));
    assert_eq!(choice.possible(), [0, 1]);
    assert_eq!(choice.contains(0), None);
    assert_eq!(choice.outputs(), &[] as &[usize]);
    // At 0 both are exactly 0.
    assert_eq!(policy.chooser().choose(&[0], &[]), Choice::One(0));
}

#[test]
fn scores_that_overflow_in_double_precision_are_decided() {
    let mut b = NetworkBuilder::new(1).expect("inputs");
    let mut x = b.input();
    for weight in [1e200, 1e200] {
        x = b.affine(x, Matrix::new(1, 1, vec![weight]).expect("size"), vec![0.0]).expect("finite");
    }
    let fan = Matrix::new(2, 1, vec![1.0, 1.0 + f64::EPSILON]).expect("size");
    let x = b.affine(x, fan, vec![0.0; 2]).expect("finite");
    let policy = policy(b.finish(x, ElementType::F64), PolicySemantics::default());
    assert_eq!(policy.chooser().choose(&[1], &[]), Choice::One(1));
    assert_eq!(policy.chooser().choose(&[-1], &[]), Choice::One(0));
    assert_eq!(policy.chooser().choose(&[0], &[]), Choice::One(0));
}

#[test]
fn filter_without_applicable_labels_chooses_nothing() {
    let semantics = PolicySemantics { filter: Filter::Applicable, ..PolicySemantics::default() };
    let policy = policy(rows(&[[0.0, 2.0], [0.0, 1.0]]), semantics);
    let mut chooser = policy.chooser();
    assert_eq!(chooser.choose(&[0], &[false, false]), Choice::Nothing);
    assert_eq!(chooser.choose(&[0], &[false, true]), Choice::One(1));
    assert_eq!(chooser.choose(&[0], &[true, true]), Choice::One(0));
}

#[test]
fn what_does_not_fit_is_refused() {
    let build = |inputs: &[u32], outputs: &[u32], semantics| {
        let inputs = inputs.iter().map(|&i| VarId(i)).collect();
        let outputs = outputs.iter().map(|&o| LabelId(o)).collect();
        let network = rows(&[[0.0, 2.0], [0.0, 1.0]]);
        Policy::new(network, inputs, outputs, semantics, &IntBox::new(vec![DOMAIN]))
    };
    let real = PolicySemantics::default();
    let single = PolicySemantics { numbers: Numbers::F32, ..real };
    assert!(build(&[0], &[0, 1], real).is_ok() && build(&[0], &[0, 1], single).is_ok());
    let drawn = PolicySemantics { choice: ChoiceRule::Sample, ..single };
    assert!(matches!(build(&[0], &[0, 1], drawn), Err(PolicyError::Unsupported { .. })));
    for (inputs, outputs) in [(&[0, 0][..], &[0, 1][..]), (&[1], &[0, 1]), (&[0], &[0])] {
        let error = build(inputs, outputs, real);
        assert!(matches!(error, Err(PolicyError::Mismatch { .. })));
    }
    assert!(build(&[0], &[1, 1], real).is_err());
}

#[test]
fn choices_that_rounding_leaves_open_are_counted() {
    // Equal at 0, closer at 1 than the rounding errors, far apart from the third at -3.
    let scores = [[0.1, 0.3], [0.1 + f64::EPSILON, 0.3], [-9.0, 0.0]];
    let policy = policy(rows(&scores), PolicySemantics::default());
    let mut chooser = policy.chooser();
    for (input, output, exact) in [(0, 0, 1), (1, 1, 2), (-3, 2, 2)] {
        assert_eq!(chooser.choose(&[input], &[]), Choice::One(output));
        assert_eq!(chooser.exact_decisions(), exact);
    }
}

#[test]
fn great_arguments_of_exponentials_leave_no_scores() {
    let mut b = NetworkBuilder::new(1).expect("inputs");
    let power = b.activation(b.input(), Activation::Smooth(Smooth::Exponential)).expect("finite");
    let weights = Matrix::new(2, 1, vec![1.0, 2.0]).expect("size");
    let scores = b.affine(power, weights, vec![0.0; 2]).expect("finite");
    let policy = policy(b.finish(scores, ElementType::F64), PolicySemantics::default());
    assert!(policy.has_scores(&[1024]));
    assert!(!policy.has_scores(&[1025]));
}
