//! Random models: several instances, synchronisation, every kind of assignment.

use std::sync::Arc;

use policert_model::{
    AssignedValue, Assignment, AutomatonInstance, BinaryOp, Condition, Edge, EdgeDestination,
    EdgePlace, Expr, InitialValue, InstanceId, LabelId, Model, Probability, SafetyProperty, Start,
    SyncVector, Target, Transient, TransientId, ValueBounds, VarId, Variable, VariableKind,
};
use policert_numeric::{IntInterval, Rational};
use policert_testkit::{Expressions, Forms, Random, boolean, integer};

const LABELS: usize = 4;

/// A random model and property.
pub fn random_case(random: &mut Random) -> (Model, SafetyProperty) {
    let model = random_model(random);
    let expressions = expressions(random, &model.variables);
    let rare = |random: &mut Random| {
        Condition::and((0..1 + random.below(3)).map(|_| literal(random, &model)))
    };
    let bounded = model.domains().is_bounded();
    let start = match random.below(3) {
        0 => None,
        1 if !bounded => None,
        1 => Some(Start::Condition(rare(random))),
        _ => Some(Start::States((0..3).map(|_| random_state(random, &model)).collect())),
    };
    let unsafe_condition = match random.below(6) {
        0 => Condition::from_expr(&expressions.boolean(random, 2)),
        _ => rare(random),
    };
    let property = SafetyProperty {
        name: "p".to_owned(),
        start,
        unsafe_condition,
        goal: None,
        predicates: Vec::new(),
        interface: None,
    };
    (model, property)
}

/// `variable = value`, sometimes something else.
pub fn literal(random: &mut Random, model: &Model) -> Condition {
    let variable = random.below(model.variables.len());
    let side = model.variables[variable].domain;
    let value = random.between(side.lo.max(-4), side.hi.min(4));
    let compare = *random.pick(&[BinaryOp::Eq, BinaryOp::Eq, BinaryOp::Ne, BinaryOp::Le]);
    let variable = Expr::Var(VarId::new(variable));
    Condition::from_expr(&Expr::binary(compare, variable, Expr::int(value)))
}

fn random_state(random: &mut Random, model: &Model) -> Vec<i64> {
    let value = |v: &Variable| random.between(v.domain.lo.max(-3), v.domain.hi.min(3));
    model.variables.iter().map(value).collect()
}

fn expressions(random: &mut Random, variables: &[Variable]) -> Expressions {
    let forms = random.weighted(&[(5, Forms::Linear), (3, Forms::Total), (2, Forms::Any)]);
    Expressions::new(variables, forms)
}

fn random_model(random: &mut Random) -> Model {
    let instances = 1 + random.below(3);
    let mut variables = Vec::new();
    for i in 0..instances {
        let last = random.below(3);
        variables.push(Variable {
            name: format!("L{i}"),
            kind: VariableKind::Location {
                instance: InstanceId::new(i),
                names: (0..=last).map(|l| format!("l{l}")).collect(),
            },
            domain: IntInterval::new(0, i64::try_from(last).expect("small")),
        });
    }
    for i in 0..2 + random.below(2) {
        let lo = random.between(-2, 1);
        variables.push(integer(&format!("x{i}"), lo, lo + random.between(1, 4)));
    }
    if random.percent(30) {
        variables.push(boolean("b"));
    }
    if random.percent(10) {
        let mut open = integer("open", 0, 0);
        open.domain = *random.pick(&[
            IntInterval::ALL,
            IntInterval::new(-2, IntInterval::UNBOUNDED_ABOVE),
            IntInterval::new(i64::MAX - 9, i64::MAX - 1),
        ]);
        variables.push(open);
    }
    let transients = if random.percent(20) {
        vec![Transient {
            name: "t".to_owned(),
            initial: Expr::int(random.between(-1, 2)),
            bounds: ValueBounds::default(),
        }]
    } else {
        Vec::new()
    };
    let expressions = expressions(random, &variables);
    let initial_values = variables.iter().map(|v| initial_value(random, v)).collect();
    let mut model = Model {
        name: "random".to_owned(),
        variables,
        transients,
        labels: (0..LABELS).map(|l| format!("a{l}")).collect(),
        instances: Vec::new(),
        vectors: Vec::new(),
        initial_values,
        initial_condition: Condition::True,
    };
    let instances: Vec<AutomatonInstance> = (0..instances)
        .map(|i| AutomatonInstance {
            automaton: format!("A{i}"),
            location: VarId::new(i),
            edges: (0..2 + random.below(6))
                .map(|e| random_edge(random, &model, i, e, &expressions))
                .collect(),
        })
        .collect();
    for _ in 0..3 + random.below(4) {
        let vector = random_vector(random, instances.len());
        model.vectors.push(vector);
    }
    model.instances = instances;
    model
}

