//! The hyperbolic tangent.

use policert_numeric::activation::{ABSOLUTE_ERROR, tanh};
use policert_numeric::{Enclosure, Interval};

use super::curve::{Curvature, Curve};

/// tanh x.
pub struct Tanh;

impl Curve for Tanh {
    #[inline(always)]
    fn value(&self, x: f64) -> f64 {
        tanh(x)
    }

    fn error(&self, _lo: f64, _hi: f64) -> f64 {
        ABSOLUTE_ERROR
    }

    fn range(&self) -> Interval {
        Interval::ball(0.0, 1.0)
    }

    fn limits(&self) -> (f64, f64) {
        (-1.0, 1.0)
    }

    /// 1 − tanh² x.
    fn slope(&self, x: f64) -> Interval {
        let (one, value) = (Interval::point(1.0), Interval::point(x).tanh());
        ((one - value) * (one + value)).max(Interval::ZERO).min(one)
    }

    fn extreme_slopes(&self) -> Interval {
        Interval::point(1.0)
    }

    fn steepness(&self, _lo: f64, _hi: f64) -> f64 {
        1.0
    }

    fn curvature(&self, lo: f64, hi: f64) -> Curvature {
        super::curve::convex_then_concave(lo, hi)
    }

    fn is_strictly_increasing(&self) -> bool {
        true
    }

    fn enclosed(&self, x: &Enclosure) -> Option<Enclosure> {
        Some(x.tanh())
    }
}
