//! The square, the square root and the logarithm at any precision.

use dashu::base::{BitTest, SquareRoot};
use dashu::integer::IBig;

use super::exponential::log_one_plus;
use super::{Enclosure, ceil_shift, floor_shift};

/// Bits beyond those of the result that the logarithm is computed with.
const GUARD: usize = 48;

impl Enclosure {
    /// The square: never negative.
    #[must_use]
    pub fn square(&self) -> Self {
        let (a, b) = (&self.lo * &self.lo, &self.hi * &self.hi);
        let crosses = self.lo < IBig::ZERO && self.hi > IBig::ZERO;
        let least = if crosses { IBig::ZERO } else { a.clone().min(b.clone()) };
        let (lo, hi) = (floor_shift(&least, self.bits), ceil_shift(&a.max(b), self.bits));
        Enclosure { lo, hi, bits: self.bits }
    }

    /// The square root; `None` if the number may be negative.
    #[must_use]
    pub fn sqrt(&self) -> Option<Self> {
        if self.lo < IBig::ZERO {
            return None;
        }
        let floor = |x: &IBig| IBig::from((x << self.bits).sqrt());
        let lo = floor(&self.lo);
        let root = floor(&self.hi);
        let hi = if &root * &root == &self.hi << self.bits { root } else { root + IBig::ONE };
        Some(Enclosure { lo, hi, bits: self.bits })
    }

    /// The natural logarithm; `None` if the number may be 0 or negative.
    #[must_use]
    pub fn log(&self) -> Option<Self> {
        if self.lo <= IBig::ZERO {
            return None;
        }
        let lo = log_bound(&self.lo, self.bits, false);
        let hi = log_bound(&self.hi, self.bits, true);
        Some(Enclosure { lo, hi, bits: self.bits })
    }
}

/// A bound of ln x for the fixed-point number x > 0: k · ln 2 + ln(1 + e) for x = 2ᵏ · (1 + e) with e from 0
/// to 1.
fn log_bound(x: &IBig, bits: usize, up: bool) -> IBig {
    let work = bits + GUARD;
    let shift = |x: &IBig, by: usize| if up { ceil_shift(x, by) } else { floor_shift(x, by) };
    let top = x.bit_len().saturating_sub(1);
    let one = IBig::ONE << work;
    let rest = shift(&(x << work), top) - &one;
    let power = IBig::from(top) - IBig::from(bits);
    // A negative multiple is least where its factor is greatest.
    let ln_2 = log_one_plus(&one, work, up == (power >= IBig::ZERO));
    let sum = power * ln_2 + log_one_plus(&rest, work, up);
    shift(&sum, GUARD)
}
