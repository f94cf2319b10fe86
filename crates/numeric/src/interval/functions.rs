//! Elementary functions of intervals.

use super::Interval;
use crate::activation::{ERF_ERROR, erf};
use crate::elementary::{
    cos_bounds, exp_bounds, log_bounds, quarter_turns, sin_bounds, sqrt_bounds,
};
use crate::round::{at_least, at_most, mul_down, mul_up};

/// The least double above π/2 is beyond it, this one is not.
const HALF_PI_BELOW: f64 = std::f64::consts::FRAC_PI_2;

impl Interval {
    /// e^x.
    #[must_use]
    pub fn exp(self) -> Self {
        Self::from_bounds(exp_bounds(self.lo).0, exp_bounds(self.hi).1)
    }

    /// The error function.
    #[must_use]
    pub fn erf(self) -> Self {
        let at = |x: f64| Self::ball(erf(x), ERF_ERROR);
        let range = Self::ball(0.0, 1.0);
        at(self.lo).hull(at(self.hi)).intersection(range).unwrap_or(range)
    }

    /// The natural logarithm of the positive numbers of the interval; `None` if it has others.
    #[must_use]
    pub fn log(self) -> Option<Self> {
        if self.lo <= 0.0 {
            return None;
        }
        Some(Self::from_bounds(log_bounds(self.lo).0, log_bounds(self.hi).1))
    }

    /// The square root; `None` if the interval has negative numbers.
    #[must_use]
    pub fn sqrt(self) -> Option<Self> {
        if self.lo < 0.0 {
            return None;
        }
        Some(Self::from_bounds(sqrt_bounds(self.lo).0, sqrt_bounds(self.hi).1))
    }

    /// The sine.
    #[must_use]
    pub fn sin(self) -> Self {
        if self.lo >= -HALF_PI_BELOW && self.hi <= HALF_PI_BELOW {
            return Interval { lo: sin_bounds(self.lo).0, hi: sin_bounds(self.hi).1 };
        }
        // Greatest at quarter turns 1 (modulo 4), least at 3.
        self.wave(1.0, sin_bounds)
    }

    /// The cosine.
    #[must_use]
    pub fn cos(self) -> Self {
        self.wave(0.0, cos_bounds)
    }

    /// Image under sine or cosine, whose maxima are at quarter turns `top` (modulo 4).
    fn wave(self, top: f64, bounds: impl Fn(f64) -> (f64, f64)) -> Self {
        let unit = Interval { lo: -1.0, hi: 1.0 };
        let (Some(from), Some(to)) = (quarter_turns(self.lo), quarter_turns(self.hi)) else {
            return unit;
        };
        // Whether a number `offset` modulo 4 may lie between the two; outwards where it is unclear.
        let meets = |offset: f64| {
            let next = ((from.0 - offset) / 4.0 - 1e-9).ceil() * 4.0 + offset;
            next <= to.1 + 1e-9
        };
        let (first, last) = (bounds(self.lo), bounds(self.hi));
        let lo = if meets(top + 2.0) { -1.0 } else { first.0.min(last.0) };
        let hi = if meets(top) { 1.0 } else { first.1.max(last.1) };
        Interval { lo, hi }
    }

    /// The tangent; `None` if a pole may lie in the interval.
    #[must_use]
    pub fn tan(self) -> Option<Self> {
        // Between two poles the cosine has no zero; there the tangent increases.
        if self.cos().contains(0.0) {
            return None;
        }
        let at = |x: f64| {
            let point = Interval::point(x);
            point.sin().checked_div(point.cos())
        };
        Some(Self::from_bounds(at(self.lo)?.lo, at(self.hi)?.hi))
    }

    /// The square: never negative.
    #[must_use]
    #[inline]
    pub fn square(self) -> Self {
        let magnitudes = self.abs();
        let (lo, hi) = (magnitudes.lo, magnitudes.hi);
        Interval { lo: at_least(mul_down(lo, lo)).clamp(0.0, f64::MAX), hi: mul_up(hi, hi) }
    }

    /// An integer power; `None` for a negative one of an interval with 0.
    #[must_use]
    pub fn powi(self, exponent: i32) -> Option<Self> {
        if exponent < 0 {
            let inverse = self.powi(exponent.checked_neg()?)?;
            return Interval::point(1.0).checked_div(inverse);
        }
        let power = |base: f64, upwards: bool| {
            // Of a magnitude; a NaN of 0·∞ cannot occur.
            let multiply = |a: f64, b: f64| {
                if upwards { at_most(mul_up(a, b)) } else { at_least(mul_down(a, b)).max(0.0) }
            };
            let (mut result, mut square, mut rest) = (1.0, base, exponent);
            let mut first = true;
            while rest > 0 {
                if rest & 1 == 1 {
                    result = if first { square } else { multiply(result, square) };
                    first = false;
                }
                rest >>= 1;
                if rest > 0 {
                    square = multiply(square, square);
                }
            }
            result
        };
        if exponent % 2 == 0 || self.lo >= 0.0 {
            let magnitudes = self.abs();
            let magnitudes = if exponent == 0 { Interval::point(1.0) } else { magnitudes };
            let lo = power(magnitudes.lo, false).min(f64::MAX);
            return Some(Interval { lo, hi: power(magnitudes.hi, true) });
        }
        // Odd: increasing.
        let signed = |x: f64, upwards: bool| {
            if x < 0.0 { -power(-x, !upwards) } else { power(x, upwards) }
        };
        Some(Self::from_bounds(signed(self.lo, false), signed(self.hi, true)))
    }
}
