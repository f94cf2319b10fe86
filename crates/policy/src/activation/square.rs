//! The square, of which products are made: a · b = ((a + b)² − (a − b)²) / 4.

use policert_numeric::round::{LEAST_POSITIVE, UNIT_ROUNDOFF, add_up, mul_up};
use policert_numeric::{Enclosure, Interval};

use super::curve::{Curvature, Curve};

/// x².
pub struct Square;

impl Curve for Square {
    #[inline(always)]
    fn value(&self, x: f64) -> f64 {
        x * x
    }

    /// One rounding of the greatest value.
    fn error(&self, lo: f64, hi: f64) -> f64 {
        let size = lo.abs().max(hi.abs());
        add_up(mul_up(UNIT_ROUNDOFF, mul_up(size, size)), LEAST_POSITIVE)
    }

    fn point(&self, x: f64) -> Interval {
        Interval::point(x).square()
    }

    fn range(&self) -> Interval {
        Interval::EVERYTHING.max(Interval::ZERO)
    }

    fn limits(&self) -> (f64, f64) {
        (f64::INFINITY, f64::INFINITY)
    }

    fn slope(&self, x: f64) -> Interval {
        Interval::point(2.0) * Interval::point(x)
    }

    fn extreme_slopes(&self) -> Interval {
        Interval::EVERYTHING
    }

    fn steepness(&self, lo: f64, hi: f64) -> f64 {
        mul_up(2.0, lo.abs().max(hi.abs()))
    }

    fn curvature(&self, _lo: f64, _hi: f64) -> Curvature {
        Curvature::Convex
    }

    fn minimum(&self) -> Option<(Interval, Interval)> {
        Some((Interval::ZERO, Interval::ZERO))
    }

    fn is_strictly_increasing(&self) -> bool {
        false
    }

    fn enclosed(&self, x: &Enclosure) -> Option<Enclosure> {
        Some(x.square())
    }
}
