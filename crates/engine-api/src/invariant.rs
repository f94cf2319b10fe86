//! Inductive invariants.

use policert_model::{Condition, Region};
use policert_numeric::IntBox;

/// A set of states that contains every start state and no unsafe one, and that no transition leaves:
/// the union of pieces, each the states of a box that satisfy conditions.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Invariant {
    pieces: Vec<Region<Condition>>,
}

impl Invariant {
    /// The union of pieces, whose sides are those of the model's variables in their order.
    #[must_use]
    pub fn new(pieces: Vec<Region<Condition>>) -> Self {
        Self { pieces }
    }

    /// Returns the pieces.
    #[must_use]
    pub fn pieces(&self) -> &[Region<Condition>] {
        &self.pieces
    }

    /// The pieces by themselves.
    #[must_use]
    pub fn into_pieces(self) -> Vec<Region<Condition>> {
        self.pieces
    }

    /// Returns whether a state lies in the invariant. A condition without truth value does not hold.
    #[must_use]
    pub fn contains(&self, state: &[i64]) -> bool {
        let holds = |piece: &Region<Condition>| {
            piece.sides.contains(state)
                && piece.conditions.iter().all(|condition| condition.holds(state) == Ok(true))
        };
        self.pieces.iter().any(holds)
    }
}

impl From<Vec<IntBox>> for Invariant {
    fn from(boxes: Vec<IntBox>) -> Self {
        let piece = |sides| Region { sides, conditions: Vec::new() };
        Self::new(boxes.into_iter().map(piece).collect())
    }
}
