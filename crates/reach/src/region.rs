//! Goal and unsafe sets: boxes over some of the variables.

use std::cmp::Ordering;

use policert_numeric::Rational;

use crate::edge::BoxEdge;
use crate::range::{ClosedRange, ExactRange};

/// Says whether the border belongs to a region.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Border {
    /// It does.
    #[default]
    Closed,
    /// It does not.
    Open,
}

/// The bounds of one variable in a region.
#[derive(Clone, PartialEq, Debug)]
pub struct RegionSide {
    /// The variable.
    pub variable: usize,
    /// Its lower bound.
    pub lower: BoxEdge,
    /// Its upper bound.
    pub upper: BoxEdge,
}

/// A box over some of the variables; the others are free.
#[derive(Clone, PartialEq, Debug)]
pub struct LoopRegion {
    sides: Vec<RegionSide>,
    border: Border,
}

impl LoopRegion {
    /// The region of (variable, lower, upper) with or without its border.
    #[must_use]
    pub fn new(sides: Vec<(usize, Rational, Rational)>, border: Border) -> Self {
        let side = |(variable, lower, upper)| RegionSide {
            variable,
            lower: BoxEdge::new(lower),
            upper: BoxEdge::new(upper),
        };
        Self { sides: sides.into_iter().map(side).collect(), border }
    }

    /// Its bounds.
    #[must_use]
    pub fn sides(&self) -> &[RegionSide] {
        &self.sides
    }

    /// Returns whether its border belongs to it.
    #[must_use]
    pub fn border(&self) -> Border {
        self.border
    }

    /// Returns whether all of a box lies in it.
    #[inline]
    pub fn contains<R: ClosedRange>(&self, state: &[R]) -> bool {
        self.sides.iter().all(|side| {
            let range = &state[side.variable];
            let (low, high) = (range.lower_cmp(&side.lower), range.upper_cmp(&side.upper));
            match self.border {
                Border::Closed => low != Ordering::Less && high != Ordering::Greater,
                Border::Open => low == Ordering::Greater && high == Ordering::Less,
            }
        })
    }

    /// A state that it has in common with a box between exact bounds, if there is one.
    #[must_use]
    pub fn state_in(&self, bounds: &[(Rational, Rational)]) -> Option<Vec<Rational>> {
        let mut common = bounds.to_vec();
        for side in &self.sides {
            let (lo, hi) = &mut common[side.variable];
            *lo = lo.clone().max(side.lower.exact().clone());
            *hi = hi.clone().min(side.upper.exact().clone());
            if lo > hi {
                return None;
            }
        }
        // The middle also lies inside an open region, if anything does.
        let half = Rational::new(1, 2).unwrap_or_default();
        let state: Vec<Rational> = common.iter().map(|(lo, hi)| (lo + hi) * half.clone()).collect();
        let exact: Vec<ExactRange> =
            state.iter().map(|x| ExactRange::new(x.clone(), x.clone())).collect();
        self.contains(&exact).then_some(state)
    }

    /// Returns whether part of a box may lie in it.
    #[inline]
    pub fn meets<R: ClosedRange>(&self, state: &[R]) -> bool {
        self.sides.iter().all(|side| {
            let range = &state[side.variable];
            let (low, high) = (range.lower_cmp(&side.upper), range.upper_cmp(&side.lower));
            match self.border {
                Border::Closed => low != Ordering::Greater && high != Ordering::Less,
                Border::Open => low == Ordering::Less && high == Ordering::Greater,
            }
        })
    }
}
