//! Goal and unsafe sets: boxes over some of the variables, or conditions on the state.

use std::cmp::Ordering;
use std::sync::Arc;

use policert_numeric::Rational;

use crate::condition::{StateCondition, Tighter};
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

/// A set of states.
#[derive(Clone, Debug)]
pub struct LoopRegion(Shape);

#[derive(Clone, Debug)]
enum Shape {
    /// A box over some of the variables; the others are free.
    Box {
        sides: Vec<RegionSide>,
        border: Border,
    },
    Condition(Arc<StateCondition>),
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
        Self(Shape::Box { sides: sides.into_iter().map(side).collect(), border })
    }

    /// The states in which a condition holds.
    pub fn of_condition(condition: StateCondition) -> Self {
        Self(Shape::Condition(Arc::new(condition)))
    }

    /// Its bounds if it is a box.
    #[must_use]
    pub fn sides(&self) -> Option<&[RegionSide]> {
        match &self.0 {
            Shape::Box { sides, .. } => Some(sides),
            Shape::Condition(_) => None,
        }
    }

    /// The condition if it is not a box.
    #[must_use]
    pub fn condition(&self) -> Option<&StateCondition> {
        match &self.0 {
            Shape::Box { .. } => None,
            Shape::Condition(condition) => Some(condition),
        }
    }

    /// Returns whether the border of a box belongs to it.
    #[must_use]
    pub fn border(&self) -> Option<Border> {
        match &self.0 {
            Shape::Box { border, .. } => Some(*border),
            Shape::Condition(_) => None,
        }
    }

    /// Returns whether all of a box lies in it.
    #[inline]
    pub fn contains<R: ClosedRange>(&self, state: &[R]) -> bool {
        self.contains_set(state, &|_| None)
    }

    /// Returns whether part of a box may lie in it.
    #[inline]
    pub fn meets<R: ClosedRange>(&self, state: &[R]) -> bool {
        self.meets_set(state, &|_| None)
    }

    /// Returns whether all of a set in a box lies in it.
    #[inline]
    pub fn contains_set<R: ClosedRange>(&self, state: &[R], tighter: Tighter<'_>) -> bool {
        let (sides, border) = match &self.0 {
            Shape::Box { sides, border } => (sides, *border),
            Shape::Condition(condition) => return condition.truth(state, tighter) == Some(true),
        };
        sides.iter().all(|side| {
            let range = &state[side.variable];
            let (low, high) = (range.lower_cmp(&side.lower), range.upper_cmp(&side.upper));
            match border {
                Border::Closed => low != Ordering::Less && high != Ordering::Greater,
                Border::Open => low == Ordering::Greater && high == Ordering::Less,
            }
        })
    }

    /// Returns whether part of a set in a box may lie in it.
    #[inline]
    pub fn meets_set<R: ClosedRange>(&self, state: &[R], tighter: Tighter<'_>) -> bool {
        let (sides, border) = match &self.0 {
            Shape::Box { sides, border } => (sides, *border),
            Shape::Condition(condition) => return condition.truth(state, tighter) != Some(false),
        };
        sides.iter().all(|side| {
            let range = &state[side.variable];
            let (low, high) = (range.lower_cmp(&side.upper), range.upper_cmp(&side.lower));
            match border {
                Border::Closed => low != Ordering::Greater && high != Ordering::Less,
                Border::Open => low == Ordering::Less && high == Ordering::Greater,
            }
        })
    }

    /// About how far a state is from it: negative inside, positive outside, in the units of the bounds or of
    /// the sides of the condition's comparisons.
    #[must_use]
    pub fn distance(&self, state: &[f64]) -> f64 {
        let sides = match &self.0 {
            Shape::Box { sides, .. } => sides,
            Shape::Condition(condition) => return condition.distance(state),
        };
        let beyond = sides.iter().map(|side| {
            let x = state[side.variable];
            (side.lower.floor() - x).max(x - side.upper.ceil())
        });
        beyond.fold(f64::NEG_INFINITY, f64::max)
    }

    /// A state that it has in common with a box between exact bounds, if one is known.
    fn state_in(&self, bounds: &[(Rational, Rational)]) -> Option<Vec<Rational>> {
        let mut common = bounds.to_vec();
        for side in self.sides()? {
            let (lo, hi) = &mut common[side.variable];
            *lo = lo.clone().max(side.lower.exact().clone());
            *hi = hi.clone().min(side.upper.exact().clone());
            if lo > hi {
                return None;
            }
        }
        // The middle also lies inside an open region, if anything does.
        let state = middle(&common);
        self.contains(&exact_point(&state)).then_some(state)
    }
}

/// Says where the states are that a set makes unsafe.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum UnsafeSide {
    /// In its region.
    #[default]
    Inside,
    /// Everywhere else: the region must not be left.
    Outside,
}

/// A set of states to be avoided.
#[derive(Clone, Debug)]
pub struct UnsafeSet {
    /// The region that it is about.
    pub region: LoopRegion,
    /// The side of the region's border on which it lies.
    pub side: UnsafeSide,
    /// The first step at which it counts.
    pub from_step: u32,
}

impl UnsafeSet {
    /// Returns whether all of a box lies in it.
    #[inline]
    pub fn contains<R: ClosedRange>(&self, state: &[R]) -> bool {
        match self.side {
            UnsafeSide::Inside => self.region.contains(state),
            UnsafeSide::Outside => !self.region.meets(state),
        }
    }

    /// Returns whether part of a box may lie in it.
    #[inline]
    pub fn meets<R: ClosedRange>(&self, state: &[R]) -> bool {
        self.meets_set(state, &|_| None)
    }

    /// Returns whether part of a set in a box may lie in it.
    #[inline]
    pub fn meets_set<R: ClosedRange>(&self, state: &[R], tighter: Tighter<'_>) -> bool {
        match self.side {
            UnsafeSide::Inside => self.region.meets_set(state, tighter),
            UnsafeSide::Outside => !self.region.contains_set(state, tighter),
        }
    }

    /// About how far a state is from it: negative inside, positive outside.
    #[must_use]
    pub fn distance(&self, state: &[f64]) -> f64 {
        match self.side {
            UnsafeSide::Inside => self.region.distance(state),
            UnsafeSide::Outside => -self.region.distance(state),
        }
    }

    /// A state that it has in common with a box between exact bounds, if one is known.
    #[must_use]
    pub fn state_in(&self, bounds: &[(Rational, Rational)]) -> Option<Vec<Rational>> {
        match self.side {
            UnsafeSide::Inside => self.region.state_in(bounds),
            UnsafeSide::Outside => {
                let inner = middle(bounds);
                let ends = self.region.sides()?.iter().flat_map(|side| {
                    let (lo, hi) = &bounds[side.variable];
                    [(side.variable, lo), (side.variable, hi)]
                });
                let mut states = ends.map(|(variable, end)| {
                    let mut state = inner.clone();
                    state[variable] = end.clone();
                    state
                });
                states.find(|state| self.contains(&exact_point(state)))
            }
        }
    }
}

/// The middle of a box.
pub fn middle(bounds: &[(Rational, Rational)]) -> Vec<Rational> {
    let half = Rational::new(1, 2).unwrap_or_default();
    bounds.iter().map(|(lo, hi)| (lo + hi) * half.clone()).collect()
}

/// A state as exact ranges.
pub fn exact_point(state: &[Rational]) -> Vec<ExactRange> {
    state.iter().map(|x| ExactRange::new(x.clone(), x.clone())).collect()
}
