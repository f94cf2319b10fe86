//! The reciprocal of numbers that are bounded away from 0.

use policert_numeric::round::{LEAST_POSITIVE, UNIT_ROUNDOFF, add_up, div_up, mul_up};
use policert_numeric::{Enclosure, Interval};

use super::curve::{Curvature, Curve, LEAST_ARGUMENT, above, curvature_above, slope_above};

/// 1 / max(x, `least`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reciprocal {
    /// The arguments are known to be at least this.
    least: f64,
}

impl Reciprocal {
    /// The function, for arguments that are known to be at least `least`; `None` if it is below [`LEAST_ARGUMENT`].
    #[must_use]
    pub fn new(least: f64) -> Option<Self> {
        (LEAST_ARGUMENT..f64::INFINITY).contains(&least).then_some(Self { least })
    }
}

impl Curve for Reciprocal {
    #[inline(always)]
    fn value(&self, x: f64) -> f64 {
        1.0 / above(self.least, x)
    }

    /// One rounding of the greatest value.
    fn error(&self, lo: f64, _hi: f64) -> f64 {
        let greatest = div_up(1.0, above(self.least, lo));
        add_up(mul_up(2.0 * UNIT_ROUNDOFF, greatest), LEAST_POSITIVE)
    }

    fn point(&self, x: f64) -> Interval {
        let at = Interval::point(above(self.least, x));
        Interval::point(1.0).checked_div(at).unwrap_or(Interval::EVERYTHING)
    }

    fn least(&self) -> f64 {
        self.least
    }

    fn range(&self) -> Interval {
        Interval::ZERO.hull(self.point(self.least))
    }

    fn limits(&self) -> (f64, f64) {
        (self.point(self.least).hi(), 0.0)
    }

    /// −1/x².
    fn slope(&self, x: f64) -> Interval {
        slope_above(self.least, x, -self.point(x).square())
    }

    fn extreme_slopes(&self) -> Interval {
        self.slope(self.least)
    }

    fn steepness(&self, lo: f64, _hi: f64) -> f64 {
        self.slope(above(self.least, lo)).magnitude()
    }

    fn curvature(&self, lo: f64, hi: f64) -> Curvature {
        curvature_above(self.least, (lo, hi), Curvature::Convex)
    }

    /// Where the tangent is parallel to the chord.
    fn touching(&self, lo: f64, hi: f64) -> f64 {
        lo.sqrt() * hi.sqrt()
    }

    fn is_strictly_increasing(&self) -> bool {
        false
    }

    fn enclosed(&self, x: &Enclosure) -> Option<Enclosure> {
        let x = x.max(&Enclosure::of_f64(self.least, x.bits())?);
        Enclosure::integer(1, x.bits()).checked_div(&x)
    }
}
