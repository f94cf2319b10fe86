//! Random safety properties of a model.

use policert_model::{
    BinaryOp, Condition, Expr, Model, Predicate, SafetyProperty, Start, State, VarId, VariableKind,
};

use crate::sketch::Sketch;
use crate::{Forms, Profile, Random};

/// A random property.
#[must_use]
pub fn property(random: &mut Random, profile: Profile, model: &Model) -> SafetyProperty {
    let sketch = Sketch::of_model(model, profile);
    let unsafe_condition = unsafe_condition(&sketch, random);
    let start = start(&sketch, random);
    let predicates = predicates(random, profile, model, &unsafe_condition);
    SafetyProperty {
        name: "tiny".to_owned(),
        start,
        goal: random.percent(25).then(|| bound(&sketch, random)),
        predicates,
        unsafe_condition,
        interface: None,
    }
}

/// `v ⋈ c` for a variable of any kind, locations excepted.
pub(crate) fn bound(sketch: &Sketch, random: &mut Random) -> Condition {
    let candidates: Vec<usize> =
        (0..sketch.variables.len()).filter(|&v| !sketch.variables[v].is_location()).collect();
    let v = *random.pick(&candidates);
    let variable = &sketch.variables[v];
    let var = Expr::Var(VarId::new(v));
    if variable.kind == VariableKind::Boolean {
        return Condition::from_literal(&var, random.percent(60));
    }
    let value = Expr::int(random.between(variable.domain.lo, variable.domain.hi));
    Condition::from_expr(&match random.below(10) {
        0..4 => Expr::binary(BinaryOp::Le, var, value),
        4..8 => Expr::binary(BinaryOp::Le, value, var),
        _ => Expr::binary(BinaryOp::Eq, var, value),
    })
}

/// A condition as the profile allows, with a value in every state.
pub(crate) fn condition(sketch: &Sketch, random: &mut Random) -> Condition {
    match (sketch.profile, random.below(100)) {
        (Profile::Unary, _) | (_, 0..40) => {
            let count = 1 + random.below(2);
            Condition::and((0..count).map(|_| bound(sketch, random)))
        }
        (Profile::Linear, _) | (_, 40..70) => {
            Condition::from_expr(&sketch.expressions(Forms::Linear).boolean(random, 2))
        }
        _ => Condition::from_expr(&sketch.expressions(Forms::Total).boolean(random, 2)),
    }
}

/// An instance is in a location.
fn location(sketch: &Sketch, random: &mut Random) -> Condition {
    let instances = sketch.variables.iter().filter(|v| v.is_location()).count();
    let v = random.below(instances.max(1));
    let domain = sketch.variables[v].domain;
    Condition::var_equals(VarId::new(v), random.between(domain.lo, domain.hi))
}

fn unsafe_condition(sketch: &Sketch, random: &mut Random) -> Condition {
    let narrow = |random: &mut Random| {
        let count = 1 + random.below(3);
        Condition::and((0..count).map(|_| bound(sketch, random)))
    };
    match random.below(20) {
        0..10 => narrow(random),
        10..13 => Condition::and([location(sketch, random), narrow(random)]),
        13..15 => Condition::or([narrow(random), narrow(random)]),
        15 => location(sketch, random),
        16 => Condition::False,
        _ => Condition::and([condition(sketch, random), narrow(random)]),
    }
}

fn any_state(sketch: &Sketch, random: &mut Random) -> State {
    sketch.variables.iter().map(|v| random.between(v.domain.lo, v.domain.hi)).collect()
}

fn start(sketch: &Sketch, random: &mut Random) -> Option<Start> {
    Some(match random.below(20) {
        0..5 => return None,
        5..13 => {
            let count = 1 + random.below(3);
            let mut states: Vec<State> = (0..count).map(|_| any_state(sketch, random)).collect();
            if random.percent(20) {
                states.push(states[0].clone());
            }
            Start::States(states)
        }
        13..18 => {
            let count = 3 + random.below(4);
            Start::Condition(Condition::and((0..count).map(|_| bound(sketch, random))))
        }
        18 => Start::Condition(location(sketch, random)),
        _ => Start::Condition(condition(sketch, random)),
    })
}

/// The parts of a condition that are no conjunctions or disjunctions.
fn atoms(condition: &Condition, all: &mut Vec<Condition>) {
    match condition {
        Condition::And(parts) | Condition::Or(parts) => {
            parts.iter().for_each(|part| atoms(part, all));
        }
        other => all.push(other.clone()),
    }
}

/// Random predicates: often those of the unsafe condition, and some more.
pub(crate) fn predicates(
    random: &mut Random,
    profile: Profile,
    model: &Model,
    unsafe_condition: &Condition,
) -> Vec<Predicate> {
    let sketch = &Sketch::of_model(model, profile);
    let mut conditions = Vec::new();
    if !random.percent(15) {
        // With those of the unsafe condition, the abstraction can tell unsafe states apart.
        if random.percent(70) {
            if sketch.profile == Profile::Unary || random.percent(50) {
                atoms(unsafe_condition, &mut conditions);
            } else {
                conditions.extend(unsafe_condition.conjuncts().iter().cloned());
            }
        }
        for _ in 0..random.below(6) {
            conditions.push(match sketch.profile {
                Profile::Unary => bound(sketch, random),
                _ if random.percent(60) => bound(sketch, random),
                _ => condition(sketch, random),
            });
        }
    }
    // Locations are tracked anyway, and a constant tells nothing.
    conditions.retain(|condition| {
        let decided = matches!(condition, Condition::True | Condition::False);
        let mut location = false;
        condition.for_each_var(&mut |v| location |= model.variables[v.index()].is_location());
        !decided && !location
    });
    conditions
        .into_iter()
        .map(|condition| Predicate { text: model.display_condition(&condition), condition })
        .collect()
}
