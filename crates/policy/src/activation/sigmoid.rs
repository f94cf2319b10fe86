//! The logistic sigmoid.

use policert_numeric::activation::{ABSOLUTE_ERROR, sigmoid};
use policert_numeric::{Enclosure, Interval};

use super::curve::{Curvature, Curve};

/// 1 / (1 + e⁻ˣ).
pub struct Sigmoid;

impl Curve for Sigmoid {
    #[inline(always)]
    fn value(&self, x: f64) -> f64 {
        sigmoid(x)
    }

    fn error(&self, _lo: f64, _hi: f64) -> f64 {
        ABSOLUTE_ERROR
    }

    fn range(&self) -> Interval {
        Interval::ball(0.5, 0.5)
    }

    fn limits(&self) -> (f64, f64) {
        (0.0, 1.0)
    }

    /// s · (1 − s) for the value s.
    fn slope(&self, x: f64) -> Interval {
        let value = Interval::point(x).sigmoid();
        (value * (Interval::point(1.0) - value)).max(Interval::ZERO).min(Interval::point(0.25))
    }

    fn extreme_slopes(&self) -> Interval {
        Interval::point(0.25)
    }

    fn steepness(&self, _lo: f64, _hi: f64) -> f64 {
        0.25
    }

    fn curvature(&self, lo: f64, hi: f64) -> Curvature {
        super::curve::convex_then_concave(lo, hi)
    }

    fn is_strictly_increasing(&self) -> bool {
        true
    }

    fn enclosed(&self, x: &Enclosure) -> Option<Enclosure> {
        Some(x.sigmoid())
    }
}
