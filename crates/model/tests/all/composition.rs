//! Composition and successors on hand-written models: vectors, assignment indices, transient
//! variables, arrays, conflicts, free choices, probabilities, and both domain rules.

use std::sync::Arc;

use policert_model::{
    AssignedValue, Assignment, AutomatonInstance, BinaryOp, ComposeError, Composer, Condition,
    DomainRule, Edge, EdgeDestination, EdgePlace, Expr, InitialValue, InstanceId, LabelId, Model,
    ModelSemantics, ModellingError, ModellingProblem, Operator, OperatorKey, Probability, State,
    Successors, SyncVector, Target, Transient, TransientId, ValueBounds, VarId, Variable,
    VariableKind,
};
use policert_numeric::{IntInterval, Rational};

const A: LabelId = LabelId(0);
const B: LabelId = LabelId(1);

/// Variables of every model here: locations of two instances, then these.
const X: VarId = VarId(2);
const Y: VarId = VarId(3);
const CELLS: [VarId; 3] = [VarId(4), VarId(5), VarId(6)];

fn variable(name: &str, lo: i64, hi: i64) -> Variable {
    let domain = IntInterval::new(lo, hi);
    Variable { name: name.to_owned(), kind: VariableKind::Integer, domain }
}

fn location(instance: u32, names: &[&str]) -> Variable {
    Variable {
        name: format!("Automaton#{instance}"),
        kind: VariableKind::Location {
            instance: InstanceId(instance),
            names: names.iter().map(|&name| name.to_owned()).collect(),
        },
        domain: IntInterval::new(0, names.len() as i64 - 1),
    }
}

/// Two instances of these edges: the first has locations `idle` and `busy`, the second one.
fn model(first: Vec<Edge>, second: Vec<Edge>, vectors: Vec<SyncVector>) -> Model {
    let variables = vec![
        location(0, &["idle", "busy"]),
        location(1, &["only"]),
        variable("x", 0, 9),
        variable("y", 0, 9),
        variable("A[0]", 0, 9),
        variable("A[1]", 0, 9),
        variable("A[2]", 0, 9),
    ];
    let instance = |location, edges| AutomatonInstance {
        automaton: "Automaton".to_owned(),
        location: VarId(location),
        edges,
    };
    Model {
        name: "hand-written".to_owned(),
        initial_values: vec![InitialValue::Fixed(0); variables.len()],
        variables,
        transients: vec![Transient {
            name: "t".to_owned(),
            initial: Expr::int(4),
            bounds: ValueBounds { lower: Some(0.into()), upper: Some(9.into()) },
        }],
        labels: vec!["a".to_owned(), "b".to_owned()],
        instances: vec![instance(0, first), instance(1, second)],
        vectors,
        initial_condition: Condition::True,
    }
}

fn edge(action: Option<LabelId>, destinations: Vec<EdgeDestination>) -> Edge {
    let place = EdgePlace::default();
    Edge { source: 0, action, guard: Condition::True, destinations, place }
}

fn to(location: i64, probability: Probability, assignments: Vec<Assignment>) -> EdgeDestination {
    EdgeDestination { location, probability, assignments }
}

/// An edge with one destination, which stays where it is.
fn assigns(action: Option<LabelId>, assignments: Vec<Assignment>) -> Edge {
    edge(action, vec![to(0, Probability::one(), assignments)])
}

fn set(target: Target, value: Expr, index: i64) -> Assignment {
    Assignment { target, value: AssignedValue::Expr(value), index }
}

fn set_var(v: VarId, value: Expr) -> Assignment {
    set(Target::Var(v), value, 0)
}

fn cell(index: Expr) -> Target {
    Target::Cell { cells: Arc::new(CELLS), index: Box::new(index) }
}

fn var(v: VarId) -> Expr {
    Expr::Var(v)
}

fn plus(a: Expr, b: i64) -> Expr {
    Expr::binary(BinaryOp::Add, a, Expr::int(b))
}

fn over(a: i64, b: Expr) -> Expr {
    Expr::binary(BinaryOp::Div, Expr::int(a), b)
}

