//! Functions x · g(x) of a gate g that grows from 0 to 1: SiLU and both forms of GELU.
//!
//! For negative x they fall to a least value and grow after it. Below −[`CUT`] a gate is below e⁻⁶⁴,
//! so that the value there is next to 0.

use policert_numeric::activation::{ABSOLUTE_ERROR, ERF_ERROR, erf, sigmoid};
use policert_numeric::round::{UNIT_ROUNDOFF, add_up, mul_up};
use policert_numeric::{Enclosure, Interval};

use super::curve::{Curvature, Curve};

/// Below the negative of this the argument counts as it: the value is nearer to 0 than its error.
pub(super) const CUT: f64 = 64.0;
/// Steps to the least value of a function whose constants are those of a file.
const BISECTIONS: u32 = 40;

/// Bounds of the error of a product x · g for a gate that is off by at most `gate`.
pub(super) fn error(lo: f64, hi: f64, gate: f64) -> f64 {
    let greatest = cut(lo).abs().max(cut(hi).abs());
    mul_up(add_up(greatest, 1.0), add_up(gate, 4.0 * UNIT_ROUNDOFF))
}

#[inline(always)]
pub(super) fn cut(x: f64) -> f64 {
    if x < -CUT { -CUT } else { x }
}

/// x / (1 + e⁻ˣ).
pub struct Silu;

impl Curve for Silu {
    #[inline(always)]
    fn value(&self, x: f64) -> f64 {
        let x = cut(x);
        x * sigmoid(x)
    }

    fn error(&self, lo: f64, hi: f64) -> f64 {
        error(lo, hi, ABSOLUTE_ERROR)
    }

    fn range(&self) -> Interval {
        Interval::EVERYTHING.max(Interval::point(-0.278_47))
    }

    fn limits(&self) -> (f64, f64) {
        (0.0, f64::INFINITY)
    }

    /// s + x · s · (1 − s) for the gate s.
    fn slope(&self, x: f64) -> Interval {
        let x = Interval::point(cut(x));
        let gate = x.sigmoid();
        let slope = gate + x * gate * (Interval::point(1.0) - gate);
        // Where the argument is cut the slope is next to 0.
        let slope = if x.hi() <= -CUT { slope.hull(Interval::ball(0.0, 1e-20)) } else { slope };
        slope.intersection(self.extreme_slopes()).unwrap_or(self.extreme_slopes())
    }

    /// At ±2.3994 they are −0.09984 and 1.09984.
    fn extreme_slopes(&self) -> Interval {
        Interval::ball(0.5, 0.6)
    }

    fn steepness(&self, _lo: f64, _hi: f64) -> f64 {
        1.1
    }

    fn curvature(&self, lo: f64, hi: f64) -> Curvature {
        if lo >= -2.399 && hi <= 2.399 {
            Curvature::Convex
        } else if hi <= -2.4 || lo >= 2.4 {
            Curvature::Concave
        } else {
            Curvature::Mixed
        }
    }

    fn minimum(&self) -> Option<(Interval, Interval)> {
        let least = Interval::ball(-0.278_465, 5e-6);
        Some((Interval::ball(-1.278_465, 5e-6), least))
    }

    fn is_strictly_increasing(&self) -> bool {
        false
    }

    fn cancelled(&self) -> f64 {
        2.0
    }

    fn enclosed(&self, x: &Enclosure) -> Option<Enclosure> {
        Some(x * &x.sigmoid())
    }
}

/// x · (1 + erf x) / 2, which gives GELU for arguments that are scaled by 1/√2.
pub struct ErfGate;

impl Curve for ErfGate {
    #[inline(always)]
    fn value(&self, x: f64) -> f64 {
        let x = cut(x);
        x * (0.5 + 0.5 * erf(x))
    }

    fn error(&self, lo: f64, hi: f64) -> f64 {
        error(lo, hi, ERF_ERROR)
    }

    fn range(&self) -> Interval {
        Interval::EVERYTHING.max(Interval::point(-0.120_19))
    }

    fn limits(&self) -> (f64, f64) {
        (0.0, f64::INFINITY)
    }

    /// (1 + erf x) / 2 + x · e^(−x²) / √π.
    fn slope(&self, x: f64) -> Interval {
        let x = Interval::point(x.clamp(-CUT, CUT));
        let half = Interval::point(0.5);
        // 1/√π.
        let factor = Interval::ball(0.564_189_583_547_756_3, 1e-15);
        let slope = half + half * x.erf() + x * (-x.square()).exp() * factor;
        slope.intersection(self.extreme_slopes()).unwrap_or(self.extreme_slopes())
    }

    /// At ±1 they are −0.12891 and 1.12891.
    fn extreme_slopes(&self) -> Interval {
        Interval::ball(0.5, 0.63)
    }

    fn steepness(&self, _lo: f64, _hi: f64) -> f64 {
        1.13
    }

    fn curvature(&self, lo: f64, hi: f64) -> Curvature {
        if lo >= -1.0 && hi <= 1.0 {
            Curvature::Convex
        } else if hi <= -1.0 || lo >= 1.0 {
            Curvature::Concave
        } else {
            Curvature::Mixed
        }
    }

