//! Boxes in parts: those where a condition holds everywhere, and those where it holds nowhere.

use policert_engine_api::{Budget, EngineError};
use policert_model::{Condition, Truth, VarId};
use policert_numeric::IntBox;

/// A box in disjoint parts.
#[derive(Debug, Default)]
pub struct Parts {
    /// The condition holds at all of their points.
    pub inside: Vec<IntBox>,
    /// It is false, or has no value, at all of their points.
    pub outside: Vec<IntBox>,
}

/// Parts a box by a condition.
///
/// # Errors
/// A stop of the budget, or a box that would have to be halved without end.
pub fn partition(
    sides: IntBox,
    condition: &Condition,
    budget: &mut Budget,
) -> Result<Parts, EngineError> {
    let mut parts = Parts::default();
    part(sides, condition, &mut parts, budget)?;
    Ok(parts)
}

fn part(
    sides: IntBox,
    condition: &Condition,
    parts: &mut Parts,
    budget: &mut Budget,
) -> Result<(), EngineError> {
    budget.poll()?;
    match condition.truth(&sides) {
        Truth::True => parts.inside.push(sides),
        Truth::False => parts.outside.push(sides),
        Truth::Maybe => {
            let mut core = sides.clone();
            condition.tighten(&mut core);
            if core.is_empty() {
                parts.outside.push(sides);
                return Ok(());
            }
            sides.add_outside(&core, &mut parts.outside);
            part_core(core, condition, parts, budget)?;
        }
    }
    Ok(())
}

/// Parts a box that was tightened.
fn part_core(
    core: IntBox,
    condition: &Condition,
    parts: &mut Parts,
    budget: &mut Budget,
) -> Result<(), EngineError> {
    match condition {
        Condition::And(conjuncts) => {
            let mut left = vec![core];
            for conjunct in conjuncts {
                let mut inside = Vec::new();
                for sides in left {
                    let mut by = partition(sides, conjunct, budget)?;
                    inside.append(&mut by.inside);
                    parts.outside.append(&mut by.outside);
                }
                left = inside;
            }
            parts.inside.append(&mut left);
            Ok(())
        }
        Condition::Or(disjuncts) => {
            let mut left = vec![core];
            for disjunct in disjuncts {
                let mut outside = Vec::new();
                for sides in left {
                    let mut by = partition(sides, disjunct, budget)?;
                    parts.inside.append(&mut by.inside);
                    outside.append(&mut by.outside);
                }
                left = outside;
            }
            parts.outside.append(&mut left);
            Ok(())
        }
        _ if condition.truth(&core) == Truth::True => {
            parts.inside.push(core);
            Ok(())
        }
        _ => match narrowest(&core, condition.variables()) {
            Some(d) => {
                let [lower, upper] = halves(core, d)?;
                part(lower, condition, parts, budget)?;
                part(upper, condition, parts, budget)
            }
            // What it reads is fixed.
            None => {
                let holds = condition.holds(&core.lower_corner()) == Ok(true);
                (if holds { &mut parts.inside } else { &mut parts.outside }).push(core);
                Ok(())
            }
        },
    }
}

/// The dimension with the fewest values, but more than one, among these variables.
pub(crate) fn narrowest(
    sides: &IntBox,
    variables: impl IntoIterator<Item = VarId>,
) -> Option<usize> {
    variables
        .into_iter()
        .map(VarId::index)
        .filter(|&d| d < sides.dimensions() && !sides[d].is_point())
        .min_by_key(|&d| sides[d].count().unwrap_or(u128::MAX))
}

/// The halves of a box along a dimension with more than one value.
///
/// # Errors
/// A dimension without bounds: unsupported.
pub(crate) fn halves(sides: IntBox, d: usize) -> Result<[IntBox; 2], EngineError> {
    let side = sides[d];
    if side.is_bounded() { Ok(sides.cut(d, side.midpoint())) } else { Err(unbounded()) }
}

/// The error of a set of states that would have to be halved without end.
#[must_use]
pub fn unbounded() -> EngineError {
    EngineError::Unsupported(
        "a variable without bounds, whose values would have to be told apart".to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use policert_model::{BinaryOp, Expr};
    use policert_numeric::IntInterval;

    use super::*;

    /// Every point lies in exactly one part, the right one.
    fn check(condition: &Condition) {
        let all = IntBox::new(vec![IntInterval::new(-3, 4), IntInterval::new(0, 5)]);
        let parts = partition(all, condition, &mut Budget::unlimited()).expect("no limits");
        for x in -3..=4 {
            for y in 0..=5 {
                let point = [x, y];
                let count = |boxes: &[IntBox]| boxes.iter().filter(|b| b.contains(&point)).count();
                let holds = condition.holds(&point) == Ok(true);
                assert_eq!(count(&parts.inside), usize::from(holds), "{condition:?} at {point:?}");
                assert_eq!(count(&parts.outside), usize::from(!holds), "{condition:?} {point:?}");
            }
        }
    }

    #[test]
    fn parts_are_disjoint_and_complete() {
        let (x, y) = (|| Expr::Var(VarId(0)), || Expr::Var(VarId(1)));
        let le = |a, b| Condition::from_expr(&Expr::binary(BinaryOp::Le, a, b));
        let equal = |a, b| Condition::from_expr(&Expr::binary(BinaryOp::Eq, a, b));
        let bound = le(x(), Expr::int(1));
        let diagonal = equal(Expr::binary(BinaryOp::Add, x(), y()), Expr::int(3));
        // No value where y is 0.
        let quotient = equal(Expr::binary(BinaryOp::Div, x(), y()), Expr::int(1));
        check(&Condition::True);
        check(&Condition::False);
        for a in [&bound, &diagonal, &quotient] {
            check(a);
            check(&a.negate());
            for b in [&bound, &diagonal, &quotient] {
                check(&Condition::and([a.negate(), b.clone()]));
                check(&Condition::or([a.clone(), b.negate()]));
            }
        }
    }
}
