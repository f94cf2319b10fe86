//! The exponential linear unit.

use std::cmp::Ordering;

use policert_numeric::activation::{ABSOLUTE_ERROR, exp_of_negative};
use policert_numeric::round::{LEAST_POSITIVE, add_up, mul_up};
use policert_numeric::{Enclosure, Interval};

use super::curve::{Curvature, Curve};

/// x for x ≥ 0, `alpha` · (eˣ − 1) below.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Elu {
    /// The values tend to `-alpha` at −∞.
    pub alpha: f64,
}

impl Curve for Elu {
    #[inline(always)]
    fn value(&self, x: f64) -> f64 {
        if x < 0.0 { self.alpha * (exp_of_negative(-x) - 1.0) } else { x }
    }

    /// Of the exponential less than 4u, of the difference and of the product, both of at most 1 and
    /// `alpha` in magnitude, less than u each; a product may also underflow.
    fn error(&self, lo: f64, _hi: f64) -> f64 {
        if lo >= 0.0 {
            0.0
        } else {
            add_up(mul_up(self.alpha.abs(), ABSOLUTE_ERROR), LEAST_POSITIVE)
        }
    }

    fn range(&self) -> Interval {
        Interval::point(-self.alpha)
            .min(Interval::ZERO)
            .hull(Interval::EVERYTHING.max(Interval::ZERO))
    }

    fn limits(&self) -> (f64, f64) {
        (-self.alpha, f64::INFINITY)
    }

    fn slope(&self, x: f64) -> Interval {
        let (below, above) = (Interval::point(self.alpha), Interval::point(1.0));
        match x.partial_cmp(&0.0) {
            Some(Ordering::Less) => below * Interval::point(x).exp(),
            Some(Ordering::Greater) => above,
            Some(Ordering::Equal) | None => below.hull(above),
        }
    }

    fn extreme_slopes(&self) -> Interval {
        self.slope(0.0)
    }

    fn steepness(&self, _lo: f64, _hi: f64) -> f64 {
        self.alpha.abs().max(1.0)
    }

    fn is_linear(&self, lo: f64, _hi: f64) -> bool {
        lo >= 0.0
    }

    fn curvature(&self, lo: f64, hi: f64) -> Curvature {
        if lo >= 0.0 || (0.0..=1.0).contains(&self.alpha) || (hi <= 0.0 && self.alpha > 0.0) {
            Curvature::Convex
        } else if hi <= 0.0 {
            Curvature::Concave
        } else {
            Curvature::Mixed
        }
    }

    fn minimum(&self) -> Option<(Interval, Interval)> {
        (self.alpha < 0.0).then_some((Interval::ZERO, Interval::ZERO))
    }

    fn is_strictly_increasing(&self) -> bool {
        self.alpha > 0.0
    }

    fn cancelled(&self) -> f64 {
        mul_up(2.0, self.alpha.abs())
    }

    fn enclosed(&self, x: &Enclosure) -> Option<Enclosure> {
        let (zero, one) = (Enclosure::integer(0, x.bits()), Enclosure::integer(1, x.bits()));
        // Of numbers that are not positive there always is one.
        let power = x.min(&zero).exp().unwrap_or_else(|| zero.hull(&one));
        Some(&(&power - &one).times_f64(self.alpha) + &x.max(&zero))
    }
}
