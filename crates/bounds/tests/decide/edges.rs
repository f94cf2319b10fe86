//! Corner cases with known answers.

use std::time::Duration;

use policert_bounds::{DecisionMap, Oracle, SelectionQuery};
use policert_engine_api::{Answer, Budget, CancelFlag, Limits, StopReason};
use policert_model::{BinaryOp, Condition, Expr, LabelId, State, VarId};
use policert_numeric::{IntBox, IntInterval};
use policert_policy::{
    ElementType, Filter, Matrix, Network, NetworkBuilder, Policy, PolicySemantics, Ties,
};

fn matrix(rows: &[&[f64]]) -> Matrix {
    Matrix::new(rows.len(), rows[0].len(), rows.concat()).expect("rows of one length")
}

/// Layers of weights and biases, ReLU between them.
fn relu_network(layers: &[(&[&[f64]], &[f64])]) -> Network {
    let mut builder = NetworkBuilder::new(layers[0].0[0].len()).expect("inputs");
    let mut node = builder.input();
    for (i, (weights, bias)) in layers.iter().enumerate() {
        node = builder.affine(node, matrix(weights), bias.to_vec()).expect("finite");
        if i + 1 < layers.len() {
            node = builder.relu(node);
        }
    }
    builder.finish(node, ElementType::F64)
}

fn policy(network: Network, ties: Ties, filter: Filter) -> Policy {
    let inputs: Vec<VarId> = (0..network.input_width()).map(VarId::new).collect();
    let outputs = (0..network.output_width()).map(LabelId::new).collect();
    let domains = IntBox::new(vec![IntInterval::new(0, 100); inputs.len()]);
    let semantics = PolicySemantics { ties, filter, ..PolicySemantics::default() };
    Policy::new(network, inputs, outputs, semantics, &domains).expect("it fits")
}

fn unfiltered(network: Network, ties: Ties) -> Policy {
    policy(network, ties, Filter::None)
}

fn cube(dimensions: usize, lo: i64, hi: i64) -> IntBox {
    IntBox::new(vec![IntInterval::new(lo, hi); dimensions])
}

fn ask(oracle: &mut Oracle<'_>, region: &IntBox, output: usize) -> Answer<State> {
    ask_with(oracle, region, &[], output)
}

fn ask_with(
    oracle: &mut Oracle<'_>,
    region: &IntBox,
    conditions: &[&Condition],
    output: usize,
) -> Answer<State> {
    let query = SelectionQuery { region, conditions, output };
    oracle.decide(&query, &mut Budget::unlimited()).expect("no limits")
}

fn compare(op: BinaryOp, left: Expr, right: Expr) -> Condition {
    Condition::from_expr(&Expr::binary(op, left, right))
}

fn var(index: usize) -> Expr {
    Expr::Var(VarId::new(index))
}

#[test]
fn empty_regions_and_missing_outputs_are_refuted() {
    let policy = unfiltered(relu_network(&[(&[&[1.0]], &[0.0])]), Ties::First);
    let mut oracle = Oracle::new(&policy, Vec::new());
    assert!(ask(&mut oracle, &cube(1, 1, 0), 0).refuted());
    assert!(ask(&mut oracle, &cube(1, 0, 1), 7).refuted());
    assert_eq!(ask(&mut oracle, &cube(1, 0, 1), 0), Answer::Possible(Some(vec![0])));
    let mut map = DecisionMap::new(&oracle, &cube(1, 1, 0));
    let query = SelectionQuery { region: &cube(1, 1, 0), conditions: &[], output: 0 };
    let answer = map.decide(&mut oracle, &query, &mut Budget::unlimited());
    assert_eq!(answer, Ok(Answer::Refuted));
}

