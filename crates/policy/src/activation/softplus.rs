//! The logarithm of 1 + eˣ.

use policert_numeric::activation::{ABSOLUTE_ERROR, log_one_plus_exp_of_negative};
use policert_numeric::round::{UNIT_ROUNDOFF, add_up, mul_up};
use policert_numeric::{Enclosure, Interval};

use super::curve::{Curvature, Curve};

/// ln(1 + eˣ) = max(x, 0) + ln(1 + e^−|x|).
pub struct Softplus;

impl Curve for Softplus {
    #[inline(always)]
    fn value(&self, x: f64) -> f64 {
        (if x > 0.0 { x } else { 0.0 }) + log_one_plus_exp_of_negative(x.abs())
    }

    /// That of the logarithm, and the rounding of a sum of at most max(x, 0) + 1.
    fn error(&self, _lo: f64, hi: f64) -> f64 {
        add_up(ABSOLUTE_ERROR, mul_up(2.0 * UNIT_ROUNDOFF, add_up(hi.max(0.0), 1.0)))
    }

    fn range(&self) -> Interval {
        Interval::EVERYTHING.max(Interval::ZERO)
    }

    fn limits(&self) -> (f64, f64) {
        (0.0, f64::INFINITY)
    }

    fn slope(&self, x: f64) -> Interval {
        Interval::point(x).sigmoid()
    }

    fn extreme_slopes(&self) -> Interval {
        Interval::ball(0.5, 0.5)
    }

    fn steepness(&self, _lo: f64, _hi: f64) -> f64 {
        1.0
    }

    fn curvature(&self, _lo: f64, _hi: f64) -> Curvature {
        Curvature::Convex
    }

    fn is_strictly_increasing(&self) -> bool {
        true
    }

    fn cancelled(&self) -> f64 {
        2.0
    }

    fn enclosed(&self, x: &Enclosure) -> Option<Enclosure> {
        Some(x.softplus())
    }
}
