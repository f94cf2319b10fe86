//! The atoms of conditions.

use policert_model::Condition;

/// The atoms of a condition, each in one of its two polarities, in the order of occurrence.
pub(crate) fn atoms(condition: &Condition, found: &mut Vec<Condition>) {
    match condition {
        Condition::True | Condition::False => {}
        Condition::And(parts) | Condition::Or(parts) => {
            parts.iter().for_each(|part| atoms(part, found));
        }
        atom => {
            let atom = oriented(atom);
            if !found.contains(&atom) {
                found.push(atom);
            }
        }
    }
}

/// An atom or its negation, the same for both.
fn oriented(atom: &Condition) -> Condition {
    let keep = match atom {
        Condition::Linear(c) => c.terms.first().is_none_or(|&(_, factor)| factor > 0),
        Condition::General { positive, .. } => *positive,
        _ => true,
    };
    if keep { atom.clone() } else { atom.negate() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use policert_model::{BinaryOp, Expr, VarId};

    #[test]
    fn atoms_come_once_whatever_their_polarity() {
        let x = || Expr::Var(VarId::new(0));
        let compare = |op, value| Condition::from_expr(&Expr::binary(op, x(), Expr::int(value)));
        // x = 3, or not x <= 2: two atoms, x <= 3 and x <= 2.
        let condition =
            Condition::or([compare(BinaryOp::Eq, 3), compare(BinaryOp::Le, 2).negate()]);
        let mut found = Vec::new();
        atoms(&condition, &mut found);
        assert_eq!(found, [compare(BinaryOp::Le, 3), compare(BinaryOp::Le, 2)]);
        atoms(&condition.negate(), &mut found);
        assert_eq!(found.len(), 2);
    }
}
