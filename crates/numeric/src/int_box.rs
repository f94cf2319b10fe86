//! Boxes of integer points: a closed interval per dimension, possibly unbounded.

use std::fmt;
use std::ops::{Index, IndexMut};

/// A closed interval of integers; `i64::MIN` and `i64::MAX` as ends mean that the side is
/// unbounded. Empty when `lo > hi`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct IntInterval {
    /// Least element; [`IntInterval::UNBOUNDED_BELOW`] for none.
    pub lo: i64,
    /// Greatest element; [`IntInterval::UNBOUNDED_ABOVE`] for none.
    pub hi: i64,
}

impl IntInterval {
    /// The lower end that stands for "no lower bound".
    pub const UNBOUNDED_BELOW: i64 = i64::MIN;
    /// The upper end that stands for "no upper bound".
    pub const UNBOUNDED_ABOVE: i64 = i64::MAX;
    /// All integers.
    pub const ALL: Self = Self { lo: i64::MIN, hi: i64::MAX };

    /// The interval from `lo` to `hi`, both included.
    #[must_use]
    pub const fn new(lo: i64, hi: i64) -> Self {
        Self { lo, hi }
    }

    /// The interval that holds `value` alone.
    #[must_use]
    pub const fn point(value: i64) -> Self {
        Self { lo: value, hi: value }
    }

    /// Returns whether no integer lies in it.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.lo > self.hi
    }

    /// Returns whether exactly one integer lies in it.
    #[must_use]
    pub const fn is_point(self) -> bool {
        self.lo == self.hi
    }

    /// Returns whether both ends are finite.
    #[must_use]
    pub const fn is_bounded(self) -> bool {
        self.lo != Self::UNBOUNDED_BELOW && self.hi != Self::UNBOUNDED_ABOVE
    }

    /// Returns whether `value` lies in it.
    #[must_use]
    pub const fn contains(self, value: i64) -> bool {
        self.lo <= value && value <= self.hi
    }

    /// Returns whether all of `other` lies in it; true for an empty `other`.
    #[must_use]
    pub const fn includes(self, other: Self) -> bool {
        other.is_empty() || (self.lo <= other.lo && other.hi <= self.hi)
    }

    /// The common part.
    #[must_use]
    pub fn intersect(self, other: Self) -> Self {
        Self { lo: self.lo.max(other.lo), hi: self.hi.min(other.hi) }
    }

    /// The least interval that includes both.
    #[must_use]
    pub fn hull(self, other: Self) -> Self {
        if self.is_empty() {
            other
        } else if other.is_empty() {
            self
        } else {
            Self { lo: self.lo.min(other.lo), hi: self.hi.max(other.hi) }
        }
    }

    /// Number of integers in it; `None` when unbounded.
    #[must_use]
    pub fn count(self) -> Option<u128> {
        if self.is_empty() {
            Some(0)
        } else if self.is_bounded() {
            Some(self.lo.abs_diff(self.hi) as u128 + 1)
        } else {
            None
        }
    }

    /// Its element of least size. Meaningful for non-empty intervals.
    #[must_use]
    pub fn nearest_to_zero(self) -> i64 {
        self.lo.max(self.hi.min(0))
    }

    /// The floor of the midpoint. Meaningful for bounded, non-empty intervals.
    #[must_use]
    pub fn midpoint(self) -> i64 {
        // Rounds towards negative infinity and cannot overflow.
        (self.lo >> 1) + (self.hi >> 1) + (self.lo & self.hi & 1)
    }
}

impl fmt::Debug for IntInterval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl fmt::Display for IntInterval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return write!(f, "∅");
        }
        if self.is_point() {
            return write!(f, "{}", self.lo);
        }
        match (self.lo == Self::UNBOUNDED_BELOW, self.hi == Self::UNBOUNDED_ABOVE) {
            (false, false) => write!(f, "{}..{}", self.lo, self.hi),
            (true, false) => write!(f, "..{}", self.hi),
            (false, true) => write!(f, "{}..", self.lo),
            (true, true) => write!(f, ".."),
        }
    }
}

/// A product of integer intervals, one per dimension.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct IntBox(Vec<IntInterval>);

impl IntBox {
    /// The box with these sides.
    #[must_use]
    pub fn new(sides: Vec<IntInterval>) -> Self {
        Self(sides)
    }

    /// The box that holds one point.
    #[must_use]
    pub fn point(values: &[i64]) -> Self {
        Self(values.iter().map(|&v| IntInterval::point(v)).collect())
    }

    /// Number of dimensions.
    #[must_use]
    #[inline]
    pub fn dimensions(&self) -> usize {
        self.0.len()
    }

    /// The sides in order.
    #[must_use]
    #[inline]
    pub fn sides(&self) -> &[IntInterval] {
        &self.0
    }

    /// The sides in order, to change.
    pub fn sides_mut(&mut self) -> &mut [IntInterval] {
        &mut self.0
    }

    /// Appends a dimension.
    pub fn push(&mut self, side: IntInterval) {
        self.0.push(side);
    }

