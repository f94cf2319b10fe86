//! Short hands to write models by hand: automata without locations.

use policert_model::{
    AssignedValue, Assignment, AutomatonInstance, Condition, Edge, EdgeDestination, EdgePlace,
    Expr, InitialValue, InstanceId, LabelId, Model, Probability, SafetyProperty, SyncVector,
    Target, VarId, Variable, VariableKind,
};
use policert_numeric::IntInterval;

/// The variable after the single instance's location.
pub fn var(index: usize) -> VarId {
    VarId::new(index + 1)
}

/// `variable = value`.
pub fn equals(variable: VarId, value: i64) -> Condition {
    Condition::var_equals(variable, value)
}

/// `variable := value`.
pub fn set(variable: VarId, value: Expr) -> Assignment {
    Assignment { target: Target::Var(variable), value: AssignedValue::Expr(value), index: 0 }
}

/// An edge with one outcome.
pub fn edge(action: Option<usize>, guard: Condition, assignments: Vec<Assignment>) -> Edge {
    Edge {
        source: 0,
        action: action.map(LabelId::new),
        guard,
        destinations: vec![EdgeDestination {
            location: 0,
            probability: Probability::one(),
            assignments,
        }],
        place: EdgePlace::default(),
    }
}

/// A model with one automaton, whose variables all start at their least value (0 if that is
/// open); one label for each action.
pub fn model(domains: &[(i64, i64)], labels: usize, edges: Vec<Edge>) -> Model {
    let location = Variable {
        name: "A".to_owned(),
        kind: VariableKind::Location { instance: InstanceId(0), names: vec!["l".to_owned()] },
        domain: IntInterval::point(0),
    };
    let integer = |(i, &(lo, hi)): (usize, &(i64, i64))| Variable {
        name: format!("x{i}"),
        kind: VariableKind::Integer,
        domain: IntInterval::new(lo, hi),
    };
    let variables: Vec<Variable> =
        [location].into_iter().chain(domains.iter().enumerate().map(integer)).collect();
    let start = |v: &Variable| match v.domain.lo {
        IntInterval::UNBOUNDED_BELOW => InitialValue::Fixed(0),
        lo => InitialValue::Fixed(lo),
    };
    let vector = |label| SyncVector {
        participants: vec![(InstanceId(0), LabelId::new(label))],
        result: Some(LabelId::new(label)),
    };
    Model {
        name: "by hand".to_owned(),
        initial_values: variables.iter().map(start).collect(),
        variables,
        transients: Vec::new(),
        labels: (0..labels).map(|l| format!("a{l}")).collect(),
        instances: vec![AutomatonInstance { automaton: "A".to_owned(), location: VarId(0), edges }],
        vectors: (0..labels).map(vector).collect(),
        initial_condition: Condition::True,
    }
}

/// The property that `unsafe_condition` is never reached from the initial states.
pub fn property(unsafe_condition: Condition) -> SafetyProperty {
    SafetyProperty {
        name: "p".to_owned(),
        start: None,
        unsafe_condition,
        goal: None,
        predicates: Vec::new(),
        interface: None,
    }
}
