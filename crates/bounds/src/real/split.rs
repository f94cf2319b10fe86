//! Which side of a box is cut, or at which bend a part is split.

use super::RealOracle;
use super::queue::{RealPart, Strategy};
use super::search::RealSearch;
use crate::bound::Bend;

/// A way to split a part in two.
#[derive(Clone, Copy, Debug)]
pub(super) enum Split {
    /// At a point of a side.
    Side { variable: usize, at: f64 },
    /// At the bend of a function.
    Bend { slot: usize, at: f64 },
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
            Self::Bend { slot, at } => {
                for (part, above) in [(&mut low, false), (&mut high, true)] {
                    let bend = Bend { slot, at, above, implied: false };
                    part.bends.push(bend);
                    part.bends.extend(oracle.bounder.twins(&bend));
                }
            }
        }
        [low, high]
    }
}

/// With at most so many bends left, splitting at them is better than cutting sides.
const FEW_BENDS: usize = 6;
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
                let (source, at) = self.bend(oracle, node, element)?;
                let (lo, hi) = oracle.bounder.range(source);
                let gap = (hi - at) * (at - lo) / (hi - lo);
                let known = gaps.map_or(0.0, |gaps| gaps[slot]);
                Some((self.at_bend(oracle, source, at), known, self.effects[slot] * gap))
            })
            .max_by(|(_, a, b), (_, c, d)| a.total_cmp(c).then(b.total_cmp(d)))
            .map(|(split, ..)| split);
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
            (Some(bend), None) => Some(bend),
            (Some(bend), Some(_)) if bends_first => Some(bend),
            (_, Some(variable)) => {
                let at = part.lo[variable] / 2.0 + part.hi[variable] / 2.0;
                Some(Split::Side { variable, at })
            }
            (None, None) => None,
        }
    }

    /// The number of these functions that have linear pieces, so that a part can be split at their
    /// bends.
    pub fn bending(&self, oracle: &RealOracle, open: &[(usize, usize, usize)]) -> usize {
        let bends = |&&(node, element, _): &&_| self.bend(oracle, node, element).is_some();
        open.iter().filter(bends).count()
    }

    /// The slot of the argument of an element of a function's node, and where it bends.
    fn bend(&self, oracle: &RealOracle, node: usize, element: usize) -> Option<(usize, f64)> {
        let at = oracle.bounder.bend(node, element)?;
        Some((oracle.bounder.argument(node, element)?, at))
    }

    /// A split at a bend: a cut of a side, if the argument is an input of the network.
    fn at_bend(&self, oracle: &RealOracle, slot: usize, at: f64) -> Split {
        match oracle.reads.get(slot) {
            Some(&variable) => Split::Side { variable, at },
            None => Split::Bend { slot, at },
        }
    }
}
