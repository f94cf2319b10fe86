//! Which states lie in an invariant, and where its faces are.

use policert_engine_api::Invariant;
use policert_model::{Condition, Region, Truth, VarId};
use policert_numeric::{BoxSet, IntBox, IntInterval};

/// Up to this many boxes that meet a region are looked at together: whether they cover it.
const TOGETHER: usize = 32;

/// The pieces of an invariant, found by the boxes that they meet.
pub(super) struct Cover<'a> {
    pieces: &'a [Region<Condition>],
    boxes: BoxSet,
}

impl<'a> Cover<'a> {
    pub fn new(invariant: &'a Invariant) -> Self {
        let pieces = invariant.pieces();
        Self { pieces, boxes: pieces.iter().map(|piece| &piece.sides).collect() }
    }

    /// Returns whether a state lies in the invariant.
    pub fn contains(&self, state: &[i64]) -> bool {
        let holds = |id: &usize| {
            let conditions = &self.pieces[*id].conditions;
            conditions.iter().all(|condition| condition.holds(state) == Ok(true))
        };
        self.boxes.meeting(&IntBox::point(state)).iter().any(holds)
    }

    /// Returns whether a whole box is seen to lie in the invariant.
    pub fn includes(&self, sides: &IntBox) -> bool {
        if sides.is_empty() {
            return true;
        }
        let meeting = self.boxes.meeting(sides);
        let holds = |condition: &Condition| condition.truth(sides) == Truth::True;
        let includes = |id: &usize| {
            let piece = &self.pieces[*id];
            piece.sides.includes(sides) && piece.conditions.iter().all(holds)
        };
        if meeting.iter().any(includes) {
            return true;
        }
        if meeting.len() > TOGETHER {
            return false;
        }
        let mut rest = vec![sides.clone()];
        for id in meeting {
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
        }
        rest.is_empty()
    }

    /// The piece that has the greatest share of a box.
    pub fn nearest(&self, sides: &IntBox) -> Option<&Region<Condition>> {
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