#[test]
fn single_points() {
    let network = relu_network(&[(&[&[1.0], &[-1.0]], &[0.0, 4.0])]);
    let policy = unfiltered(network, Ties::First);
    let mut oracle = Oracle::new(&policy, Vec::new());
    for x in 0..5 {
        let region = cube(1, x, x);
        assert_eq!(ask(&mut oracle, &region, 0).refuted(), x < 2);
        assert_eq!(ask(&mut oracle, &region, 1).refuted(), x >= 2);
    }
}

#[test]
fn equal_rows_tie_everywhere_without_a_split() {
    let row: &[f64] = &[0.1, -0.7, 0.3, 0.9, -0.2, 0.5];
    for (ties, chosen) in
        [(Ties::First, [true, false]), (Ties::Any, [true, true]), (Ties::Strict, [false, false])]
    {
        let policy = unfiltered(relu_network(&[(&[row, row], &[0.3, 0.3])]), ties);
        let mut oracle = Oracle::new(&policy, Vec::new());
        for (output, chosen) in chosen.into_iter().enumerate() {
            let answer = ask(&mut oracle, &cube(6, 0, 12), output);
            assert_eq!(answer.refuted(), !chosen, "{ties:?} {output}");
        }
        assert_eq!(oracle.statistics().splits, 0, "{ties:?}");
    }
}

#[test]
fn constant_networks() {
    let zeros: &[f64] = &[0.0; 5];
    for (bias, best) in [([1e-300, 0.0], 0), ([-1e300, 1e30], 1), ([5e-324, 1e-323], 1)] {
        let policy = unfiltered(relu_network(&[(&[zeros, zeros], &bias)]), Ties::Any);
        let mut oracle = Oracle::new(&policy, Vec::new());
        let region = cube(5, 0, 50);
        assert!(!ask(&mut oracle, &region, best).refuted(), "{bias:?}");
        assert!(ask(&mut oracle, &region, 1 - best).refuted(), "{bias:?}");
        assert_eq!(oracle.statistics().splits, 0, "{bias:?}");
    }
}

#[test]
fn a_needle_in_a_large_box_is_found_and_its_absence_proved() {
    // Output 1 is chosen where 1 − Σ |xᵢ − 7| is at least the threshold: in one point, or never.
    let dimensions = 4;
    let mut rows = Vec::new();
    for i in 0..dimensions {
        for sign in [1.0, -1.0] {
            let mut row = vec![0.0; dimensions];
            row[i] = sign;
            rows.push(row);
        }
    }
    let bias: Vec<f64> = (0..2 * dimensions).map(|i| if i % 2 == 0 { -7.0 } else { 7.0 }).collect();
    let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
    let minus = vec![-1.0; 2 * dimensions];
    let zero = vec![0.0; 2 * dimensions];
    for (threshold, expected) in [(0.5, Answer::Possible(Some(vec![7; 4]))), (1.5, Answer::Refuted)]
    {
        let network = relu_network(&[(&rows, &bias), (&[&zero, &minus], &[threshold, 1.0])]);
        let policy = unfiltered(network, Ties::First);
        let mut oracle = Oracle::new(&policy, Vec::new());
        assert_eq!(ask(&mut oracle, &cube(dimensions, 0, 40), 1), expected);
        assert!(oracle.statistics().points < 20_000, "{}", oracle.statistics());
    }
}

#[test]
fn overflow_refutes_nothing() {
    // 1e300 · x · 1e300 is beyond doubles, but an ordinary number for exact evaluation.
    let network = relu_network(&[
        (&[&[1e300], &[-1e300]], &[0.0, 0.0]),
        (&[&[1e300, 0.0], &[0.0, 1e300]], &[0.0, 1.0]),
    ]);
    let policy = unfiltered(network, Ties::First);
    let mut oracle = Oracle::new(&policy, Vec::new());
    assert_eq!(ask(&mut oracle, &cube(1, 0, 0), 0), Answer::Refuted);
    for output in 0..2 {
        assert!(!ask(&mut oracle, &cube(1, -100, 100), output).refuted());
    }
    assert_eq!(ask(&mut oracle, &cube(1, 1, 300), 1), Answer::Refuted);
}