fn initial_value(random: &mut Random, variable: &Variable) -> InitialValue {
    let domain = variable.domain;
    match random.below(4) {
        0 if domain.count().is_some_and(|n| n < 8) => InitialValue::Any,
        1 if domain.is_bounded() => InitialValue::OneOf(vec![domain.lo, domain.hi]),
        _ => {
            InitialValue::Fixed(random.between(domain.lo.max(-2), domain.hi.min(2).max(domain.lo)))
        }
    }
}

fn random_vector(random: &mut Random, instances: usize) -> SyncVector {
    let mut participants: Vec<(InstanceId, LabelId)> = Vec::new();
    for i in 0..instances {
        if random.percent(60) {
            participants.push((InstanceId::new(i), LabelId::new(random.below(LABELS))));
        }
    }
    let result = random.percent(85).then(|| LabelId::new(random.below(LABELS)));
    SyncVector { participants, result }
}

fn random_edge(
    random: &mut Random,
    model: &Model,
    instance: usize,
    number: usize,
    expressions: &Expressions,
) -> Edge {
    let locations = model.variables[instance].domain;
    let guard = match random.below(10) {
        0..=3 => Condition::True,
        4..=6 => literal(random, model),
        7 => Condition::and([literal(random, model), literal(random, model)]),
        _ => Condition::from_expr(&expressions.boolean(random, 2)),
    };
    let count = 1 + random.below(2);
    let probabilities = if count == 1 {
        vec![Probability::one()]
    } else if random.percent(85) {
        vec![Probability::Constant(Rational::new(1, 2).expect("a half")); 2]
    } else {
        // 1 or 0, by the state
        let first = Expr::ite(literal(random, model).to_expr(), Expr::int(1), Expr::int(0));
        let second = Expr::binary(BinaryOp::Sub, Expr::int(1), first.clone());
        vec![Probability::expr(first), Probability::expr(second)]
    };
    let destination = |random: &mut Random, probability| EdgeDestination {
        location: random.between(locations.lo, locations.hi),
        probability,
        assignments: (0..random.below(3))
            .map(|_| random_assignment(random, model, expressions))
            .collect(),
    };
    Edge {
        source: random.between(locations.lo, locations.hi),
        action: random.percent(70).then(|| LabelId::new(random.below(LABELS))),
        guard,
        destinations: probabilities.into_iter().map(|p| destination(random, p)).collect(),
        place: EdgePlace::new(instance, number),
    }
}

fn random_assignment(random: &mut Random, model: &Model, expressions: &Expressions) -> Assignment {
    let index = i64::from(random.percent(15));
    let of_kind = |kind: &VariableKind| -> Vec<VarId> {
        let all = model.variables.iter().enumerate();
        all.filter(|(_, v)| v.kind == *kind).map(|(i, _)| VarId::new(i)).collect()
    };
    let (integers, booleans) = (of_kind(&VariableKind::Integer), of_kind(&VariableKind::Boolean));
    if !booleans.is_empty() && random.percent(20) {
        let value = AssignedValue::Expr(expressions.boolean(random, 1));
        return Assignment { target: Target::Var(booleans[0]), value, index };
    }
    let variable = *random.pick(&integers);
    let target = match random.below(10) {
        0 if !model.transients.is_empty() => Target::Transient(TransientId(0)),
        1 | 2 => Target::Cell {
            cells: Arc::from(&integers[..2]),
            index: Box::new(match random.below(3) {
                0 => Expr::int(random.between(0, 1)),
                1 => Expr::Var(*random.pick(&integers)),
                _ => expressions.integer(random, 1),
            }),
        },
        _ => Target::Var(variable),
    };
    let old = if !model.transients.is_empty() && random.percent(20) {
        Expr::Transient(TransientId(0))
    } else {
        Expr::Var(*random.pick(&integers))
    };
    let step = |random: &mut Random, old: Expr| {
        Expr::binary(BinaryOp::Add, old, Expr::int(random.between(-1, 1)))
    };
    let value = match random.below(20) {
        0..=7 => AssignedValue::Expr(step(random, old)),
        8..=11 => AssignedValue::Expr(Expr::int(random.between(-2, 3))),
        12 if !matches!(target, Target::Transient(_)) => {
            AssignedValue::between(step(random, old.clone()), Expr::int(random.between(-1, 3)))
        }
        13 if random.percent(10) => AssignedValue::Expr(expressions.real(random, 1)),
        _ => AssignedValue::Expr(expressions.integer(random, 1)),
    };
    Assignment { target, value, index }
}
