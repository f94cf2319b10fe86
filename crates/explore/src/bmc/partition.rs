//! Boxes in parts: those where a condition holds everywhere, and those where it holds nowhere.

use policert_engine_api::{Budget, EngineError};
use policert_model::{Condition, Truth, VarId};
use policert_numeric::{IntBox, IntInterval};

/// A box in disjoint parts.
#[derive(Debug, Default)]
pub(super) struct Parts {
    /// The condition holds at all of their points.
    pub inside: Vec<IntBox>,
    /// It is false, or has no value, at all of their points.
    pub outside: Vec<IntBox>,
}

/// Parts a box by a condition.
///
/// # Errors
/// A stop of the budget, or a box that would have to be halved without end.
pub(super) fn partition(
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
            cut_away(sides, &core, &mut parts.outside);
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
                let (lower, upper) = halves(core, d)?;
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
pub(super) fn narrowest(
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
pub(super) fn halves(sides: IntBox, d: usize) -> Result<(IntBox, IntBox), EngineError> {
    let side = sides[d];
    if !side.is_bounded() {
        return Err(unbounded());
    }
    Ok(cut(sides, d, side.midpoint()))
}

/// The parts of a box up to a value and beyond it.
pub(super) fn cut(mut sides: IntBox, d: usize, at: i64) -> (IntBox, IntBox) {
    let side = sides[d];
    let mut upper = sides.clone();
    upper[d] = IntInterval::new(at + 1, side.hi);
    sides[d] = IntInterval::new(side.lo, at);
    (sides, upper)
}

/// Adds the parts of `sides` that lie outside of `core`, a box in it that is not empty.
pub(super) fn cut_away(mut sides: IntBox, core: &IntBox, outside: &mut Vec<IntBox>) {
    for d in 0..sides.dimensions() {
        let (side, inner) = (sides[d], core[d]);
        if side.lo < inner.lo {
            let mut below = sides.clone();
            below[d] = IntInterval::new(side.lo, inner.lo - 1);
            outside.push(below);
        }
        if inner.hi < side.hi {
            let mut above = sides.clone();
            above[d] = IntInterval::new(inner.hi + 1, side.hi);
            outside.push(above);
        }
        sides[d] = inner;
    }
}

pub(super) fn unbounded() -> EngineError {
    EngineError::Unsupported("bounded model checking over a variable without bounds".to_owned())
}

#[cfg(test)]
mod tests {
    use policert_model::{BinaryOp, Expr};

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