#[test]
fn huge_and_tiny_weights_side_by_side() {
    // The tiny term decides: 1e30 · (x − y) is 0 on the diagonal.
    let network = relu_network(&[(&[&[1e30, -1e30], &[1e30, -1e30]], &[0.0, 1e-30])]);
    let policy = unfiltered(network, Ties::Any);
    let mut oracle = Oracle::new(&policy, Vec::new());
    assert!(ask(&mut oracle, &cube(2, 0, 60), 0).refuted());
    let network = relu_network(&[(&[&[1e30, -1e30], &[1e-310, 0.0]], &[0.0, 0.0])]);
    let policy = unfiltered(network, Ties::First);
    let mut oracle = Oracle::new(&policy, Vec::new());
    let diagonal = compare(BinaryOp::Eq, var(0), var(1));
    let positive = compare(BinaryOp::Lt, Expr::int(0), var(0));
    let conditions: &[&Condition] = &[&diagonal, &positive];
    assert!(ask_with(&mut oracle, &cube(2, 0, 60), conditions, 0).refuted());
    let witness = ask_with(&mut oracle, &cube(2, 0, 60), conditions, 1);
    assert!(matches!(witness, Answer::Possible(Some(w)) if w[0] == w[1] && w[0] > 0));
}

/// A tie that only algebra tells: 2·tanh(x) against tanh(x) + tanh(x + 0).
fn undecidable() -> Network {
    let mut builder = NetworkBuilder::new(1).expect("inputs");
    let input = builder.input();
    let first = builder.affine(input, matrix(&[&[1.0], &[1.0]]), vec![0.5, 0.5]).expect("finite");
    let hidden = builder.tanh(first);
    let rows: &[&[f64]] = &[&[2.0, 0.0], &[1.0, 1.0], &[-3.0, 0.0]];
    let output = builder.affine(hidden, matrix(rows), vec![0.0; 3]).expect("finite");
    builder.finish(output, ElementType::F64)
}

#[test]
fn ties_that_precision_cannot_decide_are_neither_refuted_nor_witnessed() {
    let policy = unfiltered(undecidable(), Ties::First);
    let mut oracle = Oracle::new(&policy, Vec::new());
    let region = cube(1, 0, 3);
    assert_eq!(ask(&mut oracle, &region, 0), Answer::Possible(None));
    assert_eq!(ask(&mut oracle, &region, 1), Answer::Possible(None));
    // The third output is far below.
    assert_eq!(ask(&mut oracle, &region, 2), Answer::Refuted);
    assert!(ask_with(&mut oracle, &region, &[&Condition::False], 0).refuted());
    assert_eq!(oracle.statistics().undecided, 2);
}

#[test]
fn relaxed_questions_that_smooth_functions_leave_open_end() {
    // 2·tanh(x + y + z) against tanh(x + y + z) twice, and a little more.
    let mut builder = NetworkBuilder::new(3).expect("inputs");
    let sums = matrix(&[&[0.5, 0.5, 0.5], &[0.5, 0.5, 0.5]]);
    let sums = builder.affine(builder.input(), sums, vec![-2.0; 2]).expect("finite");
    let hidden = builder.tanh(sums);
    let rows: &[&[f64]] = &[&[2.0, 0.0], &[1.0, 1.0]];
    let output = builder.affine(hidden, matrix(rows), vec![0.0, 1e-12]).expect("finite");
    let policy = unfiltered(builder.finish(output, ElementType::F64), Ties::First);
    let mut oracle = Oracle::new(&policy, Vec::new());
    let region = cube(3, 0, 3);
    let query = SelectionQuery { region: &region, conditions: &[], output: 0 };
    let limits = Limits { time: Some(Duration::from_secs(60)), ..Limits::default() };
    let mut budget = Budget::new(limits, CancelFlag::default());
    let answer = oracle.decide_relaxed(&query, &mut budget);
    assert_eq!(answer, Ok(Answer::Possible(None)), "given up before the limit");
    // Point by point the bounds tell.
    assert_eq!(ask(&mut oracle, &region, 0), Answer::Refuted);
}

