//! Mish: x times the hyperbolic tangent of softplus.

use policert_numeric::activation::{ABSOLUTE_ERROR, exp_of_negative};
use policert_numeric::{Enclosure, Interval};

use super::curve::{Curvature, Curve};
use super::gate::{CUT, cut, error};

/// x · tanh(ln(1 + eˣ)).
pub struct Mish;

/// Computes tanh(ln(1 + eˣ)) from e = e^−|x|: with n = e · (e + 2), it is n / (n + 2) for negative x, and
/// (1 + 2e) / (1 + 2e + 2e²) for others.
#[inline(always)]
fn gate(x: f64) -> f64 {
    let e = exp_of_negative(x.abs());
    if x < 0.0 {
        let n = e * (e + 2.0);
        n / (n + 2.0)
    } else {
        let n = 1.0 + 2.0 * e;
        n / (n + 2.0 * (e * e))
    }
}

/// Contains the gate at a number.
fn gate_bounds(x: f64) -> Interval {
    let (one, two) = (Interval::point(1.0), Interval::point(2.0));
    let e = Interval::point(-x.abs()).exp();
    let quotient = if x < 0.0 {
        let n = e * (e + two);
        n.checked_div(n + two)
    } else {
        let n = one + two * e;
        n.checked_div(n + two * e.square())
    };
    let unit = Interval::ball(0.5, 0.5);
    quotient.and_then(|quotient| quotient.intersection(unit)).unwrap_or(unit)
}

impl Curve for Mish {
    #[inline(always)]
    fn value(&self, x: f64) -> f64 {
        let x = cut(x);
        x * gate(x)
    }

    /// The slopes of both quotients in e are at most 1, and e is off by less than 4u; their operations
    /// add less than 8u.
    fn error(&self, lo: f64, hi: f64) -> f64 {
        error(lo, hi, ABSOLUTE_ERROR)
    }

    fn range(&self) -> Interval {
        Interval::EVERYTHING.max(Interval::point(-0.308_85))
    }

    fn limits(&self) -> (f64, f64) {
        (0.0, f64::INFINITY)
    }

    /// t + x · s · (1 − t²) for the gate t and the sigmoid s.
    fn slope(&self, x: f64) -> Interval {
        let x = cut(x);
        let (gate, at) = (gate_bounds(x), Interval::point(x));
        let slope = gate + at * at.sigmoid() * (Interval::point(1.0) - gate.square());
        // Where the argument is cut the slope is next to 0.
        let slope = if x <= -CUT { slope.hull(Interval::ball(0.0, 1e-20)) } else { slope };
        slope.intersection(self.extreme_slopes()).unwrap_or(self.extreme_slopes())
    }

    /// They are −0.11253 at −2.25638, and 1.08850 at 1.49057.
    fn extreme_slopes(&self) -> Interval {
        Interval::ball(0.5, 0.62)
    }

    fn steepness(&self, _lo: f64, _hi: f64) -> f64 {
        1.1
    }

    fn curvature(&self, lo: f64, hi: f64) -> Curvature {
        if lo >= -2.256 && hi <= 1.49 {
            Curvature::Convex
        } else if hi <= -2.257 || lo >= 1.491 {
            Curvature::Concave
        } else {
            Curvature::Mixed
        }
    }

    fn minimum(&self) -> Option<(Interval, Interval)> {
        Some((Interval::ball(-1.192_431, 5e-6), Interval::ball(-0.308_843, 5e-6)))
    }

    fn is_strictly_increasing(&self) -> bool {
        false
    }

    fn cancelled(&self) -> f64 {
        2.0
    }

    fn enclosed(&self, x: &Enclosure) -> Option<Enclosure> {
        Some(x * &x.softplus().tanh())
    }
}