fn state(first: i64, x: i64, y: i64, cells: [i64; 3]) -> State {
    vec![first, 0, x, y, cells[0], cells[1], cells[2]]
}

fn all(model: &Model) -> Vec<Operator> {
    model.operators(1000).unwrap_or_default()
}

fn successors(
    model: &Model,
    rule: DomainRule,
    state: &[i64],
) -> Result<Successors, Box<ModellingProblem>> {
    let problem = |error: ModellingError| Box::new(error.problem);
    let semantics = ModelSemantics { model, rule };
    let mut sum = Successors::default();
    for operator in all(model) {
        if semantics.is_enabled(&operator, state).map_err(problem)? {
            let found = semantics.successors(&operator, state).map_err(problem)?;
            sum.list.extend(found.list);
            sum.dropped += found.dropped;
        }
    }
    Ok(sum)
}

/// The states after one step by the rule that drops.
fn next(model: &Model, state: &[i64]) -> Vec<State> {
    let found = successors(model, DomainRule::Drop, state).expect("a sound model");
    found.list.into_iter().map(|s| s.state).collect()
}

fn vector(participants: &[(u32, LabelId)], result: Option<LabelId>) -> SyncVector {
    let participants = participants.iter().map(|&(i, a)| (InstanceId(i), a)).collect();
    SyncVector { participants, result }
}

#[test]
fn vectors_join_edges_and_silent_edges_run_alone() {
    let first = vec![
        assigns(Some(A), vec![set_var(X, Expr::int(1))]),
        assigns(Some(A), vec![set_var(X, Expr::int(2))]),
        assigns(None, vec![set_var(X, Expr::int(3))]),
        assigns(Some(B), vec![set_var(X, Expr::int(4))]),
    ];
    let second = vec![
        assigns(Some(A), vec![set_var(Y, Expr::int(5))]),
        assigns(Some(B), vec![set_var(Y, Expr::int(6))]),
        assigns(None, vec![set_var(Y, Expr::int(7))]),
    ];
    let vectors = vec![
        vector(&[(0, A), (1, A)], Some(B)),
        vector(&[(1, B)], None),
        vector(&[(0, A), (1, B)], Some(A)),
    ];
    let model = model(first, second, vectors);
    let labels: Vec<Option<LabelId>> = all(&model).iter().map(|o| o.label).collect();
    // two silent edges, 2·1 joint ones, 1 silent by its vector, 2·1; action b of the first
    // instance is in no vector and never fires
    let expected = [None, None, Some(B), Some(B), None, Some(A), Some(A)];
    assert_eq!(labels, expected);
    assert_eq!(model.operator_count(), 7);
    assert_eq!(model.operator_labels(), [A, B]);
    let values: Vec<(i64, i64)> =
        next(&model, &state(0, 0, 0, [0; 3])).iter().map(|s| (s[2], s[3])).collect();
    assert_eq!(values, [(3, 0), (0, 7), (1, 5), (2, 5), (0, 6), (1, 6), (2, 6)]);
}

#[test]
fn edges_wait_in_their_location_and_move() {
    let mut back = edge(Some(A), vec![to(0, Probability::one(), vec![])]);
    back.source = 1;
    back.guard = Condition::from_expr(&Expr::binary(BinaryOp::Lt, var(X), Expr::int(5)));
    let away = edge(Some(A), vec![to(1, Probability::one(), vec![])]);
    let model = model(vec![away, back], vec![], vec![vector(&[(0, A)], Some(A))]);
    assert_eq!(next(&model, &state(0, 7, 0, [0; 3])), [state(1, 7, 0, [0; 3])]);
    assert_eq!(next(&model, &state(1, 4, 0, [0; 3])), [state(0, 4, 0, [0; 3])]);
    assert!(next(&model, &state(1, 5, 0, [0; 3])).is_empty());
}

