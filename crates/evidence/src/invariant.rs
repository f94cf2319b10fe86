//! Inductive invariants.

use policert_numeric::IntBox;

/// Boxes of states that no step leaves: all start states lie in them, and no unsafe state does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Invariant {
    boxes: Vec<IntBox>,
}

impl Invariant {
    /// The union of these boxes, whose sides are those of the model's variables in their order.
    #[must_use]
    pub fn new(boxes: Vec<IntBox>) -> Self {
        Self { boxes }
    }

    /// Returns the boxes.
    #[must_use]
    pub fn boxes(&self) -> &[IntBox] {
        &self.boxes
    }

    /// Returns whether a state lies in the invariant.
    #[must_use]
    pub fn contains(&self, state: &[i64]) -> bool {
        self.boxes.iter().any(|one| one.contains(state))
    }
}
