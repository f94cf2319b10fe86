//! Inductive invariants.

use policert_model::{Condition, Region};
use policert_numeric::{IntBox, IntervalDiagram};

/// A set of states that contains every start state and no unsafe one, and that no transition leaves:
/// the union of pieces, each the states of a box that satisfy conditions, and of the states of a diagram.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Invariant {
    pieces: Vec<Region<Condition>>,
    diagram: Option<IntervalDiagram>,
}

impl Invariant {
    /// The greatest number of pieces of evidence. More boxes are a diagram.
    pub const MOST_PIECES: usize = 100_000;
    /// The greatest number of edges of a diagram of evidence.
    pub const MOST_EDGES: usize = 1_000_000;

    /// The union of pieces, whose sides are those of the model's variables in their order.
    #[must_use]
    pub fn new(pieces: Vec<Region<Condition>>) -> Self {
        Self { pieces, diagram: None }
    }

    /// The states of a diagram, too, whose dimensions are the model's variables in their order.
    #[must_use]
    pub fn with_diagram(self, diagram: Option<IntervalDiagram>) -> Self {
        Self { diagram, ..self }
    }

    /// Number of boxes: of pieces, and of ways through the diagram.
    #[must_use]
    pub fn boxes(&self) -> usize {
        let of_diagram = self.diagram.as_ref().map_or(0, IntervalDiagram::boxes);
        self.pieces.len().saturating_add(usize::try_from(of_diagram).unwrap_or(usize::MAX))
    }

    /// The diagram, if there is one.
    #[must_use]
    pub fn diagram(&self) -> Option<&IntervalDiagram> {
        self.diagram.as_ref()
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
            || self.diagram.as_ref().is_some_and(|diagram| diagram.contains(state))
    }
}

impl From<IntervalDiagram> for Invariant {
    fn from(diagram: IntervalDiagram) -> Self {
        Self::default().with_diagram(Some(diagram))
    }
}

impl From<Vec<IntBox>> for Invariant {
    fn from(boxes: Vec<IntBox>) -> Self {
        let piece = |sides| Region { sides, conditions: Vec::new() };
        Self::new(boxes.into_iter().map(piece).collect())
    }
}