#[test]
fn assignments_of_one_index_are_simultaneous_and_indices_ascend() {
    // the file's order of indices does not matter: y := x, x := y at 0; x := x + 1 at 1;
    // y := x + y at 3; x := 2 at 2
    let sum = Expr::binary(BinaryOp::Add, var(X), var(Y));
    let assignments = vec![
        set(Target::Var(Y), sum, 3),
        set(Target::Var(X), plus(var(X), 1), 1),
        set(Target::Var(X), var(Y), 0),
        set(Target::Var(Y), var(X), 0),
    ];
    let model = model(vec![assigns(None, assignments)], vec![], vec![]);
    // x = 3, y = 5 → x = 5, y = 3 → x = 6 → y = 9
    assert_eq!(next(&model, &state(0, 3, 5, [0; 3])), [state(0, 6, 9, [0; 3])]);
}

#[test]
fn participants_of_a_vector_read_each_others_writes_of_earlier_indices_only() {
    let first = vec![assigns(Some(A), vec![set_var(X, plus(var(Y), 1))])];
    let late = set(Target::Var(CELLS[0]), var(X), 1);
    let second = vec![assigns(Some(A), vec![set_var(Y, plus(var(X), 2)), late])];
    let model = model(first, second, vec![vector(&[(0, A), (1, A)], Some(A))]);
    assert_eq!(next(&model, &state(0, 3, 5, [0; 3])), [state(0, 6, 5, [6, 0, 0])]);
}

#[test]
fn transient_variables_start_from_their_initial_value_in_each_transition() {
    let t = Target::Transient(TransientId(0));
    let read = Expr::Transient(TransientId(0));
    let assignments = vec![
        set_var(X, read.clone()),
        set(t, plus(read.clone(), 3), 0),
        set(Target::Var(Y), read, 1),
    ];
    let model = model(vec![assigns(None, assignments)], vec![], vec![]);
    assert_eq!(next(&model, &state(0, 0, 0, [0; 3])), [state(0, 4, 7, [0; 3])]);
    assert_eq!(next(&model, &state(0, 4, 7, [0; 3])), [state(0, 4, 7, [0; 3])]);
}

#[test]
fn cells_are_written_and_read_by_computed_indices() {
    let cells = CELLS.iter().map(|&v| var(v)).collect();
    let read = Expr::cell(cells, var(Y));
    let assignments = vec![set(cell(var(X)), plus(read, 1), 0)];
    let model = model(vec![assigns(None, assignments)], vec![], vec![]);
    assert_eq!(next(&model, &state(0, 1, 2, [6, 7, 8])), [state(0, 1, 2, [6, 9, 8])]);
    // A[3] does not exist, whether written or read
    for broken in [state(0, 3, 0, [6, 7, 8]), state(0, 0, 3, [6, 7, 8])] {
        let dropped = successors(&model, DomainRule::Drop, &broken).expect("dropped");
        assert_eq!((dropped.list.len(), dropped.dropped), (0, 1));
    }
    let problem = |s: &State| *successors(&model, DomainRule::Error, s).unwrap_err();
    let expected =
        ModellingProblem::NoSuchCell { array: "A".to_owned(), index: Rational::from(3), last: 2 };
    assert_eq!(problem(&state(0, 3, 0, [6, 7, 8])), expected);
    let undefined = problem(&state(0, 0, 3, [6, 7, 8]));
    assert!(matches!(undefined, ModellingProblem::Undefined { .. }), "{undefined}");
}

#[test]
fn a_cell_between_the_integers_does_not_exist() {
    let half = Expr::binary(BinaryOp::Div, var(X), Expr::int(2));
    let assignments = vec![set(cell(half), Expr::int(9), 0)];
    let model = model(vec![assigns(None, assignments)], vec![], vec![]);
    assert_eq!(next(&model, &state(0, 4, 0, [0; 3])), [state(0, 4, 0, [0, 0, 9])]);
    assert!(next(&model, &state(0, 3, 0, [0; 3])).is_empty());
    let problem = *successors(&model, DomainRule::Error, &state(0, 3, 0, [0; 3])).unwrap_err();
    assert!(matches!(problem, ModellingProblem::NoSuchCell { .. }), "{problem}");
}

