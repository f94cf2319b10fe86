//! Sine and cosine at any precision.
//!
//! They are computed in the middle of an enclosure, where the argument is brought between −4 and 4 by a
//! multiple of 2π and halved until Taylor's series is short; half the width of the enclosure is added,
//! since both functions change at most as much as their argument does.

use dashu::base::BitTest;
use dashu::integer::IBig;

use super::erf::pi;
use super::exponential::AbsValue;
use super::{Enclosure, ceil_shift, floor_shift};

/// The argument of the series is at most 2 to the negative of this.
const HALVINGS: usize = 8;

impl Enclosure {
    /// The sine.
    #[must_use]
    pub fn sin(&self) -> Self {
        self.on_the_circle().1
    }

    /// The cosine.
    #[must_use]
    pub fn cos(&self) -> Self {
        self.on_the_circle().0
    }

    /// Cosine and sine.
    #[must_use]
    pub fn on_the_circle(&self) -> (Self, Self) {
        let one = IBig::ONE << self.bits;
        // The middle at one bit more, and half the width.
        let (middle, radius) = (&self.lo + &self.hi, ceil_shift(&(&self.hi - &self.lo), 1));
        let whole = middle.bit_len().saturating_sub(self.bits);
        // Twice as many bits for each doubling, those of the multiple of 2π, and some for rounding.
        let spare = 2 * HALVINGS + whole + 32;
        let work = self.bits + spare;
        let (low, high) = reduced(&(middle << (spare - 1)), work);
        let argument = Self { lo: low, hi: high, bits: work };
        let (mut cos, mut sin) = argument.halved(HALVINGS + 2).short_series();
        for _ in 0..HALVINGS + 2 {
            // cos 2t = 1 − 2·sin² t, sin 2t = 2·sin t·cos t.
            let double_sin = &sin * &cos;
            cos = &Self::integer(1, work) - &sin.square().doubled();
            sin = double_sin.doubled();
        }
        let widened = |x: Self| Self {
            lo: (floor_shift(&x.lo, spare) - &radius).max(-&one),
            hi: (ceil_shift(&x.hi, spare) + &radius).min(one.clone()),
            bits: self.bits,
        };
        (widened(cos), widened(sin))
    }

    fn halved(&self, times: usize) -> Self {
        Self { lo: floor_shift(&self.lo, times), hi: ceil_shift(&self.hi, times), bits: self.bits }
    }

    fn doubled(&self) -> Self {
        Self { lo: &self.lo << 1, hi: &self.hi << 1, bits: self.bits }
    }

    /// Cosine and sine of a number between −1/2 and 1/2 by Taylor's series, whose rest is at most its first term that
    /// is left out.
    fn short_series(&self) -> (Self, Self) {
        let square = self.square();
        let of = |first: Self, divisor: &dyn Fn(u32) -> u32| {
            let (mut term, mut sum, mut n) = (first.clone(), first, 0);
            loop {
                n += 1;
                term = -&(&term * &square).part(divisor(n));
                sum = &sum + &term;
                if term.lo.abs_value() <= IBig::from(2) && term.hi.abs_value() <= IBig::from(2) {
                    let (lo, hi) = (sum.lo - IBig::from(2), sum.hi + IBig::from(2));
                    return Self { lo, hi, bits: self.bits };
                }
            }
        };
        let cos = of(Self::integer(1, self.bits), &|n| (2 * n - 1) * (2 * n));
        (cos, of(self.clone(), &|n| 2 * n * (2 * n + 1)))
    }
}

/// Bounds of a number less a multiple of 2π, which lie between −4 and 4.
fn reduced(x: &IBig, bits: usize) -> (IBig, IBig) {
    let (pi_low, pi_high) = pi(bits);
    let turn = &pi_low << 1;
    // The nearest multiple, about.
    let turns = super::floor_div(&(x + &pi_low), &turn);
    let ends = [&pi_low << 1, &pi_high << 1].map(|turn| x - &turns * turn);
    let [first, second] = ends;
    (first.clone().min(second.clone()), first.max(second))
}
