//! The square root of numbers that are not negative.

use policert_numeric::round::{LEAST_POSITIVE, UNIT_ROUNDOFF, add_up, mul_up};
use policert_numeric::{Enclosure, Interval};

use super::curve::{Curvature, Curve, above, curvature_above, slope_above};

/// The square root of max(x, `least`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Root {
    /// The arguments are known to be at least this.
    least: f64,
}

impl Root {
    /// The function, for arguments that are known to be at least `least`; `None` if it is negative.
    #[must_use]
    pub fn new(least: f64) -> Option<Self> {
        (0.0..f64::INFINITY).contains(&least).then_some(Self { least })
    }
}

impl Curve for Root {
    #[inline(always)]
    fn value(&self, x: f64) -> f64 {
        above(self.least, x).sqrt()
    }

    /// One rounding of the greatest value.
    fn error(&self, _lo: f64, hi: f64) -> f64 {
        let greatest = self.point(hi.clamp(-f64::MAX, f64::MAX)).hi();
        add_up(mul_up(2.0 * UNIT_ROUNDOFF, greatest), LEAST_POSITIVE)
    }

    fn point(&self, x: f64) -> Interval {
        Interval::point(above(self.least, x)).sqrt().unwrap_or(Interval::EVERYTHING)
    }

    fn least(&self) -> f64 {
        self.least
    }

    fn range(&self) -> Interval {
        Interval::EVERYTHING.max(Interval::point(self.point(self.least).lo()))
    }

    fn limits(&self) -> (f64, f64) {
        (self.point(self.least).lo(), f64::INFINITY)
    }

    /// 1 / (2 · √x); at 0 beyond every number.
    fn slope(&self, x: f64) -> Interval {
        let twice = Interval::point(2.0) * self.point(x);
        let unbounded = Interval::EVERYTHING.max(Interval::ZERO);
        let slope = Interval::point(1.0).checked_div(twice).unwrap_or(unbounded);
        slope_above(self.least, x, slope)
    }

    fn extreme_slopes(&self) -> Interval {
        self.slope(self.least)
    }

    fn steepness(&self, lo: f64, _hi: f64) -> f64 {
        self.slope(above(self.least, lo)).hi()
    }

    fn curvature(&self, lo: f64, hi: f64) -> Curvature {
        curvature_above(self.least, (lo, hi), Curvature::Concave)
    }

    /// Where the tangent is parallel to the chord.
    fn touching(&self, lo: f64, hi: f64) -> f64 {
        let middle = (lo.sqrt() + hi.sqrt()) / 2.0;
        middle * middle
    }

    fn is_strictly_increasing(&self) -> bool {
        true
    }

    fn enclosed(&self, x: &Enclosure) -> Option<Enclosure> {
        x.max(&Enclosure::of_f64(self.least, x.bits())?).sqrt()
    }
}