#[test]
fn two_different_values_at_once_are_an_error_by_either_rule() {
    let first = vec![assigns(Some(A), vec![set_var(X, var(Y)), set(cell(var(Y)), var(Y), 0)])];
    let second =
        vec![assigns(Some(A), vec![set_var(X, Expr::int(2)), set(cell(Expr::int(1)), var(X), 0)])];
    let model = model(first, second, vec![vector(&[(0, A), (1, A)], Some(A))]);
    for rule in [DomainRule::Drop, DomainRule::Error] {
        // the same value twice is none
        let agreed = successors(&model, rule, &state(0, 0, 2, [0; 3])).map(|s| s.list.len());
        assert_eq!(agreed, Ok(1));
        // x: 1 and 2
        let problem = *successors(&model, rule, &state(0, 1, 1, [0; 3])).unwrap_err();
        assert!(matches!(problem, ModellingProblem::Conflict(_)), "{problem}");
    }
    let mut operators = all(&model);
    let conflict = operators.remove(0).destinations.remove(0).conflict;
    // A[1]: only if y = 1
    assert_eq!(conflict.condition.holds(&state(0, 3, 2, [0; 3])), Ok(false));
    assert_eq!(conflict.condition.holds(&state(0, 3, 1, [0; 3])), Ok(true));
    assert_eq!(conflict.variables, ["x", "A[1]"]);
}

#[test]
fn free_choices_take_every_value_between_their_bounds() {
    let between = AssignedValue::between;
    let choice = |v, value, index| Assignment { target: Target::Var(v), value, index };
    let assignments = vec![
        choice(X, between(var(X), plus(var(X), 2)), 0),
        // reads what was chosen
        choice(Y, between(var(X), Expr::int(4)), 1),
    ];
    let model = model(vec![assigns(None, assignments)], vec![], vec![]);
    let pairs: Vec<(i64, i64)> =
        next(&model, &state(0, 2, 0, [0; 3])).iter().map(|s| (s[2], s[3])).collect();
    assert_eq!(pairs, [(2, 2), (2, 3), (2, 4), (3, 3), (3, 4), (4, 4)]);
    let found = successors(&model, DomainRule::Drop, &state(0, 2, 0, [0; 3])).expect("sound");
    assert_eq!(found.list[3].choices, [3, 3]);
}

#[test]
fn choices_beyond_the_domain_are_dropped_however_many() {
    let huge = Expr::Constant("1000000000000000000000".parse().expect("a number"));
    let assignment = |upper| Assignment {
        target: Target::Var(X),
        value: AssignedValue::between(Expr::int(-3), upper),
        index: 0,
    };
    let small = model(vec![assigns(None, vec![assignment(Expr::int(12))])], vec![], vec![]);
    let start = state(0, 0, 0, [0; 3]);
    let found = successors(&small, DomainRule::Drop, &start).expect("dropped");
    assert_eq!((found.list.len(), found.dropped), (10, 6));
    let problem = *successors(&small, DomainRule::Error, &start).unwrap_err();
    assert!(matches!(problem, ModellingProblem::LeavesDomain { .. }), "{problem}");
    // bounds beyond 64 bits must not make the values in between vanish
    let large = model(vec![assigns(None, vec![assignment(huge.clone())])], vec![], vec![]);
    let found = successors(&large, DomainRule::Drop, &start).expect("dropped");
    assert_eq!((found.list.len(), found.dropped > 1 << 60), (10, true));
    // where they cannot be enumerated, that is an error
    let shifted = vec![assignment(huge), set(Target::Var(X), Expr::int(1), 1)];
    let shifted = model(vec![assigns(None, shifted)], vec![], vec![]);
    let problem = *successors(&shifted, DomainRule::Drop, &start).unwrap_err();
    assert!(matches!(problem, ModellingProblem::Overflow { .. }), "{problem}");
}

#[test]
fn a_choice_that_contradicts_another_write_is_an_error_also_beyond_the_domain() {
    let between = Assignment {
        target: Target::Var(X),
        value: AssignedValue::between(Expr::int(10), Expr::int(12)),
        index: 0,
    };
    let assignments = vec![set_var(X, Expr::int(11)), between];
    let model = model(vec![assigns(None, assignments)], vec![], vec![]);
    let start = state(0, 0, 0, [0; 3]);
    let problem = *successors(&model, DomainRule::Drop, &start).unwrap_err();
    assert!(matches!(problem, ModellingProblem::Conflict(_)), "{problem}");
}

