//! Random tiny models: one or two instances over a few bounded variables.

mod edges;

use policert_model::{
    AutomatonInstance, Condition, InitialValue, InstanceId, LabelId, Model, SyncVector, Transient,
    ValueBounds, VarId, Variable, VariableKind,
};
use policert_numeric::IntInterval;

use crate::Random;
use crate::sketch::{Profile, Sketch};

/// The number of states that a generated model should not exceed.
const STATES: u128 = 600;

/// The names of its labels.
const LABELS: [&str; 5] = ["go", "back", "stay", "turn", "wait"];

/// A random model; the greater `size` (from 1), the more variables and edges.
#[must_use]
pub fn model(random: &mut Random, profile: Profile, size: usize) -> Model {
    let instances = if size > 1 && random.percent(35) { 2 } else { 1 };
    let sketch = sketch(random, profile, size, instances);
    let labels = 2 + random.below(LABELS.len() - 1);
    let instances: Vec<AutomatonInstance> =
        (0..instances).map(|i| edges::instance(&sketch, random, i, labels)).collect();
    let vectors = vectors(random, instances.len(), labels);
    let initial_values =
        sketch.variables.iter().map(|variable| initial_value(random, variable)).collect();
    let initial_condition = if random.percent(15) {
        crate::properties::condition(&sketch, random)
    } else {
        Condition::True
    };
    let transients = (0..sketch.transients).map(|i| Transient {
        name: format!("t{i}"),
        initial: policert_model::Expr::int(random.between(0, 2)),
        bounds: if random.percent(60) {
            let bound = |value: i64| Some(value.into());
            ValueBounds { lower: bound(random.between(-4, 0)), upper: bound(random.between(2, 5)) }
        } else {
            ValueBounds::default()
        },
    });
    Model {
        name: "tiny".to_owned(),
        transients: transients.collect(),
        variables: sketch.variables,
        labels: LABELS[..labels].iter().map(|&name| name.to_owned()).collect(),
        instances,
        vectors,
        initial_values,
        initial_condition,
    }
}

/// The variables: locations first, then globals, the array last.
fn sketch(random: &mut Random, profile: Profile, size: usize, instances: usize) -> Sketch {
    let mut variables = Vec::new();
    for i in 0..instances {
        let count = 1 + random.below(3.min(size + 1));
        variables.push(Variable {
            name: format!("Automaton{i}#{i}"),
            kind: VariableKind::Location {
                instance: InstanceId::new(i),
                names: (0..count).map(|l| format!("l{l}")).collect(),
            },
            domain: IntInterval::new(0, i64::try_from(count).unwrap_or(1) - 1),
        });
    }
    let integers = 1 + random.below(size.min(3));
    for name in ["x", "y", "z"].into_iter().take(integers) {
        let lo = *random.pick(&[0, 0, 0, 1, -1, -3]);
        variables.push(crate::integer(name, lo, lo + random.between(1, 8)));
    }
    let booleans = random.below(size.min(3));
    for name in ["b", "c"].into_iter().take(booleans) {
        variables.push(crate::boolean(name));
    }
    let mut array = Vec::new();
    let chance = match profile {
        Profile::Unary => 0,
        Profile::Linear => 10,
        Profile::General => 35,
    };
    if size > 1 && random.percent(chance) {
        let hi = random.between(1, 2);
        for k in 0..2 + random.below(2) {
            array.push(VarId::new(variables.len()));
            variables.push(crate::integer(&format!("A[{k}]"), 0, hi));
        }
    }
    // Narrow the widest domains until few states are left.
    let count = |variables: &[Variable]| {
        variables.iter().map(|v| v.domain.count().unwrap_or(1)).product::<u128>()
    };
    while count(&variables) > STATES {
        // the cells of an array share their type
        let integers = variables
            .iter_mut()
            .filter(|v| v.kind == VariableKind::Integer && !v.name.starts_with('A'))
            .filter(|v| !v.domain.is_point());
        match integers.max_by_key(|v| v.domain.count()) {
            Some(widest) => widest.domain.hi -= 1,
            None => break,
        }
    }
    let transients = match profile {
        Profile::General => random.weighted(&[(65, 0), (20, 1), (15, 2)]),
        Profile::Unary | Profile::Linear => 0,
    };
    Sketch { profile, size, variables, array, transients }
}

fn initial_value(random: &mut Random, variable: &Variable) -> InitialValue {
    let domain = variable.domain;
    match variable.kind {
        VariableKind::Location { .. } if random.percent(15) => {
            InitialValue::OneOf(vec![domain.lo, random.between(domain.lo, domain.hi)])
        }
        VariableKind::Location { .. } => InitialValue::Fixed(domain.lo),
        _ if random.percent(12) => InitialValue::Any,
        _ => InitialValue::Fixed(random.between(domain.lo, domain.hi)),
    }
}

/// Synchronisation vectors: mostly one for each label, in which one or all instances take part.
fn vectors(random: &mut Random, instances: usize, labels: usize) -> Vec<SyncVector> {
    let mut vectors = Vec::new();
    for label in 0..labels {
        let action = LabelId::new(label);
        let result = match random.below(12) {
            0 => None,
            1 => Some(LabelId::new(random.below(labels))),
            _ => Some(action),
        };
        // A label without a vector: its edges never fire.
        if random.percent(5) {
            continue;
        }
        if instances == 1 {
            vectors.push(SyncVector { participants: vec![(InstanceId(0), action)], result });
            continue;
        }
        if random.percent(60) {
            let other =
                if random.percent(80) { action } else { LabelId::new(random.below(labels)) };
            let participants = vec![(InstanceId(0), action), (InstanceId(1), other)];
            vectors.push(SyncVector { participants, result });
        } else {
            for instance in 0..2 {
                if random.percent(75) {
                    let participants = vec![(InstanceId(instance), action)];
                    vectors.push(SyncVector { participants, result });
                }
            }
        }
    }
    vectors
}
