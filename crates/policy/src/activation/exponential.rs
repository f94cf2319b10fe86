//! The exponential function.

use policert_numeric::elementary::exp_bounds;
use policert_numeric::round::{UNIT_ROUNDOFF, add_up, mul_up};
use policert_numeric::{Enclosure, Interval, Rational};

use super::curve::{Curvature, Curve};

/// Beyond this there is no value: it would be far beyond double precision, where no library has one.
const GREATEST_EXPONENT: i64 = 1024;

/// eˣ.
pub struct Exponential;

impl Curve for Exponential {
    /// Half way between its bounds; infinite where the upper one is.
    fn value(&self, x: f64) -> f64 {
        let (lo, hi) = exp_bounds(x);
        if x.is_nan() { x } else { lo + (hi - lo) / 2.0 }
    }

    /// The bounds are less than 34u of the value apart, or below twice the least normal number.
    fn error(&self, _lo: f64, hi: f64) -> f64 {
        add_up(mul_up(64.0 * UNIT_ROUNDOFF, exp_bounds(hi).1), 2.0 * f64::MIN_POSITIVE)
    }

    fn point(&self, x: f64) -> Interval {
        Interval::point(x).exp()
    }

    fn range(&self) -> Interval {
        Interval::EVERYTHING.max(Interval::ZERO)
    }

    fn limits(&self) -> (f64, f64) {
        (0.0, f64::INFINITY)
    }

    fn slope(&self, x: f64) -> Interval {
        Interval::point(x).exp()
    }

    fn extreme_slopes(&self) -> Interval {
        self.range()
    }

    fn steepness(&self, _lo: f64, hi: f64) -> f64 {
        exp_bounds(hi).1
    }

    fn curvature(&self, _lo: f64, _hi: f64) -> Curvature {
        Curvature::Convex
    }

    /// Where the tangent is parallel to the chord: lo + ln((eʷ − 1) / w) for the width w.
    fn touching(&self, lo: f64, hi: f64) -> f64 {
        let width = hi - lo;
        lo + (width.exp_m1() / width).ln()
    }

    fn is_strictly_increasing(&self) -> bool {
        true
    }

    fn enclosed(&self, x: &Enclosure) -> Option<Enclosure> {
        if x.upper() > Rational::from(GREATEST_EXPONENT) { None } else { x.exp() }
    }
}
