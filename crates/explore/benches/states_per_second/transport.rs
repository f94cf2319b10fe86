//! A truck that carries packages along a line: one automaton, five labels, about five edges a
//! place.

use policert_model::{
    AssignedValue, Assignment, AutomatonInstance, BinaryOp, Condition, Edge, EdgeDestination,
    EdgePlace, Expr, InitialValue, InstanceId, LabelId, Model, Probability, SyncVector, Target,
    VarId, Variable, VariableKind,
};
use policert_numeric::IntInterval;

const LABELS: [&str; 5] = ["pick_up", "drop", "accelerate", "brake", "move"];

/// The model for a line of `places` with `packages`, which lie at the first ones.
pub fn transport(places: usize, packages: i64) -> Model {
    let (truck, load, speed, crashed) = (
        VarId::new(places + 1),
        VarId::new(places + 2),
        VarId::new(places + 3),
        VarId::new(places + 4),
    );
    let last = i64::try_from(places).expect("few places") - 1;
    let mut edges = Vec::new();
    for place in 0..places {
        let (at, here) = (VarId::new(place + 1), i64::try_from(place).expect("few places"));
        let is_here = Condition::var_equals(truck, here);
        let still = at_most(speed, 0);
        let mut add = |label, guard: Vec<Condition>, assignments| {
            let guard = Condition::and([is_here.clone()].into_iter().chain(guard));
            edges.push(edge(label, guard, assignments));
        };
        if here < last {
            let guard = vec![at_most(load, packages - 1), at_least(at, 1), still.clone()];
            add(0, guard, vec![step(at, -1), step(load, 1)]);
        } else {
            add(1, vec![at_least(load, 1), still], vec![step(at, 1), step(load, -1)]);
        }
        let room = last - here;
        let inside = at_most(speed, room.min(3));
        let drive = || Assignment {
            target: Target::Var(truck),
            value: AssignedValue::Expr(Expr::binary(
                BinaryOp::Add,
                Expr::Var(truck),
                Expr::Var(speed),
            )),
            index: 0,
        };
        add(2, vec![inside.clone(), at_most(speed, 2)], vec![drive(), step(speed, 1)]);
        add(3, vec![inside.clone(), at_least(speed, 1)], vec![drive(), step(speed, -1)]);
        add(4, vec![inside, at_least(speed, 1), at_least(load, 1)], vec![drive()]);
        if room < 3 {
            for label in 2..5 {
                let crash = Assignment {
                    target: Target::Var(crashed),
                    value: AssignedValue::Expr(Expr::int(1)),
                    index: 0,
                };
                add(label, vec![at_least(speed, room + 1)], vec![crash]);
            }
        }
    }
    let location = VariableKind::Location { instance: InstanceId(0), names: vec!["l".to_owned()] };
    let mut variables =
        vec![Variable { name: "A".to_owned(), kind: location, domain: IntInterval::point(0) }];
    let mut integer = |name: String, hi| {
        let domain = IntInterval::new(0, hi);
        variables.push(Variable { name, kind: VariableKind::Integer, domain });
    };
    (0..places).for_each(|p| integer(format!("packages_{p}"), packages));
    integer("truck".to_owned(), last);
    integer("load".to_owned(), packages);
    integer("speed".to_owned(), 3);
    integer("crashed".to_owned(), 1);
    let mut initial = vec![0; variables.len()];
    for p in 0..packages {
        initial[1 + usize::try_from(p).expect("few packages") % (places - 1)] += 1;
    }
    Model {
        name: "transport".to_owned(),
        variables,
        transients: Vec::new(),
        labels: LABELS.map(str::to_owned).to_vec(),
        instances: vec![AutomatonInstance { automaton: "A".to_owned(), location: VarId(0), edges }],
        vectors: (0..LABELS.len())
            .map(|l| SyncVector {
                participants: vec![(InstanceId(0), LabelId::new(l))],
                result: Some(LabelId::new(l)),
            })
            .collect(),
        initial_values: initial.into_iter().map(InitialValue::Fixed).collect(),
        initial_condition: Condition::True,
    }
}

/// The states in which all packages lie at the places and the truck stands empty at the first.
pub fn empty_truck_anywhere(model: &Model, places: usize, packages: i64) -> Condition {
    let sum = (1..places).map(|p| Expr::Var(VarId::new(p)));
    let sum = sum.reduce(|a, b| Expr::binary(BinaryOp::Add, a, b)).expect("several places");
    let all = Expr::binary(BinaryOp::Eq, sum, Expr::int(packages));
    let fixed = (places..model.variables.len()).map(|v| Condition::var_equals(VarId::new(v), 0));
    Condition::and(fixed.chain([Condition::from_expr(&all)]))
}

fn at_most(variable: VarId, value: i64) -> Condition {
    let le = Expr::binary(BinaryOp::Le, Expr::Var(variable), Expr::int(value));
    Condition::from_expr(&le)
}

fn at_least(variable: VarId, value: i64) -> Condition {
    let le = Expr::binary(BinaryOp::Le, Expr::int(value), Expr::Var(variable));
    Condition::from_expr(&le)
}

fn step(variable: VarId, by: i64) -> Assignment {
    let value = Expr::binary(BinaryOp::Add, Expr::Var(variable), Expr::int(by));
    Assignment { target: Target::Var(variable), value: AssignedValue::Expr(value), index: 0 }
}

fn edge(label: usize, guard: Condition, assignments: Vec<Assignment>) -> Edge {
    Edge {
        source: 0,
        action: Some(LabelId::new(label)),
        guard,
        destinations: vec![EdgeDestination {
            location: 0,
            probability: Probability::one(),
            assignments,
        }],
        place: EdgePlace::default(),
    }
}