#[test]
fn probabilities_multiply_and_zero_is_no_outcome() {
    let third = || Probability::Constant(Rational::new(1, 3).expect("not 0"));
    let two_thirds = Probability::Constant(Rational::new(2, 3).expect("not 0"));
    let first = edge(Some(A), vec![to(0, third(), vec![]), to(1, two_thirds, vec![])]);
    // x/4 and 1 − x/4
    let quarter = Expr::binary(BinaryOp::Div, var(X), Expr::int(4));
    let rest = Expr::binary(BinaryOp::Sub, Expr::int(1), quarter.clone());
    let second = edge(
        Some(A),
        vec![
            to(0, Probability::expr(quarter), vec![set_var(Y, Expr::int(1))]),
            to(0, Probability::expr(rest), vec![set_var(Y, Expr::int(2))]),
        ],
    );
    let model = model(vec![first], vec![second], vec![vector(&[(0, A), (1, A)], Some(A))]);
    let operator = all(&model).remove(0);
    let probability = |d: usize, x: i64| match &operator.destinations[d].probability {
        Probability::Constant(p) => p.clone(),
        Probability::Expr(p) => p.eval(&state(0, x, 0, [0; 3])).expect("a probability"),
    };
    let twelfths: Vec<_> = (0..4).map(|d| &probability(d, 3) * &Rational::from(12)).collect();
    assert_eq!(twelfths, [3, 1, 6, 2].map(Rational::from));
    let ends = |x| {
        let found = next(&model, &state(0, x, 0, [0; 3]));
        found.iter().map(|s| (s[0], s[3])).collect::<Vec<_>>()
    };
    assert_eq!(ends(3), [(0, 1), (0, 2), (1, 1), (1, 2)]);
    assert_eq!(ends(0), [(0, 2), (1, 2)]);
    assert_eq!(ends(4), [(0, 1), (1, 1)]);
    // x = 5: 5/4 and −1/4
    let problem = *successors(&model, DomainRule::Drop, &state(0, 5, 0, [0; 3])).unwrap_err();
    assert!(matches!(problem, ModellingProblem::NegativeProbability(_)), "{problem}");
}

#[test]
fn probabilities_that_do_not_sum_to_one_are_an_error() {
    let quarter = || Probability::expr(Expr::binary(BinaryOp::Div, var(X), Expr::int(4)));
    let destinations = vec![to(0, quarter(), vec![]), to(1, quarter(), vec![])];
    let model = model(vec![edge(None, destinations)], vec![], vec![]);
    assert_eq!(next(&model, &state(0, 2, 0, [0; 3])).len(), 2);
    let problem = *successors(&model, DomainRule::Drop, &state(0, 1, 0, [0; 3])).unwrap_err();
    assert!(matches!(problem, ModellingProblem::Distribution(_)), "{problem}");
}

#[test]
fn leaving_the_domain_is_dropped_or_an_error() {
    let one_half = || Probability::Constant(Rational::new(1, 2).expect("not 0"));
    let up = to(0, one_half(), vec![set_var(X, plus(var(X), 1))]);
    let stay = to(1, one_half(), vec![]);
    let model = model(vec![edge(None, vec![up, stay])], vec![], vec![]);
    let edge_state = state(0, 9, 0, [0; 3]);
    let found = successors(&model, DomainRule::Drop, &edge_state).expect("dropped");
    assert_eq!(found.dropped, 1);
    assert_eq!(found.list.iter().map(|s| s.destination).collect::<Vec<_>>(), [1]);
    let error = ModelSemantics { model: &model, rule: DomainRule::Error }
        .successors(&all(&model)[0], &edge_state)
        .unwrap_err();
    let text = error.to_string();
    assert!(text.contains("variable x would become 10") && text.contains("x=9"), "{text}");
    assert!(text.contains("/automata/0/edges/0"), "{text}");
}