#[test]
fn nothing_applicable_nothing_chosen() {
    let network = relu_network(&[(&[&[1.0], &[-1.0]], &[0.0, 0.0])]);
    let policy = policy(network, Ties::First, Filter::Applicable);
    let low = compare(BinaryOp::Le, var(0), Expr::int(3));
    let mut oracle = Oracle::new(&policy, vec![low.clone(), Condition::False]);
    assert!(ask(&mut oracle, &cube(1, 4, 9), 0).refuted());
    assert!(ask(&mut oracle, &cube(1, 4, 9), 1).refuted());
    // Output 1 is better at −5, but not applicable.
    assert!(!ask(&mut oracle, &cube(1, -5, -5), 0).refuted());
    // Outputs without a condition are never applicable.
    let mut oracle = Oracle::new(&policy, vec![low]);
    assert!(ask(&mut oracle, &cube(1, -5, 3), 1).refuted());
}

#[test]
fn an_output_that_may_be_inapplicable_refutes_nothing() {
    // Output 0 is better everywhere, but applicable only where x % 2 = 0 or the quotient exists.
    let network = relu_network(&[(&[&[0.0], &[0.0]], &[1.0, 0.0])]);
    let policy = policy(network, Ties::First, Filter::Applicable);
    let even =
        compare(BinaryOp::Eq, Expr::binary(BinaryOp::Mod, var(0), Expr::int(2)), Expr::int(0));
    let mut oracle = Oracle::new(&policy, vec![even, Condition::True]);
    assert_eq!(ask(&mut oracle, &cube(1, 4, 4), 1), Answer::Refuted);
    assert!(
        matches!(ask(&mut oracle, &cube(1, 0, 1000), 1), Answer::Possible(Some(w)) if w[0] % 2 == 1)
    );
    let quotient = Expr::binary(BinaryOp::Div, Expr::int(6), var(0));
    let quotient = compare(BinaryOp::Le, Expr::int(-100), quotient);
    let mut oracle = Oracle::new(&policy, vec![quotient, Condition::True]);
    // No value at 0: output 0 is not applicable there, and nowhere else is output 1 chosen.
    assert_eq!(ask(&mut oracle, &cube(1, -500, 500), 1), Answer::Possible(Some(vec![0])));
}

#[test]
fn further_dimensions_matter_to_conditions_only() {
    let network = relu_network(&[(&[&[1.0], &[-1.0]], &[0.0, 8.0])]);
    let policy = unfiltered(network, Ties::First);
    let mut oracle = Oracle::new(&policy, Vec::new());
    // x · choice = 35 and output 1, so x < 4: only 1 · 35 is possible, for choices up to 40.
    let product = Expr::binary(BinaryOp::Mul, var(0), var(2));
    let condition = compare(BinaryOp::Eq, product, Expr::int(35));
    let region = IntBox::new(vec![
        IntInterval::new(0, 50),
        IntInterval::new(3, 1 << 40),
        IntInterval::new(0, 40),
    ]);
    let answer = ask_with(&mut oracle, &region, &[&condition], 1);
    assert_eq!(answer, Answer::Possible(Some(vec![1, 3, 35])));
    let mut narrow = region.clone();
    narrow[2] = IntInterval::new(0, 34);
    assert_eq!(ask_with(&mut oracle, &narrow, &[&condition], 1), Answer::Refuted);
    // A region that lacks the choice leaves it unbounded.
    narrow.truncate(2);
    let low = compare(BinaryOp::Le, var(2), Expr::int(40));
    let high = compare(BinaryOp::Le, Expr::int(30), var(2));
    let answer = ask_with(&mut oracle, &narrow, &[&condition, &low, &high], 1);
    assert_eq!(answer, Answer::Possible(Some(vec![1, 3, 35])));
}

