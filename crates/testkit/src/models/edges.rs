//! Random instances: edges with guards, probabilistic destinations and assignments.

use std::sync::Arc;

use policert_model::{
    AssignedValue, Assignment, AutomatonInstance, BinaryOp, Condition, Edge, EdgeDestination,
    EdgePlace, Expr, LabelId, Probability, Target, TransientId, VarId, VariableKind,
};
use policert_numeric::Rational;

use crate::sketch::{Profile, Sketch};
use crate::{Forms, Random, rebuilt};

/// Instance number `i`: its location is variable number `i`.
pub(super) fn instance(
    sketch: &Sketch,
    random: &mut Random,
    i: usize,
    labels: usize,
) -> AutomatonInstance {
    let locations = sketch.domain(VarId::new(i)).hi + 1;
    // Most labels in most locations, silent edges, and some more of either.
    let mut kinds = Vec::new();
    for source in 0..locations {
        for label in 0..labels {
            if random.percent(65) {
                kinds.push((source, Some(LabelId::new(label))));
            }
        }
        if random.percent(25) {
            kinds.push((source, None));
        }
    }
    for _ in 0..1 + random.below(1 + sketch.size) {
        let source = random.between(0, locations - 1);
        kinds.push((source, random.percent(85).then(|| LabelId::new(random.below(labels)))));
    }
    let edges = (0..).zip(kinds).map(|(e, (source, action))| {
        let guard = guard(sketch, random);
        let destinations = destinations(sketch, random, i, locations);
        let place = EdgePlace::new(i, e);
        Edge { source, action, guard, destinations, place }
    });
    let edges = edges.collect();
    AutomatonInstance { automaton: format!("Automaton{i}"), location: VarId::new(i), edges }
}

fn destinations(
    sketch: &Sketch,
    random: &mut Random,
    i: usize,
    locations: i64,
) -> Vec<EdgeDestination> {
    let count = random.weighted(&[(60, 1), (30, 2), (10, 3)]);
    let probabilities = probabilities(sketch, random, count);
    probabilities
        .into_iter()
        .map(|probability| EdgeDestination {
            location: random.between(0, locations - 1),
            probability,
            assignments: assignments(sketch, random, i),
        })
        .collect()
}

fn guard(sketch: &Sketch, random: &mut Random) -> Condition {
    match random.below(100) {
        0..40 => Condition::True,
        40..75 => bounds(sketch, random),
        _ => match sketch.profile {
            Profile::Unary => Condition::and([bounds(sketch, random), bounds(sketch, random)]),
            Profile::Linear => {
                Condition::from_expr(&sketch.expressions(Forms::Linear).boolean(random, 2))
            }
            Profile::General => {
                let forms = *random.pick(&[Forms::Linear, Forms::Total, Forms::Any]);
                Condition::from_expr(&sketch.expressions(forms).boolean(random, 3))
            }
        },
    }
}

/// A bound of one variable, or of two.
fn bounds(sketch: &Sketch, random: &mut Random) -> Condition {
    let count = random.weighted(&[(70, 1), (30, 2)]);
    Condition::and((0..count).map(|_| crate::properties::bound(sketch, random)))
}

fn probabilities(sketch: &Sketch, random: &mut Random, count: usize) -> Vec<Probability> {
    if count == 2 && sketch.profile == Profile::General && random.percent(25) {
        // p in some states and q in the others; now and then 0 or 1
        let condition = rebuilt(&sketch.expressions(Forms::Total).boolean(random, 2));
        let p = [random.between(0, 4), random.between(0, 4)];
        let value = |k: i64| Expr::Constant(Rational::new(k, 4).unwrap_or(Rational::ZERO));
        let mut all = Vec::new();
        for [a, b] in [p, [4 - p[0], 4 - p[1]]] {
            match Expr::ite(condition.clone(), value(a), value(b)) {
                Expr::Constant(zero) if zero.is_zero() => {}
                Expr::Constant(p) => all.push(Probability::Constant(p)),
                p => all.push(Probability::expr(p)),
            }
        }
        return all;
    }
    let weights: Vec<i64> = (0..count).map(|_| random.between(1, 4)).collect();
    let sum = weights.iter().sum();
    let share = |&w: &i64| Probability::Constant(Rational::new(w, sum).unwrap_or(Rational::ONE));
    weights.iter().map(share).collect()
}

