//! What is said about whole boxes is true at every point of them.

use std::ops::ControlFlow;

use policert_model::{
    BinaryOp, Condition, Expr, SolutionsError, Truth, VarId, Variable, Visit, find_solution,
    for_each_solution,
};
use policert_numeric::{IntBox, IntInterval, Rational};
use policert_testkit::{
    Expressions, Forms, Random, boolean, case_numbers, integer, points, sub_box,
};

const FORMS: [Forms; 3] = [Forms::Linear, Forms::Total, Forms::Any];

fn variables() -> Vec<Variable> {
    vec![integer("x", -3, 4), integer("y", 0, 3), boolean("b"), integer("z", -2, 1)]
}

fn domains() -> IntBox {
    IntBox::new(variables().iter().map(|v| v.domain).collect())
}

#[test]
fn ranges_hold_every_value_and_tell_where_there_may_be_none() {
    let variables = variables();
    let (mut tight, mut bounded, mut total) = (0, 0, 0);
    for number in case_numbers(4000) {
        let mut random = Random::new(number);
        let expressions = Expressions::new(&variables, FORMS[random.below(3)]);
        let depth = 1 + random.below(3);
        let expr = match random.percent(60) {
            true => expressions.real(&mut random, depth),
            false => expressions.boolean(&mut random, depth),
        };
        let sides = sub_box(&mut random, &domains());
        let range = expr.range(&sides);
        let mut values: Vec<Rational> = Vec::new();
        for point in points(&sides) {
            let case = format!("case {number}: {expr:?} at {point:?} of {sides:?}: {range:?}");
            let Ok(value) = expr.eval(&point) else {
                assert!(range.partial, "{case}");
                continue;
            };
            assert!(range.lo.as_ref().is_none_or(|lo| *lo <= value), "{case}");
            assert!(range.hi.as_ref().is_none_or(|hi| value <= *hi), "{case}");
            let truth = value.signum() != 0;
            assert!(range.truth() != if truth { Truth::False } else { Truth::True }, "{case}");
            if let Some(integer) = value.to_i64() {
                assert!(range.integers().contains(integer), "{case}");
            }
            values.push(value);
        }
        assert!(
            !range.partial
                || !expr.is_total()
                || expr.is_boolean_operator()
                || contains_truth(&expr),
            "case {number}: {expr:?} over {sides:?}"
        );
        tight += u64::from(
            range.lo.as_ref() == values.iter().min() && range.hi.as_ref() == values.iter().max(),
        );
        bounded += u64::from(range.lo.is_some() && range.hi.is_some());
        total += 1;
    }
    assert!(tight * 4 > total && bounded * 4 > total * 3, "{tight}, {bounded} of {total}");
}

/// Returns whether a truth value occurs: an undecided one counts as possibly without value.
fn contains_truth(expr: &Expr) -> bool {
    match expr {
        Expr::Constant(_) | Expr::Var(_) | Expr::Transient(_) => false,
        Expr::Unary(_, a) => expr.is_boolean_operator() || contains_truth(a),
        Expr::Binary(_, a, b) => {
            expr.is_boolean_operator() || contains_truth(a) || contains_truth(b)
        }
        Expr::Ite(..) | Expr::Cell { .. } => true,
    }
}

#[test]
fn ranges_over_unbounded_boxes_hold_every_value() {
    let variables = variables();
    for number in case_numbers(2000) {
        let mut random = Random::new(number);
        let expr = Expressions::new(&variables, FORMS[random.below(3)]).real(&mut random, 3);
        let inner = sub_box(&mut random, &domains());
        let mut sides = inner.clone();
        for side in sides.sides_mut() {
            match random.below(4) {
                0 => side.lo = IntInterval::UNBOUNDED_BELOW,
                1 => side.hi = IntInterval::UNBOUNDED_ABOVE,
                2 => *side = IntInterval::ALL,
                _ => {}
            }
        }
        let range = expr.range(&sides);
        for point in points(&inner) {
            let case = format!("case {number}: {expr:?} at {point:?} of {sides:?}: {range:?}");
            let Ok(value) = expr.eval(&point) else {
                assert!(range.partial, "{case}");
                continue;
            };
            assert!(range.lo.as_ref().is_none_or(|lo| *lo <= value), "{case}");
            assert!(range.hi.as_ref().is_none_or(|hi| value <= *hi), "{case}");
        }
    }
}

/// A random condition and a random box.
fn condition_and_box(number: u64) -> (Condition, IntBox) {
    let mut random = Random::new(number);
    let expressions = Expressions::new(&variables(), FORMS[random.below(3)]);
    let depth = 1 + random.below(4);
    let condition = Condition::from_expr(&expressions.boolean(&mut random, depth));
    let sides = sub_box(&mut random, &domains());
    (condition, sides)
}

#[test]
fn truth_over_a_box_is_truth_at_every_point() {
    let mut decided = [0; 3];
    for number in case_numbers(5000) {
        let (condition, sides) = condition_and_box(number);
        let truth = condition.truth(&sides);
        assert_eq!(condition.negate().truth(&sides), truth.negate(), "case {number}");
        for point in points(&sides) {
            let expected = match truth {
                Truth::True => true,
                Truth::False => false,
                Truth::Maybe => continue,
            };
            assert_eq!(condition.holds(&point), Ok(expected), "case {number}: {condition:?}");
        }
        decided[truth as usize] += 1;
    }
    assert!(decided.iter().all(|&n| n > 500), "{decided:?}");
}

