//! Which states lie in pieces, each a box with conditions, or in a diagram, and where their faces are.

use policert_model::{Condition, Region, Truth, VarId};
use policert_numeric::{BoxSet, IntBox, IntInterval, IntervalDiagram};

/// Up to this many boxes that meet a region are looked at together: whether they cover it.
const TOGETHER: usize = 32;

/// Pieces, found by the boxes that they meet.
pub(crate) struct Cover<'a> {
    pieces: &'a [Region<Condition>],
    boxes: BoxSet,
    diagram: Option<&'a IntervalDiagram>,
}

impl<'a> Cover<'a> {
    pub fn new(pieces: &'a [Region<Condition>]) -> Self {
        Self { pieces, boxes: pieces.iter().map(|piece| &piece.sides).collect(), diagram: None }
    }

    /// The states of a diagram, too.
    pub fn with_diagram(self, diagram: Option<&'a IntervalDiagram>) -> Self {
        Self { diagram, ..self }
    }

    /// Returns whether a state lies in a piece, or in the diagram.
    pub fn contains(&self, state: &[i64]) -> bool {
        self.diagram.is_some_and(|diagram| diagram.contains(state))
            || self.first_with(state).is_some()
    }

    /// The first piece that contains a state.
    pub fn first_with(&self, state: &[i64]) -> Option<usize> {
        let holds = |id: &usize| {
            let conditions = &self.pieces[*id].conditions;
            conditions.iter().all(|condition| condition.holds(state) == Ok(true))
        };
        self.boxes.meeting(&IntBox::point(state)).into_iter().filter(holds).min()
    }

    /// Returns whether a whole box is seen to lie in the pieces, or in the diagram.
    pub fn includes(&self, sides: &IntBox) -> bool {
        self.diagram.is_some_and(|diagram| diagram.includes(sides))
            || self.prefix_with(sides).is_some()
    }

    /// The number of pieces, from the first one on, that are seen to contain a whole box.
    pub fn prefix_with(&self, sides: &IntBox) -> Option<usize> {
        if sides.is_empty() {
            return Some(0);
        }
        let mut meeting = self.boxes.meeting(sides);
        meeting.sort_unstable();
        let holds = |condition: &Condition| condition.truth(sides) == Truth::True;
        let includes = |id: &usize| {
            let piece = &self.pieces[*id];
            piece.sides.includes(sides) && piece.conditions.iter().all(holds)
        };
        let alone = meeting.iter().copied().find(|id| includes(id)).map(|id| id + 1);
        if meeting.len() > TOGETHER {
            return alone;
        }
        let mut rest = vec![sides.clone()];
        for id in meeting {
            if alone.is_some_and(|count| count <= id) {
                break;
            }
            let piece = &self.pieces[id];
            let mut left = Vec::new();
            for part in rest {
                let common = part.intersect(&piece.sides);
                let holds = |condition: &Condition| condition.truth(&common) == Truth::True;
                if common.is_empty() || !piece.conditions.iter().all(holds) {
                    left.push(part);
                } else {
                    part.add_outside(&common, &mut left);
                }
            }
            rest = left;
            if rest.is_empty() {
                return Some(id + 1);
            }
        }
        alone
    }

    /// Cuts a piece such that its image is cut at a face of the box that has most of it. `direct`
    /// tells the variables whose new value is ± one old value and a constant.
    pub fn cut_at_a_face(
        &self,
        image: &IntBox,
        direct: &dyn Fn(usize) -> Option<(usize, i64, i64)>,
        piece: &IntBox,
    ) -> Option<[IntBox; 2]> {
        let in_diagram = self.diagram.and_then(|diagram| diagram.nearest(image));
        let face = match &in_diagram {
            Some(sides) => sides,
            None => &self.nearest(image)?.sides,
        };
        for (d, (inner, outer)) in face.sides().iter().zip(image.sides()).enumerate() {
            // v' ≤ at in one part, v' > at in the other.
            for at in [inner.lo - 1, inner.hi] {
                if at < outer.lo || at >= outer.hi {
                    continue;
                }
                let Some((w, factor, constant)) = direct(d) else { continue };
                let before = if factor > 0 {
                    at.checked_sub(constant)
                } else {
                    constant.checked_sub(at).and_then(|bound| bound.checked_sub(1))
                };
                let side = piece[w];
                if let Some(at) = before.filter(|&at| side.lo <= at && at < side.hi) {
                    return Some(piece.clone().cut(w, at));
                }
            }
        }
        None
    }

    /// The piece that has the greatest share of a box.
    fn nearest(&self, sides: &IntBox) -> Option<&Region<Condition>> {
        let mut best: Option<(f64, &Region<Condition>)> = None;
        for id in self.boxes.meeting(sides) {
            let piece = &self.pieces[id];
            let pairs = piece.sides.sides().iter().zip(sides.sides());
            let share = pairs.map(|(b, side)| shared(*b, *side)).product();
            if best.is_none_or(|(most, _)| share > most) {
                best = Some((share, piece));
            }
        }
        best.map(|(_, piece)| piece)
    }

    /// The variables of the conditions of the nearest piece that a box leaves open.
    pub fn open_variables(&self, sides: &IntBox) -> Vec<VarId> {
        let conditions = self.nearest(sides).map_or(&[][..], |piece| &piece.conditions);
        let open = conditions.iter().filter(|condition| condition.truth(sides) == Truth::Maybe);
        open.flat_map(Condition::variables).collect()
    }
}

/// Returns which part of a side lies in another one.
#[expect(clippy::cast_precision_loss, reason = "a heuristic")]
fn shared(a: IntInterval, side: IntInterval) -> f64 {
    let common = a.intersect(side);
    if common.is_empty() {
        return 0.0;
    }
    let size = |side: IntInterval| side.lo.abs_diff(side.hi) as f64 + 1.0;
    size(common) / size(side)
}
