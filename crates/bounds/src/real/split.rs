//! Which side of a box is cut, or at which bend a part is split.

use super::RealOracle;
use super::search::{Part, Search};
use crate::bound::Bend;

/// A way to split a part in two.
#[derive(Clone, Copy, Debug)]
pub(super) enum Split {
    /// At the middle of a side.
    Side { variable: usize, at: f64 },
    /// At the bend of a function.
    Bend { slot: usize, at: f64 },
}

impl Split {
    /// The two parts, the one that is looked at last first.
    pub fn parts(self, part: Part) -> [Part; 2] {
        let (mut low, mut high) = (part.clone(), part);
        match self {
            Self::Side { variable, at } => {
                low.hi[variable] = at;
                high.lo[variable] = at;
            }
            Self::Bend { slot, at } => {
                low.bends.push(Bend { slot, at, above: false });
                high.bends.push(Bend { slot, at, above: true });
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

impl Search {
    /// How to split the part that was entered last, in which these functions are not linear; `None`
    /// if it cannot be.
    pub fn split(
        &self,
        oracle: &RealOracle,
        part: &Part,
        open: &[(usize, usize, usize)],
    ) -> Option<Split> {
        let bounder = &oracle.bounder;
        let by_bend = open
            .iter()
            .filter_map(|&(node, element, slot)| {
                let at = bounder.bend(node, element)?;
                let source = bounder.argument(node, element)?;
                let (lo, hi) = bounder.range(source);
                let gap = (hi - at) * (at - lo) / (hi - lo);
                Some((Split::Bend { slot: source, at }, self.effects[slot] * gap))
            })
            .max_by(|(_, a), (_, b)| a.total_cmp(b));
        let is_wide = |&variable: &usize| {
            let (lo, hi) = (part.lo[variable], part.hi[variable]);
            let middle = lo / 2.0 + hi / 2.0;
            let whole = self.whole.hi[variable] - self.whole.lo[variable];
            lo < middle && middle < hi && hi - lo > whole * SMALL_SIDE
        };
        let sides = oracle.reads.iter().copied().filter(is_wide);
        let score =
            |variable: usize| self.influence[variable] * (part.hi[variable] - part.lo[variable]);
        let by_side = sides.clone().max_by(|&a, &b| score(a).total_cmp(&score(b)));
        let bends_first = open.len() <= FEW_BENDS || sides.count() > MANY_VARIABLES;
        match (by_bend, by_side) {
            (Some((bend, _)), None) => Some(bend),
            (Some((bend, _)), Some(_)) if bends_first => Some(bend),
            (_, Some(variable)) => {
                let at = part.lo[variable] / 2.0 + part.hi[variable] / 2.0;
                Some(Split::Side { variable, at })
            }
            (None, None) => None,
        }
    }
}
