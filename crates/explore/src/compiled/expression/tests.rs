//! What compiled expressions, conditions and values settle is what the model says.

use policert_model::{BinaryOp, Condition, Expr, UpdateValue, Variable};
use policert_numeric::{IntBox, Rational};
use policert_testkit::{Expressions, Forms, Random, boolean, case_numbers, integer};

use super::super::fraction::FractionExpr;
use super::super::value::CompiledValue;
use super::super::{CompiledCondition, Kleene};
use super::IntegerExpr;

const FORMS: [Forms; 3] = [Forms::Linear, Forms::Total, Forms::Any];

/// Small domains, or ones that reach the ends of `i64`.
fn variables(random: &mut Random) -> Vec<Variable> {
    let mut variables = vec![integer("x", -3, 4), integer("y", 0, 3), boolean("b")];
    if random.percent(30) {
        let wide = [(i64::MIN, i64::MAX), (i64::MAX - 5, i64::MAX), (-(1 << 40), 1 << 40)];
        let (lo, hi) = *random.pick(&wide);
        variables.push(integer("w", lo, hi));
    }
    variables
}

fn domains(variables: &[Variable]) -> IntBox {
    IntBox::new(variables.iter().map(|v| v.domain).collect())
}

fn point(random: &mut Random, variables: &[Variable]) -> Vec<i64> {
    let value = |v: &Variable| match random.below(4) {
        0 => v.domain.lo,
        1 => v.domain.hi,
        _ => random.between(v.domain.lo, v.domain.hi),
    };
    variables.iter().map(value).collect()
}

#[test]
fn settled_values_are_the_values() {
    let (mut settled, mut open) = (0, 0);
    for number in case_numbers(4000) {
        let mut random = Random::new(number);
        let variables = variables(&mut random);
        let domains = domains(&variables);
        let expressions = Expressions::new(&variables, *random.pick(&FORMS));
        let depth = 1 + random.below(3);
        let expr = match random.percent(60) {
            true => expressions.real(&mut random, depth),
            false => expressions.boolean(&mut random, depth),
        };
        let integer = IntegerExpr::new(&expr, &domains);
        let truth = IntegerExpr::truth_of(&expr, &domains);
        let fraction = FractionExpr::new(&expr, &domains);
        for _ in 0..20 {
            let point = point(&mut random, &variables);
            let place = format!("case {number}: {expr:?} at {point:?}");
            let expected = expr.eval(&point);
            if let Some(value) = integer.value(&point) {
                assert_eq!(Ok(Rational::from(value)), expected, "{place}");
            }
            if let Some(value) = truth.value(&point) {
                assert_eq!(Ok(value != 0), expr.holds(&point), "{place}");
            }
            match fraction.value(&point) {
                Some(value) => {
                    let rational = Rational::new(value.num, value.den).expect("not by 0");
                    assert_eq!(value.to_integer(), rational.to_i64(), "{place}");
                    assert_eq!(Ok(rational), expected, "{place}");
                    settled += 1;
                }
                None => open += 1,
            }
        }
    }
    assert!(settled > 10 * open && open > 500, "{settled} settled, {open} open");
}

#[test]
fn conditions_and_values_agree_with_the_model() {
    for number in case_numbers(4000) {
        let mut random = Random::new(number);
        let variables = variables(&mut random);
        let domains = domains(&variables);
        let expressions = Expressions::new(&variables, *random.pick(&FORMS));
        let depth = 1 + random.below(3);
        let condition = Condition::from_expr(&expressions.boolean(&mut random, depth));
        let compiled = CompiledCondition::new(&condition, &domains);
        let update = UpdateValue::from_expr(expressions.integer(&mut random, depth));
        let value = CompiledValue::new(&update, &domains);
        for _ in 0..20 {
            let point = point(&mut random, &variables);
            let truth = condition.holds(&point).map_or(Kleene::Undefined, Kleene::from);
            assert_eq!(compiled.truth(&point), truth, "case {number}: {condition:?} {point:?}");
            let expected = update.to_expr().eval(&point).ok().and_then(|v| v.to_i64());
            // In wide domains a sum may be inside `i64` while a part of it is not.
            let found = value.value(&point);
            let settled = found.is_some() || expected.is_none() || wide(&domains);
            assert!(settled, "case {number}: {update:?} {point:?}");
            assert!(found.is_none() || found == expected, "case {number}: {update:?} {point:?}");
        }
    }
}

fn wide(domains: &IntBox) -> bool {
    domains.sides().iter().any(|side| side.hi > 1 << 30)
}

#[test]
fn zero_by_zero_is_zero_and_nothing_else_by_zero_is_settled() {
    let value = |op, a, b| {
        let expr = Expr::Binary(op, Box::new(Expr::int(a)), Box::new(Expr::int(b)));
        IntegerExpr::new(&expr, &IntBox::new(Vec::new())).value(&[])
    };
    assert_eq!(value(BinaryOp::Div, 0, 0), Some(0));
    assert_eq!(value(BinaryOp::Div, 1, 0), None);
    assert_eq!(value(BinaryOp::Div, 6, -3), Some(-2));
    assert_eq!(value(BinaryOp::Div, 1, 2), None);
    assert_eq!(value(BinaryOp::Mod, 0, 0), Some(0));
    assert_eq!(value(BinaryOp::Mod, 1, 0), None);
    assert_eq!(value(BinaryOp::Mod, -7, -3), Some(2));
    assert_eq!(value(BinaryOp::Mod, i64::MIN, -1), None);
}
