//! Conditions say the same as the expressions that they are read from, at every point of small
//! boxes, points without value included.

use policert_model::{Condition, Expr, LinearConstraint, LinearExpr, VarId, Variable};
use policert_numeric::IntBox;
use policert_testkit::{
    Expressions, Forms, Random, boolean, case_numbers, integer, points, rebuilt,
};

const FORMS: [Forms; 3] = [Forms::Linear, Forms::Total, Forms::Any];

fn variables() -> Vec<Variable> {
    vec![integer("x", -2, 3), integer("y", 0, 3), boolean("b"), integer("z", -1, 1), boolean("c")]
}

fn domains(variables: &[Variable]) -> IntBox {
    IntBox::new(variables.iter().map(|v| v.domain).collect())
}

/// Calls `check` with random truth expressions and all points of their box.
fn for_each_expression(count: u64, check: impl Fn(&Expr, &[Vec<i64>], &str)) {
    let variables = variables();
    let all = points(&domains(&variables));
    for number in case_numbers(count) {
        let mut random = Random::new(number);
        let forms = FORMS[random.below(3)];
        let depth = 1 + random.below(4);
        let expr = Expressions::new(&variables, forms).boolean(&mut random, depth);
        check(&expr, &all, &format!("case {number}: {expr:?}"));
    }
}

#[test]
fn constructors_fold_without_changing_a_value() {
    for_each_expression(3000, |expr, all, case| {
        let folded = rebuilt(expr);
        for point in all {
            assert_eq!(folded.eval(point).ok(), expr.eval(point).ok(), "{case} at {point:?}");
        }
    });
}

#[test]
fn a_condition_holds_where_its_expression_does() {
    for_each_expression(4000, |expr, all, case| {
        let condition = Condition::from_expr(expr);
        let complement = Condition::from_literal(expr, false);
        check_form(&condition, case);
        check_form(&complement, case);
        for point in all {
            let truth = expr.holds(point).ok();
            assert_eq!(condition.holds(point).ok(), truth, "{case} at {point:?}");
            assert_eq!(complement.holds(point).ok(), truth.map(|t| !t), "{case} at {point:?}");
        }
    });
}

#[test]
fn negation_is_the_complement() {
    for_each_expression(3000, |expr, all, case| {
        let condition = Condition::from_expr(expr);
        let negation = condition.negate();
        check_form(&negation, case);
        for point in all {
            let truth = condition.holds(point).ok();
            assert_eq!(negation.holds(point).ok(), truth.map(|t| !t), "{case} at {point:?}");
        }
    });
}

#[test]
fn a_condition_is_its_expression_tree() {
    for_each_expression(3000, |expr, all, case| {
        let condition = Condition::from_expr(expr);
        let tree = condition.to_expr();
        for point in all {
            assert_eq!(tree.holds(point).ok(), condition.holds(point).ok(), "{case} at {point:?}");
        }
    });
}

#[test]
fn a_total_expression_has_a_value_everywhere_and_an_integral_one_integers() {
    let (mut total, mut integral) = (0, 0);
    let variables = variables();
    let all = points(&domains(&variables));
    for number in case_numbers(3000) {
        let mut random = Random::new(number);
        let expr = Expressions::new(&variables, FORMS[random.below(3)]).real(&mut random, 3);
        for point in &all {
            let value = expr.eval(point);
            assert!(!expr.is_total() || value.is_ok(), "case {number}: {expr:?} at {point:?}");
            let integer = value.map_or(true, |value| value.is_integer());
            assert!(!expr.is_integral() || integer, "case {number}: {expr:?} at {point:?}");
        }
        total += u64::from(expr.is_total());
        integral += u64::from(expr.is_integral());
    }
    assert!(total > 1000 && integral > 500, "{total} total, {integral} integral");
}

