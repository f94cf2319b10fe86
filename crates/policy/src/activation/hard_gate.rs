//! The gate of hard swish, which is made of pieces of lines and of a parabola.

use policert_numeric::round::UNIT_ROUNDOFF;
use policert_numeric::{Enclosure, Interval};

use super::curve::{Curvature, Curve};

/// x · min(max(x + ½, 0), 1): 0 below −½, x above ½, and x² + x/2 between.
pub struct HardGate;

/// The magnitude of both ends of the parabola.
const END: f64 = 0.5;

impl Curve for HardGate {
    #[inline(always)]
    fn value(&self, x: f64) -> f64 {
        if x <= -END {
            0.0
        } else if x >= END {
            x
        } else {
            x * (x + 0.5)
        }
    }

    /// A sum of at most 1 and a product of at most ½ round on the parabola.
    fn error(&self, lo: f64, hi: f64) -> f64 {
        if self.is_linear(lo, hi) { 0.0 } else { 2.0 * UNIT_ROUNDOFF }
    }

    fn range(&self) -> Interval {
        Interval::EVERYTHING.max(Interval::point(-0.0625))
    }

    fn limits(&self) -> (f64, f64) {
        (0.0, f64::INFINITY)
    }

    fn slope(&self, x: f64) -> Interval {
        let parabola = |x: f64| Interval::point(2.0) * Interval::point(x) + Interval::point(0.5);
        let (below, above) = (Interval::ZERO, Interval::point(1.0));
        if x < -END {
            below
        } else if x > END {
            above
        } else if x <= -END {
            below.hull(parabola(x))
        } else if x >= END {
            above.hull(parabola(x))
        } else {
            parabola(x)
        }
    }

    fn extreme_slopes(&self) -> Interval {
        Interval::ball(0.5, 1.0)
    }

    fn steepness(&self, _lo: f64, _hi: f64) -> f64 {
        1.5
    }

    fn is_linear(&self, lo: f64, hi: f64) -> bool {
        hi <= -END || lo >= END
    }

    fn curvature(&self, lo: f64, hi: f64) -> Curvature {
        if self.is_linear(lo, hi) || (lo >= -END && hi <= END) {
            Curvature::Convex
        } else {
            Curvature::Mixed
        }
    }

    fn minimum(&self) -> Option<(Interval, Interval)> {
        Some((Interval::point(-0.25), Interval::point(-0.0625)))
    }

    fn is_strictly_increasing(&self) -> bool {
        false
    }

    fn cancelled(&self) -> f64 {
        2.0
    }

    fn enclosed(&self, x: &Enclosure) -> Option<Enclosure> {
        let (zero, one) = (Enclosure::integer(0, x.bits()), Enclosure::integer(1, x.bits()));
        let half = one.times_f64(0.5);
        Some(x * &(x + &half).max(&zero).min(&one))
    }
}
