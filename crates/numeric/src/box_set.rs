//! Sets of points as boxes, with a tree that finds those that meet a box.

use crate::IntBox;

/// Boxes in a leaf before it is cut.
const LEAF: usize = 16;

/// The union of boxes of one dimension.
#[derive(Clone, Debug)]
pub struct BoxSet {
    boxes: Vec<IntBox>,
    /// The first is the root.
    nodes: Vec<BoxNode>,
}

#[derive(Clone, Debug)]
enum BoxNode {
    /// The boxes that meet this part of the space, and at how many of them it is cut.
    Leaf(Vec<usize>, usize),
    /// The boxes that reach up to `at`, and those that reach beyond; a box may do both.
    Cut { d: usize, at: i64, low: usize, high: usize },
}

impl Default for BoxSet {
    fn default() -> Self {
        Self { boxes: Vec::new(), nodes: vec![BoxNode::Leaf(Vec::new(), LEAF)] }
    }
}

impl<'b> FromIterator<&'b IntBox> for BoxSet {
    fn from_iter<I: IntoIterator<Item = &'b IntBox>>(boxes: I) -> Self {
        let mut set = Self::default();
        boxes.into_iter().for_each(|sides| set.insert(sides.clone()));
        set
    }
}

impl BoxSet {
    /// Adds a box.
    pub fn insert(&mut self, sides: IntBox) {
        let id = self.boxes.len();
        let mut stack = vec![0];
        while let Some(node) = stack.pop() {
            match &mut self.nodes[node] {
                BoxNode::Cut { d, at, low, high } => {
                    if sides[*d].lo <= *at {
                        stack.push(*low);
                    }
                    if sides[*d].hi > *at {
                        stack.push(*high);
                    }
                }
                BoxNode::Leaf(ids, _) => ids.push(id),
            }
        }
        self.boxes.push(sides);
        self.cut_leaves(id);
    }

    /// Cuts the leaves with a new box that hold too many.
    fn cut_leaves(&mut self, id: usize) {
        let mut stack = vec![0];
        while let Some(node) = stack.pop() {
            match &self.nodes[node] {
                BoxNode::Cut { d, at, low, high } => {
                    let side = self.boxes[id][*d];
                    stack.extend((side.lo <= *at).then_some(*low));
                    stack.extend((side.hi > *at).then_some(*high));
                }
                BoxNode::Leaf(ids, limit) if ids.len() > *limit => {
                    let ids = ids.clone();
                    let next = match self.best_cut(&ids) {
                        Some((d, at)) => {
                            let side = |id: &usize| self.boxes[*id][d];
                            let low = ids.iter().copied().filter(|id| side(id).lo <= at).collect();
                            let high = ids.iter().copied().filter(|id| side(id).hi > at).collect();
                            let first = self.nodes.len();
                            self.nodes.push(BoxNode::Leaf(low, LEAF));
                            self.nodes.push(BoxNode::Leaf(high, LEAF));
                            BoxNode::Cut { d, at, low: first, high: first + 1 }
                        }
                        None => {
                            let limit = 2 * ids.len();
                            BoxNode::Leaf(ids, limit)
                        }
                    };
                    self.nodes[node] = next;
                }
                BoxNode::Leaf(..) => {}
            }
        }
    }

    /// The cut that leaves the fewest boxes in the greater part; `None` if no cut helps.
    fn best_cut(&self, ids: &[usize]) -> Option<(usize, i64)> {
        let dimensions = self.boxes[ids[0]].dimensions();
        let mut best: Option<(usize, usize, i64)> = None;
        for d in 0..dimensions {
            let mut ends: Vec<i64> = ids.iter().map(|&id| self.boxes[id][d].hi).collect();
            ends.sort_unstable();
            let at = ends[(ends.len() - 1) / 2];
            let low = ids.iter().filter(|&&id| self.boxes[id][d].lo <= at).count();
            let high = ids.iter().filter(|&&id| self.boxes[id][d].hi > at).count();
            let most = low.max(high);
            if most < ids.len() && best.is_none_or(|(fewest, ..)| most < fewest) {
                best = Some((most, d, at));
            }
        }
        best.map(|(_, d, at)| (d, at))
    }

    /// The positions of the boxes that have a point in common with `sides`, in order.
    #[must_use]
    pub fn meeting(&self, sides: &IntBox) -> Vec<usize> {
        let mut meeting = Vec::new();
        let mut stack = vec![0];
        while let Some(node) = stack.pop() {
            match &self.nodes[node] {
                BoxNode::Cut { d, at, low, high } => {
                    stack.extend((sides[*d].lo <= *at).then_some(*low));
                    stack.extend((sides[*d].hi > *at).then_some(*high));
                }
                BoxNode::Leaf(ids, _) => {
                    let meets = |id: &usize| meet(&self.boxes[*id], sides);
                    meeting.extend(ids.iter().copied().filter(meets));
                }
            }
        }
        meeting.sort_unstable();
        meeting.dedup();
        meeting
    }

    /// The parts of a box that lie outside of the set, disjoint.
    #[must_use]
    pub fn rest(&self, sides: IntBox) -> Vec<IntBox> {
        let meeting = self.meeting(&sides);
        let mut left = vec![sides];
        for id in meeting {
            let known = &self.boxes[id];
            if left.iter().any(|part| meet(part, known)) {
                let mut next = Vec::with_capacity(left.len());
                for part in left {
                    let common = part.intersect(known);
                    if common.is_empty() {
                        next.push(part);
                    } else {
                        part.add_outside(&common, &mut next);
                    }
                }
                left = next;
            }
        }
        left
    }
}

/// Returns whether two boxes have a common point.
fn meet(a: &IntBox, b: &IntBox) -> bool {
    a.sides().iter().zip(b.sides()).all(|(a, b)| a.lo <= b.hi && b.lo <= a.hi)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::IntInterval;

    #[test]
    fn every_point_is_held_once() {
        let mut set = BoxSet::default();
        let mut held: Vec<IntBox> = Vec::new();
        let mut seed = 7i64;
        let mut next = |n: i64| {
            seed = (seed * 1_103_515_245 + 12345) % 2_147_483_648;
            seed / 65536 % n
        };
        let mut all = Vec::new();
        for _ in 0..120 {
            let sides = (0..3).map(|_| {
                let lo = next(9);
                IntInterval::new(lo, lo + next(3))
            });
            let sides = IntBox::new(sides.collect());
            all.push(sides.clone());
            for part in set.rest(sides) {
                assert!(held.iter().all(|other| !meet(other, &part)));
                held.push(part.clone());
                set.insert(part);
            }
        }
        assert!(set.nodes.len() > 1);
        for x in 0..12 {
            for y in 0..12 {
                for z in 0..12 {
                    let covered = all.iter().any(|b| b.contains(&[x, y, z]));
                    let count = held.iter().filter(|b| b.contains(&[x, y, z])).count();
                    assert_eq!(count, usize::from(covered));
                    assert_eq!(!set.meeting(&IntBox::point(&[x, y, z])).is_empty(), covered);
                }
            }
        }
    }
}
