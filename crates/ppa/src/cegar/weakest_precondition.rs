//! Predicates by weakest preconditions: the atoms of a condition, and what they are before each
//! step of a path.

use policert_model::{Condition, Truth};

use super::path::AbstractPath;
use crate::abstraction::Abstraction;
use crate::predicates::require_total;

/// The most atoms that are carried back over one step.
const ATOM_LIMIT: usize = 256;

/// An atom at a step of a path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct AtomAtStep {
    /// The number of steps before it.
    pub step: usize,
    /// What it says of the state there.
    pub atom: Condition,
}

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

/// Whether a condition can be a predicate that says something: it is about states alone, has a
/// truth value in each, not the same in all, and is not decided by the locations.
pub(crate) fn is_predicate(abstraction: &Abstraction<'_>, atom: &Condition) -> bool {
    let predicates = &abstraction.predicates;
    let (domains, locations) = (predicates.domains(), predicates.layout().locations());
    let variables = atom.variables();
    variables.iter().all(|v| v.index() < domains.dimensions())
        && !variables.iter().all(|v| locations.contains(v))
        && atom.truth(domains) == Truth::Maybe
        && require_total(atom, domains, "").is_ok()
}

/// The atoms of a condition on the state after `step` steps, and those of its weakest
/// preconditions at every step before.
///
/// Where a predicate is entailed by its abstract state nothing is gained by it. With
/// `until_entailed` its weakest preconditions are not followed either: runs that stay on the path
/// agree on them.
pub(crate) fn propagate(
    abstraction: &Abstraction<'_>,
    path: &AbstractPath,
    step: usize,
    condition: &Condition,
    until_entailed: bool,
) -> Vec<AtomAtStep> {
    let dimensions = abstraction.predicates.domains().dimensions();
    let mut found = Vec::new();
    let mut wave = Vec::new();
    atoms(condition, &mut wave);
    for at in (0..=step).rev() {
        wave.truncate(ATOM_LIMIT);
        // A condition on free choices is none on states.
        wave.retain(|atom| atom.variables().iter().all(|v| v.index() < dimensions));
        wave.retain(|atom| {
            let open = atom.truth(&path.states[at].cell.sides) == Truth::Maybe;
            if open && is_predicate(abstraction, atom) {
                found.push(AtomAtStep { step: at, atom: atom.clone() });
            }
            open || !until_entailed
        });
        if at == 0 || wave.is_empty() {
            break;
        }
        let outcome = path.outcome(abstraction, at - 1);
        for atom in std::mem::take(&mut wave) {
            atoms(&outcome.weakest_precondition(&atom), &mut wave);
        }
    }
    found
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
