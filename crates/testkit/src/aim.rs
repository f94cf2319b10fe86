//! Policies that get somewhere, and unsafe conditions aimed at what they reach, so that both
//! verdicts are frequent and hard to find.

use std::collections::BTreeSet;

use policert_engine_api::Question;
use policert_model::{BinaryOp, Condition, Expr, Model, SafetyProperty, State, VarId};
use policert_policy::PolicySemantics;

use crate::oracle::Oracle;
use crate::sketch::Sketch;
use crate::{PolicyParts, Profile, Random, states};

/// Of a few random policies, the one whose longest shortest path is the longest.
pub(crate) fn far_reaching_policy(
    random: &mut Random,
    size: usize,
    model: &Model,
    property: &SafetyProperty,
) -> PolicyParts {
    let harmless = SafetyProperty { unsafe_condition: Condition::False, ..property.clone() };
    let mut best: Option<(usize, PolicyParts)> = None;
    for _ in 0..1 + random.below(4) {
        let policy = crate::policy(random, size, model);
        let question = Question::new(model, &harmless);
        let reached =
            Oracle::new(question, Some((&policy, PolicySemantics::default()))).reachable();
        let depth = reached.distances.into_values().max().unwrap_or(0);
        if best.as_ref().is_none_or(|(deepest, _)| depth > *deepest) {
            best = Some((depth, policy));
        }
    }
    best.map_or_else(|| crate::policy(random, size, model), |(_, policy)| policy)
}

/// An unsafe condition that a start state does not meet: either one that the policy reaches after
/// some steps, or one that it does not reach, but some other policy does. `None` if there is no
/// such state.
pub(crate) fn unsafe_condition(
    random: &mut Random,
    profile: Profile,
    model: &Model,
    property: &SafetyProperty,
    policy: &PolicyParts,
) -> Option<Condition> {
    let harmless = SafetyProperty { unsafe_condition: Condition::False, ..property.clone() };
    let question = Question::new(model, &harmless);
    let reached =
        Oracle::new(question.clone(), Some((policy, PolicySemantics::default()))).reachable();
    let deepest = reached.distances.values().copied().max().unwrap_or(0);
    let (target, avoid) = if deepest > 0 && random.percent(55) {
        let least = if random.percent(60) { deepest } else { 1 + random.below(deepest) };
        let far: Vec<&State> = reached
            .distances
            .iter()
            .filter(|&(_, &distance)| distance >= least)
            .map(|(state, _)| state)
            .collect();
        ((*random.pick(&far)).clone(), reached.start_states)
    } else {
        let safe: BTreeSet<State> = reached.distances.into_keys().collect();
        let free = Oracle::new(question, None).reachable();
        let mut others: Vec<State> = free.distances.into_keys().collect();
        others.retain(|state| !safe.contains(state));
        if others.is_empty() {
            others = states(model);
            others.retain(|state| !safe.contains(state));
        }
        if others.is_empty() {
            return None;
        }
        (random.pick(&others).clone(), safe)
    };
    Some(around(random, profile, model, &target, &avoid))
}

/// A condition that `target` satisfies and none of `avoid` does.
fn around(
    random: &mut Random,
    profile: Profile,
    model: &Model,
    target: &[i64],
    avoid: &BTreeSet<State>,
) -> Condition {
    let compare = |op, a, b| Condition::from_expr(&Expr::binary(op, a, b));
    let mut parts = Vec::new();
    if profile != Profile::Unary && random.percent(30) {
        // a half-space through the target
        let sketch = Sketch::of_model(model, profile);
        let sum = sketch.expressions(crate::Forms::Linear).integer(random, 3);
        if let Ok(value) = sum.eval(target) {
            parts.push(compare(BinaryOp::Le, Expr::Constant(value), sum));
        }
    }
    // Bounds in random order until enough is excluded.
    let mut order: Vec<usize> = (0..model.variables.len()).collect();
    for i in (1..order.len()).rev() {
        order.swap(i, random.below(i + 1));
    }
    let mut bounds = Vec::new();
    for v in order {
        let (var, value) = (Expr::Var(VarId::new(v)), Expr::int(target[v]));
        let below = compare(BinaryOp::Le, var.clone(), value.clone());
        let above = compare(BinaryOp::Le, value.clone(), var.clone());
        let equal = compare(BinaryOp::Eq, var, value);
        if model.variables[v].is_location() {
            bounds.push(equal);
        } else {
            bounds.push(if random.percent(50) { below } else { above });
            bounds.push(equal);
        }
    }
    // weak ones first
    let equalities = |c: &Condition| matches!(c, Condition::And(_));
    bounds.sort_by_key(equalities);
    for bound in bounds {
        let condition = Condition::and(parts.clone());
        if !parts.is_empty() && avoid.iter().all(|s| condition.holds(s) == Ok(false)) {
            break;
        }
        parts.push(bound);
    }
    Condition::and(parts)
}
