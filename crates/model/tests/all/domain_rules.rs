//! What an outcome without a proper value means, by both rules: transient variables, assignment
//! indices that repair what earlier ones left, free choices without any value, division by zero.

use std::path::Path;

use policert_model::{
    AssignedValue, Assignment, AutomatonInstance, BY_ZERO, BinaryOp, Condition, DomainRule, Edge,
    EdgeDestination, EdgePlace, Expr, InitialValue, InstanceId, Model, ModelSemantics,
    ModellingProblem, Probability, State, Successors, Target, Transient, TransientId, ValueBounds,
    VarId, Variable, VariableKind,
};
use policert_numeric::IntInterval;

const X: VarId = VarId(1);
const T: TransientId = TransientId(0);

/// One automaton of one location, which assigns this in a silent edge; `x` and the transient `t` lie
/// between 0 and 3.
fn model(assignments: Vec<Assignment>) -> Model {
    let only = VariableKind::Location { instance: InstanceId(0), names: vec!["l".to_owned()] };
    let variable = |name: &str, kind, hi| Variable {
        name: name.to_owned(),
        kind,
        domain: IntInterval::new(0, hi),
    };
    let destination = EdgeDestination { location: 0, probability: Probability::one(), assignments };
    let edge = Edge {
        source: 0,
        action: None,
        guard: Condition::True,
        destinations: vec![destination],
        place: EdgePlace::default(),
    };
    Model {
        name: "one edge".to_owned(),
        variables: vec![variable("A#0", only, 0), variable("x", VariableKind::Integer, 3)],
        transients: vec![Transient {
            name: "t".to_owned(),
            initial: Expr::int(0),
            bounds: ValueBounds { lower: Some(0.into()), upper: Some(3.into()) },
        }],
        labels: Vec::new(),
        instances: vec![AutomatonInstance {
            automaton: "A".to_owned(),
            location: VarId(0),
            edges: vec![edge],
        }],
        vectors: Vec::new(),
        initial_values: vec![InitialValue::Fixed(0); 2],
        initial_condition: Condition::True,
    }
}

fn set(target: Target, value: Expr, index: i64) -> Assignment {
    Assignment { target, value: AssignedValue::Expr(value), index }
}

fn binary(op: BinaryOp, a: i64, x: VarId) -> Expr {
    Expr::binary(op, Expr::int(a), Expr::Var(x))
}

/// The successors by the edge from `x`.
fn taken(model: &Model, rule: DomainRule, x: i64) -> Result<Successors, ModellingProblem> {
    let operator = model.operators(1).expect("one operator").remove(0);
    let successors = ModelSemantics { model, rule }.successors(&operator, &[0, x]);
    successors.map_err(|error| error.problem)
}

fn states(successors: Successors) -> Vec<State> {
    successors.list.into_iter().map(|successor| successor.state).collect()
}

#[test]
fn a_transient_variable_that_nobody_reads_stays_within_its_bounds() {
    let model = model(vec![set(Target::Transient(T), binary(BinaryOp::Add, 2, X), 0)]);
    for rule in [DomainRule::Drop, DomainRule::Error] {
        assert_eq!(taken(&model, rule, 1).map(states), Ok(vec![vec![0, 1]]));
    }
    let dropped = taken(&model, DomainRule::Drop, 2).expect("no error");
    assert_eq!((dropped.list.len(), dropped.dropped), (0, 1));
    let problem = taken(&model, DomainRule::Error, 2).unwrap_err();
    assert_eq!(
        problem.to_string(),
        "transient variable t would become 4, outside its bounds [0, 3]"
    );
}

#[test]
fn a_transient_variable_that_nobody_reads_has_a_value() {
    let quotient = Expr::unary(policert_model::UnaryOp::Floor, binary(BinaryOp::Div, 3, X));
    let mut model = model(vec![set(Target::Transient(T), quotient, 0)]);
    for bounds in [model.transients[0].bounds.clone(), ValueBounds::default()] {
        model.transients[0].bounds = bounds;
        assert_eq!(taken(&model, DomainRule::Error, 1).map(states), Ok(vec![vec![0, 1]]));
        let dropped = taken(&model, DomainRule::Drop, 0).expect("no error");
        assert_eq!((dropped.list.len(), dropped.dropped), (0, 1));
        let problem = taken(&model, DomainRule::Error, 0).unwrap_err();
        assert!(matches!(problem, ModellingProblem::Undefined { .. }), "{problem}");
    }
}

#[test]
fn a_later_index_repairs_what_an_earlier_one_left_outside_or_without_value() {
    for target in [Target::Var(X), Target::Transient(T)] {
        for broken in [Expr::int(9), binary(BinaryOp::Div, 1, X)] {
            let assignments =
                vec![set(target.clone(), broken.clone(), 0), set(target.clone(), Expr::int(2), 1)];
            let model = model(assignments);
            for rule in [DomainRule::Drop, DomainRule::Error] {
                let expected = if target == Target::Var(X) { 2 } else { 0 };
                assert_eq!(taken(&model, rule, 0).map(states), Ok(vec![vec![0, expected]]));
            }
        }
    }
}

#[test]
fn a_later_index_that_reads_what_has_no_value_has_none_either() {
    let assignments = vec![
        set(Target::Transient(T), binary(BinaryOp::Div, 1, X), 0),
        set(Target::Var(X), Expr::Transient(T), 1),
        set(Target::Transient(T), Expr::int(1), 2),
    ];
    let model = model(assignments);
    let dropped = taken(&model, DomainRule::Drop, 0).expect("no error");
    assert_eq!((dropped.list.len(), dropped.dropped), (0, 1));
    assert!(taken(&model, DomainRule::Error, 0).is_err());
}

#[test]
fn a_free_choice_with_an_empty_range_is_no_transition_or_an_error() {
    let value = AssignedValue::between(Expr::int(2), Expr::Var(X));
    let model = model(vec![Assignment { target: Target::Var(X), value, index: 0 }]);
    for rule in [DomainRule::Drop, DomainRule::Error] {
        assert_eq!(taken(&model, rule, 3).map(states), Ok(vec![vec![0, 2], vec![0, 3]]));
    }
    let dropped = taken(&model, DomainRule::Drop, 1).expect("no error");
    assert_eq!((dropped.list.len(), dropped.dropped), (0, 1));
    let problem = taken(&model, DomainRule::Error, 1).unwrap_err();
    assert!(matches!(problem, ModellingProblem::EmptyChoice { .. }), "{problem}");
}

#[test]
fn the_pages_say_the_same_of_division_by_zero() {
    for page in ["arithmetic.md", "formats/jani.md", "formats/result.md"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(page);
        let text = std::fs::read_to_string(path).expect("a page");
        let words: Vec<&str> = text.split_whitespace().collect();
        assert!(words.join(" ").contains(BY_ZERO), "{page}");
    }
}

#[test]
fn zero_by_zero_is_zero_for_division_and_modulus_alike() {
    for op in [BinaryOp::Div, BinaryOp::Mod] {
        let model =
            model(vec![set(Target::Var(X), Expr::binary(op, Expr::Var(X), Expr::int(0)), 0)]);
        for rule in [DomainRule::Drop, DomainRule::Error] {
            assert_eq!(taken(&model, rule, 0).map(states), Ok(vec![vec![0, 0]]));
        }
        assert_eq!(taken(&model, DomainRule::Drop, 1).map(|s| s.dropped), Ok(1));
        let problem = taken(&model, DomainRule::Error, 1).unwrap_err();
        assert!(matches!(problem, ModellingProblem::Undefined { .. }), "{problem}");
    }
}
