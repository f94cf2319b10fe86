//! Outward-rounded interval arithmetic in double precision.

mod functions;

use std::fmt;
use std::ops::{Add, Mul, Neg, Sub};

use crate::rational::Rational;
use crate::round::{
    add_down, add_up, at_least, at_most, div_down, div_up, mul_down, mul_up, step_down,
    step_down_unless, step_up, step_up_unless, sum_error,
};

/// A non-empty set of real numbers between two bounds.
///
/// The bounds are never NaN, and `lo <= hi`; infinite bounds stand for no bound. The result of
/// every operation contains all results for numbers of the operands.
#[derive(Clone, Copy, PartialEq)]
pub struct Interval {
    lo: f64,
    hi: f64,
}

impl Interval {
    /// All real numbers.
    pub const EVERYTHING: Interval = Interval { lo: f64::NEG_INFINITY, hi: f64::INFINITY };
    /// The number 0.
    pub const ZERO: Interval = Interval { lo: 0.0, hi: 0.0 };

    /// The numbers from `lo` to `hi`. `None` if there are none, or if a bound is NaN.
    #[must_use]
    #[inline]
    pub fn new(lo: f64, hi: f64) -> Option<Self> {
        let some = lo <= hi && lo < f64::INFINITY && hi > f64::NEG_INFINITY;
        some.then_some(Interval { lo, hi })
    }

    /// A single number; everything if it is NaN or infinite.
    #[must_use]
    #[inline]
    pub fn point(value: f64) -> Self {
        if value.is_finite() { Interval { lo: value, hi: value } } else { Self::EVERYTHING }
    }

    /// The tightest interval around an exact number.
    #[must_use]
    pub fn enclosing(value: &Rational) -> Self {
        let (lo, hi) = value.to_f64_interval();
        Interval { lo, hi }
    }

    /// All numbers at most `radius` away from `centre`.
    #[must_use]
    #[inline]
    pub fn ball(centre: f64, radius: f64) -> Self {
        Self::from_bounds(add_down(centre, -radius), add_up(centre, radius))
    }

    /// The hull of results of directed operations, which may be NaN.
    #[inline]
    fn from_bounds(lo: f64, hi: f64) -> Self {
        let (lo, hi) = (at_least(lo), at_most(hi));
        // A lower bound that overflowed upwards (or the reverse) says: beyond the largest double.
        Interval { lo: lo.min(f64::MAX), hi: hi.max(-f64::MAX) }
    }

    /// The lower bound.
    #[must_use]
    #[inline]
    pub fn lo(self) -> f64 {
        self.lo
    }

    /// The upper bound.
    #[must_use]
    #[inline]
    pub fn hi(self) -> f64 {
        self.hi
    }

    /// Upper bound of the distance between the bounds.
    #[must_use]
    #[inline]
    pub fn width(self) -> f64 {
        add_up(self.hi, -self.lo)
    }

    /// A number inside, about half way between finite bounds.
    #[must_use]
    pub fn midpoint(self) -> f64 {
        match (self.lo.is_finite(), self.hi.is_finite()) {
            (true, true) => (self.lo / 2.0 + self.hi / 2.0).clamp(self.lo, self.hi),
            (true, false) => self.lo,
            (false, true) => self.hi,
            (false, false) => 0.0,
        }
    }

    /// The largest magnitude.
    #[must_use]
    #[inline]
    pub fn magnitude(self) -> f64 {
        self.lo.abs().max(self.hi.abs())
    }

    /// Returns whether `value` lies inside.
    #[must_use]
    #[inline]
    pub fn contains(self, value: f64) -> bool {
        self.lo <= value && value <= self.hi
    }

    /// Returns whether an exact number lies inside.
    #[must_use]
    pub fn contains_exact(self, value: &Rational) -> bool {
        let above = Rational::from_f64(self.lo).is_none_or(|lo| lo <= *value);
        above && Rational::from_f64(self.hi).is_none_or(|hi| hi >= *value)
    }

    /// Returns whether all of `other` lies inside.
    #[must_use]
    #[inline]
    pub fn includes(self, other: Interval) -> bool {
        self.lo <= other.lo && other.hi <= self.hi
    }

    /// The smallest interval around both.
    #[must_use]
    #[inline]
    pub fn hull(self, other: Interval) -> Self {
        Interval { lo: self.lo.min(other.lo), hi: self.hi.max(other.hi) }
    }

    /// The numbers that both contain, if any.
    #[must_use]
    #[inline]
    pub fn intersection(self, other: Interval) -> Option<Self> {
        Self::new(self.lo.max(other.lo), self.hi.min(other.hi))
    }