/// Assignments of one destination. Instance 1 writes the last variables only, so that two
/// participants seldom write the same.
fn assignments(sketch: &Sketch, random: &mut Random, i: usize) -> Vec<Assignment> {
    let mut targets: Vec<VarId> = sketch.of_kind(&VariableKind::Integer);
    targets.retain(|v| !sketch.array.contains(v));
    targets.extend(sketch.of_kind(&VariableKind::Boolean));
    let two = sketch.variables.iter().filter(|v| v.is_location()).count() == 2;
    if two && !random.percent(3) {
        let half = targets.len().div_ceil(2);
        targets = if i == 0 { targets[..half].to_vec() } else { targets[half..].to_vec() };
    }
    let general = sketch.profile == Profile::General;
    let mut all: Vec<Assignment> = Vec::new();
    for v in targets {
        if random.percent(45) {
            let index = if general && random.percent(15) { random.between(0, 2) } else { 0 };
            all.push(Assignment { target: Target::Var(v), value: value(sketch, random, v), index });
        }
    }
    // What an index leaves outside its domain, or without value, a later one may repair.
    if general
        && random.percent(15)
        && let Some(&Assignment { target: Target::Var(v), index, .. }) = all.first()
    {
        let index = index + 1;
        all.push(Assignment { target: Target::Var(v), value: value(sketch, random, v), index });
    }
    if !sketch.array.is_empty() && (i == 0 || !two) && random.percent(40) {
        all.push(cell_assignment(sketch, random));
    }
    if sketch.transients > 0 && (i == 0 || !two) && random.percent(50) {
        all.push(Assignment {
            target: Target::Transient(TransientId(0)),
            value: AssignedValue::Expr(transient_value(sketch, random)),
            index: 0,
        });
        // read in a later round
        let integers = sketch.of_kind(&VariableKind::Integer);
        let v = *random.pick(&integers);
        if all.iter().all(|a| a.target != Target::Var(v)) && !two && !sketch.array.contains(&v) {
            let sum = Expr::binary(
                BinaryOp::Add,
                Expr::Transient(TransientId(0)),
                Expr::int(random.between(-1, 1)),
            );
            let (target, value) = (Target::Var(v), AssignedValue::Expr(sum));
            all.push(Assignment { target, value, index: 1 });
        }
    }
    // nobody reads it
    if sketch.transients > 1 && (i == 0 || !two) && random.percent(50) {
        all.push(Assignment {
            target: Target::Transient(TransientId(1)),
            value: AssignedValue::Expr(transient_value(sketch, random)),
            index: random.between(0, 1),
        });
    }
    all
}

/// Mostly one that always exists.
fn transient_value(sketch: &Sketch, random: &mut Random) -> Expr {
    let forms = if random.percent(25) { Forms::Any } else { Forms::Total };
    sketch.expressions(forms).integer(random, 1)
}

/// A write to a cell of the array: by a constant index, or by a computed one.
fn cell_assignment(sketch: &Sketch, random: &mut Random) -> Assignment {
    let cells: Arc<[VarId]> = sketch.array.as_slice().into();
    let domain = sketch.domain(cells[0]);
    let expressions = sketch.expressions(Forms::Linear);
    let index = match random.below(3) {
        0 => Expr::int(random.between(0, i64::try_from(cells.len()).unwrap_or(1) - 1)),
        1 => Expr::Var(*random.pick(&sketch.of_kind(&VariableKind::Integer))),
        _ => expressions.integer(random, 1),
    };
    let value = match random.below(3) {
        0 => AssignedValue::between(Expr::int(domain.lo), Expr::int(domain.hi)),
        1 => AssignedValue::Expr(Expr::int(random.between(domain.lo, domain.hi))),
        _ => AssignedValue::Expr(expressions.integer(random, 1)),
    };
    Assignment { target: Target::Cell { cells, index: Box::new(index) }, value, index: 0 }
}

fn value(sketch: &Sketch, random: &mut Random, v: VarId) -> AssignedValue {
    let domain = sketch.domain(v);
    if sketch.variables[v.index()].kind == VariableKind::Boolean {
        return AssignedValue::Expr(truth_value(sketch, random));
    }
    let integers = sketch.of_kind(&VariableKind::Integer);
    let plus = |a: Expr, c: i64| match c {
        0 => a,
        _ => Expr::binary(BinaryOp::Add, a, Expr::int(c)),
    };
    let rich = if sketch.profile == Profile::Unary { 0 } else { 30 };
    AssignedValue::Expr(match random.below(70 + rich) {
        // a constant, now and then outside of the domain
        0..12 => {
            let beyond = i64::from(random.percent(5));
            Expr::int(random.between(domain.lo, domain.hi + beyond))
        }
        12..58 => plus(Expr::Var(v), *random.pick(&[1, 1, 1, -1, -1, 2, -2])),
        58..70 => plus(Expr::Var(*random.pick(&integers)), *random.pick(&[0, 0, 0, 1, -1])),
        70..77 => {
            let below = Expr::int(random.between(domain.lo - 1, domain.hi));
            let above = match random.percent(50) {
                true => Expr::int(random.between(domain.lo, domain.hi + 1)),
                false => plus(Expr::Var(*random.pick(&integers)), 1),
            };
            return AssignedValue::between(below, above);
        }
        77..90 => sketch.expressions(Forms::Linear).integer(random, 2),
        _ if sketch.profile == Profile::Linear => {
            sketch.expressions(Forms::Linear).integer(random, 1)
        }
        _ => {
            let forms = *random.pick(&[Forms::Total, Forms::Total, Forms::Any]);
            sketch.expressions(forms).integer(random, 2)
        }
    })
}

fn truth_value(sketch: &Sketch, random: &mut Random) -> Expr {
    let booleans = sketch.of_kind(&VariableKind::Boolean);
    match random.below(if sketch.profile == Profile::Unary { 2 } else { 4 }) {
        0 => Expr::bool(random.percent(50)),
        1 => Expr::Var(*random.pick(&booleans)),
        2 => Expr::negate(Expr::Var(*random.pick(&booleans))),
        _ => {
            let forms = match sketch.profile {
                Profile::General => Forms::Total,
                _ => Forms::Linear,
            };
            sketch.expressions(forms).boolean(random, 1)
        }
    }
}
