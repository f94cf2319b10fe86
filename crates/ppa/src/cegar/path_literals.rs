//! The literals on the way from the root to a node of the tree, as far as they say something.

use policert_model::{Condition, VarId};
use policert_numeric::IntInterval;

use super::cell::Literal;
use super::predicate_id::PredicateId;

/// Literals in the order of the way; of the bounds of a variable from one side the tightest only.
#[derive(Clone, Debug, Default)]
pub(crate) struct PathLiterals(Vec<(PredicateId, Literal)>);

impl PathLiterals {
    /// Adds the next literal of the way.
    pub fn add(&mut self, predicate: PredicateId, literal: Literal) {
        if let Some((variable, side)) = bound(&literal) {
            self.0.retain(|(_, known)| {
                bound(known)
                    .is_none_or(|(v, weaker)| v != variable || weaker.intersect(side) != side)
            });
        }
        self.0.push((predicate, literal));
    }
}

impl From<PathLiterals> for Vec<(PredicateId, Literal)> {
    fn from(literals: PathLiterals) -> Self {
        literals.0
    }
}

/// The variable that a literal bounds, and where it holds.
fn bound(literal: &Literal) -> Option<(VarId, IntInterval)> {
    match literal.condition() {
        Condition::Linear(constraint) => constraint.as_bound(),
        Condition::True
        | Condition::False
        | Condition::General { .. }
        | Condition::And(_)
        | Condition::Or(_) => None,
    }
}
