//! What is known of a function that is not made of linear pieces.

use policert_numeric::{Enclosure, Interval};

/// The curvature of a function over an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Curvature {
    /// No chord is below it.
    Convex,
    /// No chord is above it.
    Concave,
    /// Neither is known.
    Mixed,
}

/// The curvature of a function that is convex below 0 and concave above.
pub(super) fn convex_then_concave(lo: f64, hi: f64) -> Curvature {
    if hi <= 0.0 {
        Curvature::Convex
    } else if lo >= 0.0 {
        Curvature::Concave
    } else {
        Curvature::Mixed
    }
}

/// Functions that grow without bound at 0 have values from here on: what is less is near the end of
/// double precision.
pub const LEAST_ARGUMENT: f64 = 1e-300;

/// max(x, `least`); NaN for NaN.
#[inline(always)]
pub(super) fn above(least: f64, x: f64) -> f64 {
    if x < least { least } else { x }
}

/// The slope at `x` of a function that is constant below `least` and has this slope beyond it; at `least` it
/// has both.
pub(super) fn slope_above(least: f64, x: f64, slope: Interval) -> Interval {
    if x < least {
        Interval::ZERO
    } else if x > least {
        slope
    } else {
        slope.hull(Interval::ZERO)
    }
}

/// The curvature of a function that is constant below `least` and curved so beyond it.
pub(super) fn curvature_above(least: f64, (lo, hi): (f64, f64), beyond: Curvature) -> Curvature {
    if lo >= least || hi <= least { beyond } else { Curvature::Mixed }
}

/// A continuous function.
///
/// A function that has no values at some arguments, such as the logarithm, has one that its arguments
/// are known to exceed: below that it is constant.
pub trait Curve {
    /// The value in double precision; NaN for NaN.
    fn value(&self, x: f64) -> f64;

    /// An upper bound of the distance between [`value`](Self::value) and the exact value, for
    /// arguments in [lo, hi].
    fn error(&self, lo: f64, hi: f64) -> f64;

    /// Contains the value at a finite double.
    fn point(&self, x: f64) -> Interval {
        let (value, error) = (self.value(x), self.error(x, x));
        Interval::ball(value, error)
    }

    /// The arguments are known to be at least this; what is computed of them may be less by rounding.
    fn least(&self) -> f64 {
        f64::NEG_INFINITY
    }

    /// Contains all values.
    fn range(&self) -> Interval;

    /// The limits of the values at −∞ and at ∞.
    fn limits(&self) -> (f64, f64);

    /// Contains the slope at a finite argument; those on both sides where there are two.
    fn slope(&self, x: f64) -> Interval;

    /// Contains the greatest and least slopes of finite arguments, those at ±∞ left out.
    fn extreme_slopes(&self) -> Interval;

    /// A bound of the magnitudes of the slopes between two arguments.
    fn steepness(&self, lo: f64, hi: f64) -> f64;

    /// Returns whether the function is linear over [lo, hi].
    fn is_linear(&self, _lo: f64, hi: f64) -> bool {
        hi <= self.least()
    }

    /// The curvature between two arguments.
    fn curvature(&self, lo: f64, hi: f64) -> Curvature;

    /// The argument between two others at which a tangent is near the function.
    fn touching(&self, lo: f64, hi: f64) -> f64 {
        lo + (hi - lo) / 2.0
    }

    /// Encloses the argument and the value of the minimum of a function that falls before it and
    /// grows after it; `None` for a monotone function.
    fn minimum(&self) -> Option<(Interval, Interval)> {
        None
    }

    /// Returns whether a greater argument always has a greater value.
    fn is_strictly_increasing(&self) -> bool;

    /// Bound of the magnitudes that a plain evaluation adds up to the value, beyond the value's own.
    fn cancelled(&self) -> f64 {
        0.0
    }

    /// The value of a number of any precision; `None` if the precision does not suffice for one, or the
    /// value is too large to be written down.
    fn enclosed(&self, x: &Enclosure) -> Option<Enclosure>;
}

impl dyn Curve + '_ {
    /// Contains the value at a double; at ±∞ the values beyond every double.
    #[must_use]
    pub fn at(&self, x: f64) -> Interval {
        let range = self.range();
        let argument = x.clamp(-f64::MAX, f64::MAX);
        let value = self.point(argument);
        let (mut lo, mut hi) = (value.lo(), value.hi());
        if x.is_infinite() {
            let limit = if x > 0.0 { self.limits().1 } else { self.limits().0 };
            (lo, hi) = (lo.min(limit), hi.max(limit));
        }
        Interval::new(lo.max(range.lo()), hi.min(range.hi())).unwrap_or(range)
    }

    /// Contains the values over [lo, hi].
    #[must_use]
    pub fn image(&self, lo: f64, hi: f64) -> Interval {
        let ends = self.at(lo).hull(self.at(hi));
        match self.minimum() {
            Some((place, value)) if lo <= place.hi() && place.lo() <= hi => ends.hull(value),
            Some(_) | None => ends,
        }
    }

    /// Contains the slopes over [lo, hi], both finite.
    #[must_use]
    pub fn slopes(&self, lo: f64, hi: f64) -> Interval {
        let ends = self.slope(lo).hull(self.slope(hi));
        match self.curvature(lo, hi) {
            Curvature::Convex | Curvature::Concave => ends,
            Curvature::Mixed => ends.hull(self.extreme_slopes()),
        }
    }
}