#[test]
fn substitution_is_the_weakest_precondition() {
    let variables = variables();
    let all = points(&domains(&variables));
    let mut undefined = 0;
    for number in case_numbers(3000) {
        let mut random = Random::new(number);
        let forms = FORMS[random.below(3)];
        let expressions = Expressions::new(&variables, forms);
        let depth = 1 + random.below(3);
        let condition = Condition::from_expr(&expressions.boolean(&mut random, depth));
        let values: Vec<Option<Expr>> = variables
            .iter()
            .enumerate()
            .map(|(i, variable)| {
                random.percent(60).then(|| match variable.domain.hi == 1 && i != 3 {
                    true => expressions.boolean(&mut random, 2),
                    false => expressions.integer(&mut random, 2),
                })
            })
            .collect();
        let before = condition.substitute(&|v: VarId| values[v.index()].clone());
        for point in &all {
            let case = || format!("case {number}: {condition:?} with {values:?} at {point:?}");
            let after: Option<Vec<i64>> = values
                .iter()
                .zip(point)
                .map(|(value, &old)| match value {
                    None => Some(old),
                    Some(value) => value.eval(point).ok().map(|v| v.to_i64().unwrap()),
                })
                .collect();
            match after {
                Some(after) => {
                    assert_eq!(
                        before.holds(point).ok(),
                        condition.holds(&after).ok(),
                        "{}",
                        case()
                    );
                }
                None => undefined += 1,
            }
        }
    }
    assert!(undefined > 1000, "only {undefined} points without value");
}

/// Checks the form that the documentation of `Condition` promises.
fn check_form(condition: &Condition, case: &str) {
    match condition {
        Condition::True | Condition::False | Condition::General { .. } => {}
        Condition::Linear(constraint) => check_constraint(constraint, case),
        Condition::And(parts) => {
            assert!(parts.len() > 1, "{case}");
            for part in parts {
                let flat = !matches!(part, Condition::True | Condition::False | Condition::And(_));
                assert!(flat, "{case}: {condition:?}");
                check_form(part, case);
            }
        }
        Condition::Or(parts) => {
            assert!(parts.len() > 1, "{case}");
            for part in parts {
                let flat = !matches!(part, Condition::True | Condition::False | Condition::Or(_));
                assert!(flat, "{case}: {condition:?}");
                check_form(part, case);
            }
        }
    }
}

fn check_constraint(constraint: &LinearConstraint, case: &str) {
    let terms = &constraint.terms;
    assert!(!terms.is_empty(), "{case}");
    assert!(terms.windows(2).all(|pair| pair[0].0 < pair[1].0), "{case}: {constraint:?}");
    assert!(terms.iter().all(|&(_, c)| c != 0), "{case}: {constraint:?}");
    let divisor = terms.iter().fold(0, |a, &(_, b)| gcd(a, b.abs()));
    assert_eq!(divisor, 1, "{case}: {constraint:?}");
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[test]
fn linear_expressions_are_read_and_written_without_change() {
    let variables = variables();
    let all = points(&domains(&variables));
    let mut read = 0;
    for number in case_numbers(2000) {
        let mut random = Random::new(number);
        let expr = Expressions::new(&variables, FORMS[random.below(2)]).real(&mut random, 3);
        let Some(linear) = LinearExpr::from_expr(&expr) else { continue };
        read += 1;
        assert!(linear.terms.windows(2).all(|pair| pair[0].0 < pair[1].0), "{linear:?}");
        assert!(linear.terms.iter().all(|&(_, c)| c != 0), "{linear:?}");
        let tree = linear.to_expr();
        assert_eq!(LinearExpr::from_expr(&tree).as_ref(), Some(&linear), "case {number}");
        for point in &all {
            let value = expr.eval(point).unwrap();
            assert_eq!(linear.eval(point).map(Into::into), Some(value.clone()), "case {number}");
            assert_eq!(tree.eval(point), Ok(value), "case {number}");
        }
    }
    assert!(read > 500, "only {read} are linear");
}

#[test]
fn most_total_conditions_become_linear() {
    // The native reasoning of the engines rests on this: a general part is only evaluated.
    let variables = variables();
    let (mut general, mut all) = (0, 0);
    for number in case_numbers(1000) {
        let mut random = Random::new(number);
        let expr = Expressions::new(&variables, Forms::Linear).boolean(&mut random, 3);
        all += 1;
        general += u64::from(has_general(&Condition::from_expr(&expr)));
    }
    assert_eq!(general, 0, "of {all}");
}

fn has_general(condition: &Condition) -> bool {
    match condition {
        Condition::General { .. } => true,
        Condition::And(parts) | Condition::Or(parts) => parts.iter().any(has_general),
        _ => false,
    }
}