    /// Drops the dimensions from `dimensions` on.
    pub fn truncate(&mut self, dimensions: usize) {
        self.0.truncate(dimensions);
    }

    /// Returns whether it holds no point.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.iter().any(|side| side.is_empty())
    }

    /// Returns whether it holds exactly one point.
    #[must_use]
    pub fn is_point(&self) -> bool {
        self.0.iter().all(|side| side.is_point())
    }

    /// Returns whether every side is bounded.
    #[must_use]
    pub fn is_bounded(&self) -> bool {
        self.0.iter().all(|side| side.is_bounded())
    }

    /// Returns whether `point` lies in it (`point` may have more coordinates than the box).
    #[must_use]
    #[inline]
    pub fn contains(&self, point: &[i64]) -> bool {
        self.0.iter().zip(point).all(|(side, &value)| side.contains(value))
    }

    /// Returns whether all of `other` lies in it.
    #[must_use]
    #[inline]
    pub fn includes(&self, other: &Self) -> bool {
        other.is_empty() || self.0.iter().zip(&other.0).all(|(a, b)| a.includes(*b))
    }

    /// The common part of two boxes of the same dimension.
    #[must_use]
    pub fn intersect(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| a.intersect(*b)).collect())
    }

    /// Grows to include `other`, of the same dimension.
    pub fn hull_with(&mut self, other: &Self) {
        if other.is_empty() {
            return;
        }
        if self.is_empty() {
            self.0.clone_from(&other.0);
            return;
        }
        for (a, b) in self.0.iter_mut().zip(&other.0) {
            *a = a.hull(*b);
        }
    }

    /// Number of points; `None` when unbounded or beyond `u128`.
    #[must_use]
    pub fn count(&self) -> Option<u128> {
        if self.is_empty() {
            return Some(0);
        }
        self.0.iter().try_fold(1u128, |n, side| n.checked_mul(side.count()?))
    }

    /// The least corner. Meaningful for boxes bounded below.
    #[must_use]
    pub fn lower_corner(&self) -> Vec<i64> {
        self.0.iter().map(|side| side.lo).collect()
    }

    /// The part up to `at` along a dimension, and the part beyond it.
    #[must_use]
    pub fn cut(self, dimension: usize, at: i64) -> [Self; 2] {
        let mut parts = [self.clone(), self];
        parts[0][dimension].hi = at;
        parts[1][dimension].lo = at + 1;
        parts
    }

    /// Adds the parts that lie outside of `core`, a box in it that is not empty; they are disjoint.
    pub fn add_outside(mut self, core: &Self, parts: &mut Vec<Self>) {
        for d in 0..self.dimensions() {
            let (side, inner) = (self[d], core[d]);
            if side.lo < inner.lo {
                let mut below = self.clone();
                below[d] = IntInterval::new(side.lo, inner.lo - 1);
                parts.push(below);
            }
            if inner.hi < side.hi {
                let mut above = self.clone();
                above[d] = IntInterval::new(inner.hi + 1, side.hi);
                parts.push(above);
            }
            self[d] = inner;
        }
    }
}

impl Index<usize> for IntBox {
    type Output = IntInterval;
    fn index(&self, dimension: usize) -> &IntInterval {
        &self.0[dimension]
    }
}

impl IndexMut<usize> for IntBox {
    fn index_mut(&mut self, dimension: usize) -> &mut IntInterval {
        &mut self.0[dimension]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn midpoint_is_the_floor_and_does_not_overflow() {
        for (lo, hi, mid) in [(0, 3, 1), (-3, 0, -2), (-3, -2, -3), (5, 5, 5)] {
            assert_eq!(IntInterval::new(lo, hi).midpoint(), mid);
        }
        assert_eq!(IntInterval::new(i64::MAX - 1, i64::MAX - 1).midpoint(), i64::MAX - 1);
    }

    #[test]
    fn parts_outside_of_a_box_are_disjoint_and_complete() {
        let all = IntBox::new(vec![IntInterval::new(0, 4), IntInterval::new(-2, 2)]);
        let core = IntBox::new(vec![IntInterval::new(1, 2), IntInterval::new(-2, 0)]);
        let mut parts = Vec::new();
        all.clone().add_outside(&core, &mut parts);
        assert_eq!(parts.iter().filter_map(IntBox::count).sum::<u128>(), 25 - 6);
        for x in 0..=4 {
            for y in -2..=2 {
                let count = parts.iter().filter(|part| part.contains(&[x, y])).count();
                assert_eq!(count, usize::from(!core.contains(&[x, y])), "{x} {y}");
            }
        }
        let [lower, upper] = all.cut(1, 0);
        assert_eq!((lower[1], upper[1]), (IntInterval::new(-2, 0), IntInterval::new(1, 2)));
    }

    #[test]
    fn counts() {
        assert_eq!(IntInterval::new(-2, 2).count(), Some(5));
        assert_eq!(IntInterval::new(2, 1).count(), Some(0));
        assert_eq!(IntInterval::ALL.count(), None);
        let b = IntBox::new(vec![IntInterval::new(0, 9), IntInterval::new(1, 3)]);
        assert_eq!(b.count(), Some(30));
    }
}
