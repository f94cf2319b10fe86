//! Ranges of real numbers: what boxes are made of.
//!
//! Two kinds answer one trait: [`Interval`] in outward-rounded double precision, and
//! [`ExactRange`] with rational bounds, for control loops whose every operation is one of exact
//! arithmetic.

mod exact;

use std::cmp::Ordering;
use std::fmt::Debug;

use policert_numeric::{Interval, Rational};

use crate::edge::BoxEdge;
use crate::expression::ExpressionFunction;

pub use exact::ExactRange;

/// A non-empty closed range. Every operation contains all results for members of its operands;
/// `None` says that some members have no result.
pub trait ClosedRange: Clone + PartialEq + Debug + Send + Sync + 'static {
    /// True if bounds are exact.
    const EXACT: bool;

    /// The least range around an exact number.
    fn enclosing(value: &Rational) -> Self;
    /// The least range around two exact numbers and what lies between.
    fn between(lo: &Rational, hi: &Rational) -> Self;
    /// The range of a double's neighbourhood, as given.
    fn from_interval(interval: Interval) -> Self;
    /// Outer bounds in double precision.
    fn to_interval(&self) -> Interval;
    /// The lower bound as an exact number; `None` if it is infinite.
    fn lower(&self) -> Option<Rational>;
    /// The upper bound as an exact number; `None` if it is infinite.
    fn upper(&self) -> Option<Rational>;

    /// −a.
    fn neg(&self) -> Self;
    /// a + b.
    fn add(&self, other: &Self) -> Self;
    /// a − b.
    fn sub(&self, other: &Self) -> Self;
    /// a · b.
    fn mul(&self, other: &Self) -> Self;
    /// a / b.
    fn div(&self, other: &Self) -> Option<Self>;
    /// a².
    fn square(&self) -> Self;
    /// a to an integer power.
    fn power(&self, exponent: i32) -> Option<Self>;
    /// A function of a; `None` also if this kind of range has no such function.
    fn apply(&self, function: ExpressionFunction) -> Option<Self>;
    /// The smaller of a number of each.
    fn min(&self, other: &Self) -> Self;
    /// The larger of a number of each.
    fn max(&self, other: &Self) -> Self;
    /// Returns whether a < b for all members, or for none; `None` if it depends.
    fn less(&self, other: &Self) -> Option<bool>;
    /// Returns whether a ≤ b for all members, or for none; `None` if it depends.
    fn at_most(&self, other: &Self) -> Option<bool>;

    /// The least range around both.
    fn hull(&self, other: &Self) -> Self;
    /// Returns what both contain; `self` if that is nothing, which only rounding can cause where
    /// both contain one number.
    fn tightened(&self, other: &Self) -> Self;
    /// The lower bound alone.
    fn at_lower(&self) -> Self;
    /// The upper bound alone.
    fn at_upper(&self) -> Self;
    /// A number about half way.
    fn at_middle(&self) -> Self;
    /// From the lower bound of one to the upper bound of another; their hull if they are apart
    /// the wrong way round.
    fn from_to(lower: &Self, upper: &Self) -> Self;
    /// Returns whether no member is negative.
    fn is_nonnegative(&self) -> bool;
    /// Returns whether no member is positive.
    fn is_nonpositive(&self) -> bool;
    /// Returns whether it is a single number.
    fn is_point(&self) -> bool;
    /// Returns whether both bounds are finite.
    fn is_bounded(&self) -> bool;
    /// Returns whether all of `other` lies inside.
    fn includes(&self, other: &Self) -> bool;

    /// Returns how the lower bound compares with an exact number.
    fn lower_cmp(&self, edge: &BoxEdge) -> Ordering;
    /// Returns how the upper bound compares with an exact number.
    fn upper_cmp(&self, edge: &BoxEdge) -> Ordering;
    /// The members between two exact numbers, outwards rounded; it must meet them.
    fn clipped(&self, lower: &BoxEdge, upper: &BoxEdge) -> Self;
    /// Every member moved to the nearest number between two exact ones.
    fn clamped(&self, lower: &BoxEdge, upper: &BoxEdge) -> Self;
    /// The same or a little more, with bounds that are cheaper to work with.
    fn tidied(self) -> Self;
}

impl ClosedRange for Interval {
    const EXACT: bool = false;

    #[inline]
    fn enclosing(value: &Rational) -> Self {
        Interval::enclosing(value)
    }

    fn between(lo: &Rational, hi: &Rational) -> Self {
        Interval::enclosing(lo).hull(Interval::enclosing(hi))
    }