#[test]
fn tightening_loses_no_point_and_tells_whether_it_changed() {
    let (mut shrunk, mut emptied) = (0, 0);
    for number in case_numbers(5000) {
        let (condition, sides) = condition_and_box(number);
        let mut tight = sides.clone();
        let changed = condition.tighten(&mut tight);
        assert_eq!(changed, tight != sides, "case {number}");
        assert!(sides.includes(&tight), "case {number}");
        for point in points(&sides) {
            if condition.holds(&point) == Ok(true) {
                assert!(tight.contains(&point), "case {number}: {condition:?} at {point:?}");
            }
            // Where there is no value, tightening decides nothing either.
            if condition.holds(&point).is_err() {
                assert!(tight.contains(&point), "case {number}: {condition:?} at {point:?}");
            }
        }
        shrunk += u64::from(changed);
        emptied += u64::from(tight.is_empty());
    }
    assert!(shrunk > 1000 && emptied > 200, "{shrunk}, {emptied}");
}

#[test]
fn a_condition_reads_the_same_inside_the_box_that_reduces_it() {
    let mut reduced = 0;
    for number in case_numbers(4000) {
        let (condition, sides) = condition_and_box(number);
        let Some(inside) = condition.reduced(&sides) else { continue };
        reduced += 1;
        assert_ne!(inside, condition, "case {number}");
        for point in points(&sides) {
            let truth = condition.holds(&point).ok();
            assert_eq!(inside.holds(&point).ok(), truth, "case {number} at {point:?}");
        }
        assert_eq!(inside.reduced(&sides), None, "case {number}: {inside:?} in {sides:?}");
    }
    assert!(reduced > 1000, "{reduced}");
}

#[test]
fn a_point_is_found_in_an_unbounded_box_where_the_condition_bounds_it() {
    let (mut found, mut none) = (0, 0);
    for number in case_numbers(2000) {
        let (condition, _) = condition_and_box(number);
        // bounds as conditions instead of sides
        let bounds = variables().into_iter().enumerate().map(|(v, variable)| {
            let var = Expr::Var(VarId::new(v));
            let compare = |a, b| Condition::from_expr(&Expr::binary(BinaryOp::Le, a, b));
            Condition::and([
                compare(Expr::int(variable.domain.lo), var.clone()),
                compare(var, Expr::int(variable.domain.hi)),
            ])
        });
        let bounded = Condition::and(bounds.chain([condition.clone()]));
        let everything = IntBox::new(vec![IntInterval::ALL; variables().len()]);
        let point = find_solution(&bounded, &everything).unwrap();
        let expected = points(&domains()).into_iter().any(|p| condition.holds(&p) == Ok(true));
        assert_eq!(point.is_some(), expected, "case {number}: {condition:?}");
        match point {
            Some(point) => {
                assert_eq!(bounded.holds(&point), Ok(true), "case {number}: {point:?}");
                found += 1;
            }
            None => none += 1,
        }
    }
    assert!(found > 300 && none > 100, "{found}, {none}");
}

#[test]
fn tightening_works_on_unbounded_boxes() {
    for number in case_numbers(2000) {
        let (condition, _) = condition_and_box(number);
        let mut random = Random::new(number ^ 1);
        let mut sides = domains();
        for side in sides.sides_mut() {
            match random.below(4) {
                0 => side.lo = IntInterval::UNBOUNDED_BELOW,
                1 => side.hi = IntInterval::UNBOUNDED_ABOVE,
                2 => *side = IntInterval::ALL,
                _ => {}
            }
        }
        let mut tight = sides.clone();
        condition.tighten(&mut tight);
        let truth = condition.truth(&sides);
        for point in points(&domains()) {
            let holds = condition.holds(&point);
            if holds == Ok(true) {
                assert!(tight.contains(&point), "case {number}: {condition:?} at {point:?}");
            }
            let decided = match truth {
                Truth::True => holds == Ok(true),
                Truth::False => holds == Ok(false),
                Truth::Maybe => true,
            };
            assert!(decided, "case {number}: {condition:?} at {point:?}");
        }
    }
}

#[test]
fn enumeration_visits_every_solution_once_in_order() {
    let mut found = 0;
    for number in case_numbers(3000) {
        let (condition, sides) = condition_and_box(number);
        let truths: Vec<_> = points(&sides).into_iter().map(|p| (condition.holds(&p), p)).collect();
        let expected: Vec<Vec<i64>> =
            truths.iter().filter(|(t, _)| *t == Ok(true)).map(|(_, p)| p.clone()).collect();
        let mut visited = Vec::new();
        let flow = for_each_solution(&condition, &sides, false, &mut |visit| {
            if let Visit::Solution(point) = visit {
                visited.push(point.to_vec());
            }
            ControlFlow::<()>::Continue(())
        });
        assert_eq!(flow, Ok(ControlFlow::Continue(())), "case {number}");
        assert_eq!(visited, expected, "case {number}: {condition:?} in {sides:?}");
        let some = find_solution(&condition, &sides).unwrap();
        assert_eq!(some.is_some(), !expected.is_empty(), "case {number}");
        assert!(some.is_none_or(|point| expected.contains(&point)), "case {number}");

        let strict =
            for_each_solution(&condition, &sides, true, &mut |_| ControlFlow::<()>::Continue(()));
        let undefined = truths.iter().any(|(truth, _)| truth.is_err());
        assert_eq!(matches!(strict, Err(SolutionsError::Eval(_))), undefined, "case {number}");
        found += expected.len();
    }
    assert!(found > 10_000, "{found}");
}