    /// The quotient; `None` if the divisor contains 0.
    #[must_use]
    pub fn checked_div(self, divisor: Interval) -> Option<Self> {
        if divisor.contains(0.0) {
            return None;
        }
        let corner = |a, b| Self::from_bounds(div_down(a, b), div_up(a, b));
        let at_lo = corner(self.lo, divisor.lo).hull(corner(self.hi, divisor.lo));
        let at_hi = corner(self.lo, divisor.hi).hull(corner(self.hi, divisor.hi));
        Some(at_lo.hull(at_hi))
    }

    /// The product from directed products of all pairs of bounds.
    fn mul_by_corners(self, other: Interval) -> Self {
        let corner = |a, b| Self::from_bounds(mul_down(a, b), mul_up(a, b));
        let at_lo = corner(self.lo, other.lo).hull(corner(self.hi, other.lo));
        let at_hi = corner(self.lo, other.hi).hull(corner(self.hi, other.hi));
        at_lo.hull(at_hi)
    }

    /// max(x, 0).
    #[must_use]
    #[inline]
    pub fn relu(self) -> Self {
        self.max(Self::ZERO)
    }

    /// The larger of a number of each.
    #[must_use]
    #[inline]
    pub fn max(self, other: Interval) -> Self {
        Interval { lo: self.lo.max(other.lo), hi: self.hi.max(other.hi) }
    }

    /// The smaller of a number of each.
    #[must_use]
    #[inline]
    pub fn min(self, other: Interval) -> Self {
        Interval { lo: self.lo.min(other.lo), hi: self.hi.min(other.hi) }
    }

    /// The absolute value.
    #[must_use]
    pub fn abs(self) -> Self {
        if self.lo >= 0.0 {
            self
        } else if self.hi <= 0.0 {
            -self
        } else {
            Interval { lo: 0.0, hi: self.magnitude() }
        }
    }

    /// The hyperbolic tangent, within [−1, 1].
    #[must_use]
    pub fn tanh(self) -> Self {
        self.activation(crate::activation::tanh, -1.0)
    }

    /// The logistic sigmoid 1 / (1 + e⁻ˣ), within [0, 1].
    #[must_use]
    pub fn sigmoid(self) -> Self {
        self.activation(crate::activation::sigmoid, 0.0)
    }

    /// Image under an increasing function that is computed within the activation error and
    /// bounded by `least` and 1.
    fn activation(self, function: impl Fn(f64) -> f64, least: f64) -> Self {
        let error = crate::activation::ABSOLUTE_ERROR;
        let lo = at_least(add_down(function(self.lo), -error)).max(least);
        let hi = at_most(add_up(function(self.hi), error)).min(1.0);
        Interval { lo, hi }
    }
}

impl Add for Interval {
    type Output = Interval;
    #[inline]
    fn add(self, other: Interval) -> Interval {
        let (lo, hi) = (self.lo + other.lo, self.hi + other.hi);
        if (hi - lo).is_finite() {
            // A step outwards unless the rounding was outwards or exact; where the error overflows
            // it is no number, which says nothing. Without branches: whether a sum is rounded up
            // or down is as good as random.
            let lo_is_bound = sum_error(self.lo, other.lo, lo) >= 0.0;
            let hi_is_bound = sum_error(self.hi, other.hi, hi) <= 0.0;
            let lo = step_down_unless(lo_is_bound, lo);
            let hi = step_up_unless(hi_is_bound, hi);
            return Interval { lo, hi };
        }
        Self::from_bounds(add_down(self.lo, other.lo), add_up(self.hi, other.hi))
    }
}

impl Sub for Interval {
    type Output = Interval;
    #[inline]
    fn sub(self, other: Interval) -> Interval {
        self + -other
    }
}

impl Neg for Interval {
    type Output = Interval;
    #[inline]
    fn neg(self) -> Interval {
        Interval { lo: -self.hi, hi: -self.lo }
    }
}

impl Mul for Interval {
    type Output = Interval;
    #[inline]
    fn mul(self, other: Interval) -> Interval {
        let products =
            [self.lo * other.lo, self.lo * other.hi, self.hi * other.lo, self.hi * other.hi];
        let less = |a: f64, b: f64| if a < b { a } else { b };
        let greater = |a: f64, b: f64| if a > b { a } else { b };
        let least = less(less(products[0], products[1]), less(products[2], products[3]));
        let greatest =
            greater(greater(products[0], products[1]), greater(products[2], products[3]));
        // Rounding to nearest keeps the order, so one step outwards from the least rounded product
        // bounds all exact ones; a zero may hide an underflow or come from an infinite bound. A
        // finite sum says that no product is infinite or NaN.
        let finite = (products[0] + products[1]) + (products[2] + products[3]);
        if finite.is_finite() && least != 0.0 && greatest != 0.0 {
            return Interval { lo: step_down(least), hi: step_up(greatest) };
        }
        self.mul_by_corners(other)
    }
}

impl fmt::Debug for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{:?}, {:?}]", self.lo, self.hi)
    }
}

#[cfg(test)]
mod tests;