#[test]
fn unbounded_sides() {
    let network = relu_network(&[(&[&[1.0], &[0.0]], &[0.0, 1e6])]);
    let policy = unfiltered(network, Ties::First);
    let mut oracle = Oracle::new(&policy, Vec::new());
    let region = IntBox::new(vec![IntInterval::ALL]);
    for output in 0..2 {
        assert!(matches!(ask(&mut oracle, &region, output), Answer::Possible(Some(_))));
    }
    let region = IntBox::new(vec![IntInterval::new(1_000_000, IntInterval::UNBOUNDED_ABOVE)]);
    assert!(matches!(ask(&mut oracle, &region, 0), Answer::Possible(Some(_))));
    assert_eq!(ask(&mut oracle, &region, 1), Answer::Refuted);
}

#[test]
fn values_beyond_doubles() {
    // Neighbouring integers that are the same double.
    let network = relu_network(&[(&[&[1.0, -1.0], &[0.0, 0.0]], &[0.0, 0.5])]);
    let policy = unfiltered(network, Ties::First);
    let mut oracle = Oracle::new(&policy, Vec::new());
    let big = 1 << 60;
    let region = IntBox::new(vec![IntInterval::new(big, big + 1), IntInterval::point(big)]);
    assert_eq!(ask(&mut oracle, &region, 0), Answer::Possible(Some(vec![big + 1, big])));
    assert_eq!(ask(&mut oracle, &region, 1), Answer::Possible(Some(vec![big, big])));
}

#[test]
fn a_stop_is_an_error() {
    let network = relu_network(&[(&[&[1.0], &[-1.0]], &[0.0, 0.0])]);
    let policy = unfiltered(network, Ties::First);
    let mut oracle = Oracle::new(&policy, Vec::new());
    let flag = CancelFlag::default();
    let mut budget = Budget::new(Limits::default(), flag.clone());
    flag.raise();
    let query = SelectionQuery { region: &cube(1, 0, 9), conditions: &[], output: 0 };
    assert_eq!(oracle.decide(&query, &mut budget), Err(StopReason::Interrupted));
}

#[test]
fn a_map_answers_queries_beyond_its_region_too() {
    let network = relu_network(&[(&[&[1.0], &[-1.0]], &[0.0, 8.0])]);
    let policy = unfiltered(network, Ties::First);
    let mut oracle = Oracle::new(&policy, Vec::new());
    let mut map = DecisionMap::new(&oracle, &cube(1, 0, 3));
    for (region, expected) in [(cube(1, 0, 3), true), (cube(1, 0, 90), false)] {
        let query = SelectionQuery { region: &region, conditions: &[], output: 0 };
        let answer = map.decide(&mut oracle, &query, &mut Budget::unlimited()).expect("no limits");
        assert_eq!(answer.refuted(), expected);
    }
}

#[test]
fn refutation_over_all_integers() {
    // Both scores grow with x; the second one is always greater by 1.
    let network = relu_network(&[(&[&[1.0], &[1.0]], &[0.0, 1.0])]);
    let policy = unfiltered(network, Ties::First);
    let mut oracle = Oracle::new(&policy, Vec::new());
    let region = IntBox::new(vec![IntInterval::ALL]);
    assert_eq!(ask(&mut oracle, &region, 0), Answer::Refuted);
    // Here only the sum of two rows shows it, and rounding errors are as large as the box.
    let region = IntBox::new(vec![IntInterval::new(i64::MIN, i64::MIN + 300)]);
    let network = relu_network(&[(&[&[1.0], &[0.0]], &[0.0, 0.0])]);
    let policy = unfiltered(network, Ties::First);
    let mut oracle = Oracle::new(&policy, Vec::new());
    assert_eq!(ask(&mut oracle, &region, 0), Answer::Refuted);
}