    #[inline]
    fn from_interval(interval: Interval) -> Self {
        interval
    }

    #[inline]
    fn to_interval(&self) -> Interval {
        *self
    }

    fn lower(&self) -> Option<Rational> {
        Rational::from_f64(self.lo())
    }

    fn upper(&self) -> Option<Rational> {
        Rational::from_f64(self.hi())
    }

    #[inline]
    fn neg(&self) -> Self {
        -*self
    }

    #[inline]
    fn add(&self, other: &Self) -> Self {
        *self + *other
    }

    #[inline]
    fn sub(&self, other: &Self) -> Self {
        *self - *other
    }

    #[inline]
    fn mul(&self, other: &Self) -> Self {
        *self * *other
    }

    #[inline]
    fn div(&self, other: &Self) -> Option<Self> {
        self.checked_div(*other)
    }

    #[inline]
    fn square(&self) -> Self {
        Interval::square(*self)
    }

    fn power(&self, exponent: i32) -> Option<Self> {
        self.powi(exponent)
    }

    fn apply(&self, function: ExpressionFunction) -> Option<Self> {
        Some(match function {
            ExpressionFunction::Sin => self.sin(),
            ExpressionFunction::Cos => self.cos(),
            ExpressionFunction::Tan => return self.tan(),
            ExpressionFunction::Exp => self.exp(),
            ExpressionFunction::Log => return self.log(),
            ExpressionFunction::Sqrt => return self.sqrt(),
            ExpressionFunction::Tanh => self.tanh(),
            ExpressionFunction::Abs => self.abs(),
        })
    }

    #[inline]
    fn min(&self, other: &Self) -> Self {
        Interval::min(*self, *other)
    }

    #[inline]
    fn max(&self, other: &Self) -> Self {
        Interval::max(*self, *other)
    }

    fn less(&self, other: &Self) -> Option<bool> {
        if self.hi() < other.lo() {
            Some(true)
        } else if self.lo() >= other.hi() {
            Some(false)
        } else {
            None
        }
    }

    fn at_most(&self, other: &Self) -> Option<bool> {
        other.less(self).map(|greater| !greater)
    }

    #[inline]
    fn hull(&self, other: &Self) -> Self {
        Interval::hull(*self, *other)
    }

    #[inline]
    fn tightened(&self, other: &Self) -> Self {
        self.intersection(*other).unwrap_or(*self)
    }

    #[inline]
    fn at_lower(&self) -> Self {
        // An infinite bound has no point; all numbers are a safe stand-in.
        Interval::point(self.lo())
    }

    #[inline]
    fn at_upper(&self) -> Self {
        Interval::point(self.hi())
    }

    #[inline]
    fn at_middle(&self) -> Self {
        Interval::point(self.midpoint())
    }

    #[inline]
    fn from_to(lower: &Self, upper: &Self) -> Self {
        Interval::new(lower.lo(), upper.hi()).unwrap_or_else(|| Interval::hull(*lower, *upper))
    }

    #[inline]
    fn is_nonnegative(&self) -> bool {
        self.lo() >= 0.0
    }

    #[inline]
    fn is_nonpositive(&self) -> bool {
        self.hi() <= 0.0
    }

    #[inline]
    fn is_point(&self) -> bool {
        self.lo() >= self.hi()
    }

    #[inline]
    fn is_bounded(&self) -> bool {
        self.lo().is_finite() && self.hi().is_finite()
    }

    #[inline]
    fn includes(&self, other: &Self) -> bool {
        Interval::includes(*self, *other)
    }

    #[inline]
    fn lower_cmp(&self, edge: &BoxEdge) -> Ordering {
        edge.compare(self.lo())
    }

    #[inline]
    fn upper_cmp(&self, edge: &BoxEdge) -> Ordering {
        edge.compare(self.hi())
    }

    #[inline]
    fn clipped(&self, lower: &BoxEdge, upper: &BoxEdge) -> Self {
        let (lo, hi) = (self.lo().max(lower.floor()), self.hi().min(upper.ceil()));
        Interval::new(lo, hi).unwrap_or(*self)
    }

    #[inline]
    fn clamped(&self, lower: &BoxEdge, upper: &BoxEdge) -> Self {
        let lo = self.lo().max(lower.floor()).min(upper.floor());
        let hi = self.hi().max(lower.ceil()).min(upper.ceil());
        Interval::new(lo, hi).unwrap_or(*self)
    }

    #[inline]
    fn tidied(self) -> Self {
        self
    }
}