#[test]
fn what_has_no_value_is_dropped_or_an_error() {
    let mut guarded = assigns(None, vec![]);
    let quotient = over(6, var(X));
    guarded.guard = Condition::from_expr(&Expr::binary(BinaryOp::Le, quotient, Expr::int(3)));
    let guarded = model(vec![guarded], vec![], vec![]);
    let inverse = Expr::unary(policert_model::UnaryOp::Floor, over(6, var(X)));
    let assigned = model(vec![assigns(None, vec![set_var(Y, inverse)])], vec![], vec![]);
    for model in [&guarded, &assigned] {
        assert_eq!(next(model, &state(0, 2, 0, [0; 3])).len(), 1);
        assert!(next(model, &state(0, 0, 0, [0; 3])).is_empty());
        let problem = successors(model, DomainRule::Error, &state(0, 0, 0, [0; 3])).unwrap_err();
        assert!(matches!(*problem, ModellingProblem::Undefined { .. }), "{problem}");
    }
}

#[test]
fn an_outcome_exists_only_where_its_values_do_also_without_bounds() {
    let inverse = Expr::unary(policert_model::UnaryOp::Floor, over(6, var(X)));
    let mut unbounded = model(vec![assigns(None, vec![set_var(Y, inverse)])], vec![], vec![]);
    let bounded = unbounded.clone();
    unbounded.variables[Y.index()].domain = IntInterval::ALL;
    for (model, small) in [(&unbounded, true), (&bounded, false)] {
        let exists = all(model)[0].destinations[0].exists(&model.variables);
        for x in -3..=3 {
            let at = state(0, x, 0, [0; 3]);
            let expected = x != 0 && (small || x > 0);
            assert_eq!(exists.holds(&at) == Ok(true), expected, "x = {x}");
            assert_eq!(next(model, &at).len(), usize::from(expected), "x = {x}");
        }
    }
}

#[test]
fn keys_that_describe_no_operator_are_refused() {
    let first = vec![assigns(Some(A), vec![]), assigns(None, vec![])];
    let second = vec![assigns(Some(B), vec![])];
    let model = model(first, second, vec![vector(&[(0, A), (1, B)], Some(A))]);
    let key = |vector, edges: &[(u32, u32)]| OperatorKey {
        vector,
        edges: edges.iter().map(|&(i, e)| (InstanceId(i), e)).collect(),
    };
    let mut composer = Composer::new(&model);
    for valid in [key(None, &[(0, 1)]), key(Some(0), &[(0, 0), (1, 0)])] {
        assert!(composer.compose(&valid).is_ok());
    }
    let invalid = [
        key(None, &[]),
        key(None, &[(0, 0)]),
        key(None, &[(0, 2)]),
        key(None, &[(2, 0)]),
        key(None, &[(0, 1), (0, 1)]),
        key(Some(1), &[(0, 0), (1, 0)]),
        key(Some(0), &[]),
        key(Some(0), &[(0, 0)]),
        key(Some(0), &[(0, 1), (1, 0)]),
        key(Some(0), &[(1, 0), (0, 0)]),
        key(Some(0), &[(0, 0), (1, 0), (1, 0)]),
    ];
    for key in invalid {
        assert_eq!(composer.compose(&key), Err(ComposeError::NoSuchOperator(key)));
    }
}

#[test]
fn unsupported_compositions_are_refused() {
    let t = Assignment {
        target: Target::Transient(TransientId(0)),
        value: AssignedValue::between(Expr::int(0), Expr::int(1)),
        index: 0,
    };
    let transient = model(vec![assigns(None, vec![t])], vec![], vec![]);
    assert_eq!(transient.operators(10), Err(ComposeError::TransientChoice("t".to_owned())));
    let share = || Probability::Constant(Rational::new(1, 2000).expect("not 0"));
    let many = edge(Some(A), (0..2000).map(|_| to(0, share(), vec![])).collect());
    let vectors = vec![vector(&[(0, A), (1, A)], Some(A))];
    let many = model(vec![many.clone()], vec![many], vectors);
    assert_eq!(many.operators(10), Err(ComposeError::TooManyDestinations(4_000_000)));
    let expected = ComposeError::TooManyOperators { count: 1, limit: 0 };
    assert_eq!(many.operators(0), Err(expected));
}
