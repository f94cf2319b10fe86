//! Which side of a box is cut, or at which bend a part is split.

use policert_policy::activation::Jump;

use super::RealOracle;
use super::queue::{RealPart, Strategy};
use super::search::RealSearch;
use crate::bound::Bend;

/// A way to split a part in two.
#[derive(Clone, Copy, Debug)]
pub(super) enum Split {
    /// At a point of a side.
    Side { variable: usize, at: f64 },
    /// At the bend of a function, or at a jump, which belongs to the lower part or to the upper one.
    Bend { slot: usize, at: f64, is_below: bool },
}

impl Split {
    /// The two parts, the one that is looked at last first.
    pub fn parts(self, oracle: &RealOracle, part: RealPart) -> [RealPart; 2] {
        let (mut low, mut high) = (part.clone(), part);
        match self {
            Self::Side { variable, at } => {
                low.hi[variable] = low.hi[variable].min(at);
                high.lo[variable] = high.lo[variable].max(at);
            }
            Self::Bend { slot, at, is_below } => {
                for (part, above) in [(&mut low, false), (&mut high, true)] {
                    let bend = Bend { slot, at, above, strict: above == is_below, implied: false };
                    part.bends.push(bend);
                    part.bends.extend(oracle.bounder.twins(&bend));
                }
                if let Some(&variable) = oracle.reads.get(slot) {
                    low.hi[variable] = low.hi[variable].min(at);
                    high.lo[variable] = high.lo[variable].max(at);
                }
            }
        }
        [low, high]
    }
}

/// With at most so many bends left, splitting at them is better than cutting sides.
const FEW_BENDS: usize = 6;
/// A staircase with steps of at most this size together is split at its jumps.
const FEW_STEPS: f64 = 2.0;
/// With more free variables than that, splitting at bends is better.
pub(super) const MANY_VARIABLES: usize = 12;
/// Sides that are smaller than the region's by this factor are not cut.
const SMALL_SIDE: f64 = 1.0 / 16_777_216.0;

impl RealSearch {
    /// The split of the part that was entered last, and of which `part` is what is left, in which
    /// these functions are not linear; `None` if it cannot be split. `gaps` says by slot how much
    /// a function matters, where that is known.
    pub fn split(
        &self,
        oracle: &RealOracle,
        part: &RealPart,
        open: &[(usize, usize, usize)],
        gaps: Option<&[f64]>,
        strategy: Strategy,
    ) -> Option<Split> {
        let by_bend = open
            .iter()
            .filter_map(|&(node, element, slot)| {
                let source = oracle.bounder.argument(node, element)?;
                let jump = oracle.bounder.bend(node, element)?;
                let (lo, hi) = oracle.bounder.range(source);
                let gap = match oracle.bounder.steps(node, element) {
                    None => (hi - jump.at) * (jump.at - lo) / (hi - lo),
                    Some(steps) => steps,
                };
                let known = gaps.map_or(0.0, |gaps| gaps[slot]);
                let split = self.at_bend(oracle, (node, element), source, jump);
                let few = self.is_narrow(oracle, (node, element));
                Some((split, few, known, self.effects[slot] * gap))
            })
            .max_by(|(_, few, a, b), (_, others, c, d)| {
                few.cmp(others).then(a.total_cmp(c)).then(b.total_cmp(d))
            })
            .map(|(split, few, ..)| (split, few));
        let is_wide = |&variable: &usize| {
            let (lo, hi) = (part.lo[variable], part.hi[variable]);
            let middle = lo / 2.0 + hi / 2.0;
            let whole = self.whole.hi[variable] - self.whole.lo[variable];
            lo < middle && middle < hi && hi - lo > whole * SMALL_SIDE
        };
        let sides = oracle.reads.iter().copied().filter(is_wide);
        // Where no plane has a slope, as between steps, the side that is longest for its region.
        let score = |variable: usize| {
            let length = part.hi[variable] - part.lo[variable];
            let whole = self.whole.hi[variable] - self.whole.lo[variable];
            (self.influence[variable] * length, length / whole)
        };
        let by_side = sides.clone().max_by(|&a, &b| {
            let ((a, long), (b, longer)) = (score(a), score(b));
            a.total_cmp(&b).then(long.total_cmp(&longer))
        });
        let bends_first = match strategy {
            Strategy::Bends => true,
            Strategy::Sides => {
                self.bending(oracle, open) <= FEW_BENDS || sides.count() > MANY_VARIABLES
            }
        };
        match (by_bend, by_side) {
            (Some((bend, _)), None) => Some(bend),
            // Between many jumps sides are cut.
            (Some((bend, true)), Some(_)) if bends_first => Some(bend),
            (_, Some(variable)) => {
                let at = part.lo[variable] / 2.0 + part.hi[variable] / 2.0;
                Some(Split::Side { variable, at })
            }
            (None, None) => None,
        }
    }

    /// The number of these functions that have pieces, few of them, so that a part can be split at their
    /// bends.
    pub fn bending(&self, oracle: &RealOracle, open: &[(usize, usize, usize)]) -> usize {
        let bends = |&&(node, element, _): &&_| {
            self.is_narrow(oracle, (node, element)) && oracle.bounder.bend(node, element).is_some()
        };
        open.iter().filter(bends).count()
    }

    /// Returns whether an element of a function's node has few pieces in the part.
    fn is_narrow(&self, oracle: &RealOracle, (node, element): (usize, usize)) -> bool {
        oracle.bounder.steps(node, element).is_none_or(|steps| steps <= FEW_STEPS)
    }

    /// A split at the bend of an element of a function's node: a cut of a side, if the argument is an
    /// input of the network, and it belongs to both sides.
    fn at_bend(
        &self,
        oracle: &RealOracle,
        (node, element): (usize, usize),
        slot: usize,
        Jump { at, is_below }: Jump,
    ) -> Split {
        match oracle.reads.get(slot) {
            Some(&variable) if oracle.bounder.steps(node, element).is_none() => {
                Split::Side { variable, at }
            }
            Some(_) | None => Split::Bend { slot, at, is_below },
        }
    }
}
