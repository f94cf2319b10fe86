//! The logarithm of numbers that are bounded away from 0.

use policert_numeric::activation::{LOG_ERROR, log};
use policert_numeric::round::{add_up, div_up, mul_up};
use policert_numeric::{Enclosure, Interval};

use super::curve::{Curvature, Curve, LEAST_ARGUMENT, above, curvature_above, slope_above};

/// ln max(x, `least`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Logarithm {
    /// The arguments are known to be at least this.
    least: f64,
}

impl Logarithm {
    /// The function, for arguments that are known to be at least `least`; `None` if it is below [`LEAST_ARGUMENT`].
    #[must_use]
    pub fn new(least: f64) -> Option<Self> {
        (LEAST_ARGUMENT..f64::INFINITY).contains(&least).then_some(Self { least })
    }

    fn magnitude(&self, lo: f64, hi: f64) -> f64 {
        self.point(lo).magnitude().max(self.point(hi).magnitude())
    }
}

impl Curve for Logarithm {
    #[inline(always)]
    fn value(&self, x: f64) -> f64 {
        log(above(self.least, x))
    }

    fn error(&self, lo: f64, hi: f64) -> f64 {
        mul_up(LOG_ERROR, add_up(1.0, self.magnitude(lo, hi)))
    }

    fn point(&self, x: f64) -> Interval {
        Interval::point(above(self.least, x)).log().unwrap_or(Interval::EVERYTHING)
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

    fn slope(&self, x: f64) -> Interval {
        let at = Interval::point(above(self.least, x));
        let slope = Interval::point(1.0).checked_div(at).unwrap_or(Interval::EVERYTHING);
        slope_above(self.least, x, slope)
    }

    fn extreme_slopes(&self) -> Interval {
        self.slope(self.least)
    }

    fn steepness(&self, lo: f64, _hi: f64) -> f64 {
        div_up(1.0, above(self.least, lo))
    }

    fn curvature(&self, lo: f64, hi: f64) -> Curvature {
        curvature_above(self.least, (lo, hi), Curvature::Concave)
    }

    /// Where the tangent is parallel to the chord.
    fn touching(&self, lo: f64, hi: f64) -> f64 {
        (hi - lo) / (hi / lo).ln()
    }

    fn is_strictly_increasing(&self) -> bool {
        true
    }

    fn enclosed(&self, x: &Enclosure) -> Option<Enclosure> {
        x.max(&Enclosure::of_f64(self.least, x.bits())?).log()
    }
}