    fn minimum(&self) -> Option<(Interval, Interval)> {
        let least = Interval::ball(-0.120_188, 5e-6);
        Some((Interval::ball(-0.531_597, 5e-6), least))
    }

    fn is_strictly_increasing(&self) -> bool {
        false
    }

    fn cancelled(&self) -> f64 {
        8.0
    }

    fn enclosed(&self, x: &Enclosure) -> Option<Enclosure> {
        let one = Enclosure::integer(1, x.bits());
        Some((x * &(&one + &x.erf())).times_f64(0.5))
    }
}

/// x · (1 + tanh(`outer` · (x + `cubic` · x³))) / 2: GELU by its approximation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TanhGate {
    /// About √(2/π); positive.
    outer: f64,
    /// About 0.0447; positive.
    cubic: f64,
    /// Contains the argument of the minimum.
    place: Interval,
    /// The least value.
    least: Interval,
}

impl TanhGate {
    /// The function, for constants near those that are usual.
    #[must_use]
    pub fn new(outer: f64, cubic: f64) -> Option<Self> {
        let fits = (0.25..=4.0).contains(&outer) && (1e-3..=1.0).contains(&cubic);
        // 1 + x · t′ · (1 − s) is 0 at one negative x alone: both |x · t′| and 1 − s shrink as x
        // grows. There |x · t′| lies between 1 and 2, so |x| is below 1/`outer`, and the gate below 1/2.
        let place = Interval::ZERO.hull(Interval::point(-1.001 / outer));
        let least = Interval::ZERO.hull(Interval::point(-0.501 / outer));
        fits.then(|| Self { outer, cubic, place, least }.with_narrow_minimum())
    }

    /// Bisects for the least value: left of it the function falls, right of it it grows.
    fn with_narrow_minimum(self) -> Self {
        let (mut lo, mut hi) = (self.place.lo(), self.place.hi());
        for _ in 0..BISECTIONS {
            let middle = lo / 2.0 + hi / 2.0;
            let slope = self.slope(middle);
            if slope.hi() < 0.0 {
                lo = middle;
            } else if slope.lo() > 0.0 {
                hi = middle;
            } else {
                break;
            }
        }
        let at_right = Interval::ball(self.value(hi), self.error(lo, hi));
        let width = Interval::point(hi) - Interval::point(lo);
        let lower = at_right - width * Interval::point(self.steepness(lo, hi));
        let place = Interval::point(lo).hull(Interval::point(hi));
        let narrow = at_right.hull(lower).intersection(self.least);
        Self { place, least: narrow.unwrap_or(self.least), ..self }
    }

    /// The constants.
    #[must_use]
    pub fn constants(&self) -> (f64, f64) {
        (self.outer, self.cubic)
    }
}

impl Curve for TanhGate {
    /// The argument of the gate is off by at most 6u of itself, and t · s′(t) is at most 0.23.
    #[inline(always)]
    fn value(&self, x: f64) -> f64 {
        let x = cut(x);
        x * sigmoid(2.0 * (self.outer * (x + self.cubic * (x * x * x))))
    }

    fn error(&self, lo: f64, hi: f64) -> f64 {
        error(lo, hi, add_up(ABSOLUTE_ERROR, 4.0 * UNIT_ROUNDOFF))
    }

    fn range(&self) -> Interval {
        Interval::EVERYTHING.max(Interval::point(self.least.lo()))
    }

    fn limits(&self) -> (f64, f64) {
        (0.0, f64::INFINITY)
    }

    /// s + x · t′ · s · (1 − s) for the gate s at t = 2 · `outer` · (x + `cubic` · x³).
    fn slope(&self, x: f64) -> Interval {
        let x = Interval::point(x.clamp(-1e6, 1e6));
        let (outer, cubic) = (Interval::point(2.0 * self.outer), Interval::point(self.cubic));
        let cube = cubic * x * x.square();
        let gate = (outer * (x + cube)).sigmoid();
        let steep = outer * (x + Interval::point(3.0) * cube);
        let slope = gate + steep * gate * (Interval::point(1.0) - gate);
        slope.intersection(self.extreme_slopes()).unwrap_or(self.extreme_slopes())
    }

    /// |x · t′| is at most 3 · |t|, and |t| · s′(t) at most 0.224.
    fn extreme_slopes(&self) -> Interval {
        Interval::ball(0.5, 1.2)
    }

    fn steepness(&self, _lo: f64, _hi: f64) -> f64 {
        1.7
    }

    fn curvature(&self, _lo: f64, _hi: f64) -> Curvature {
        Curvature::Mixed
    }

    fn minimum(&self) -> Option<(Interval, Interval)> {
        Some((self.place, self.least))
    }

    fn is_strictly_increasing(&self) -> bool {
        false
    }

    fn cancelled(&self) -> f64 {
        8.0
    }

    fn enclosed(&self, x: &Enclosure) -> Option<Enclosure> {
        let cube = (&(x * x) * x).times_f64(self.cubic);
        let argument = (x + &cube).times_f64(self.outer);
        Some(x * &argument.times_dyadic(2, 0).sigmoid())
    }
}
