//! e^x, tanh, the logistic sigmoid and ln(1 + e^x) at any precision.
//!
//! All come from e⁻ᵗ for t ≥ 0: t is divided by 2ˢ until it is tiny, the alternating Taylor series
//! is summed until its terms vanish in the working precision, and the result is squared s times
//! with outward rounding.

use dashu::base::BitTest;
use dashu::integer::IBig;

use super::{Enclosure, ceil_div, ceil_shift, floor_div, floor_shift};

/// Exponents whose magnitude has more bits than this give no enclosure of e^x.
const MAX_EXPONENT_BITS: usize = 16;

impl Enclosure {
    /// e^x; `None` if x may exceed 2¹⁶.
    #[must_use]
    pub fn exp(&self) -> Option<Self> {
        let lo = exp_bounds(&self.lo, self.bits)?.0;
        let hi = exp_bounds(&self.hi, self.bits)?.1;
        Some(Enclosure { lo, hi, bits: self.bits })
    }

    /// The hyperbolic tangent.
    #[must_use]
    pub fn tanh(&self) -> Self {
        self.increasing(|x, bits| {
            // (1 − e⁻²ˣ) / (1 + e⁻²ˣ) for x ≥ 0, and odd.
            let (e_lo, e_hi, work) = exp_of_negative(&(x.abs_value() << 1), bits);
            let one = IBig::ONE << work;
            let lo = floor_div(&((&one - &e_hi) << bits), &(&one + &e_hi));
            let hi = ceil_div(&((&one - &e_lo) << bits), &(&one + &e_lo));
            if *x < IBig::ZERO { (-hi, -lo) } else { (lo, hi) }
        })
    }

    /// The logistic sigmoid 1 / (1 + e⁻ˣ).
    #[must_use]
    pub fn sigmoid(&self) -> Self {
        self.increasing(|x, bits| {
            // 1 − sigmoid(−x) for x < 0.
            let (e_lo, e_hi, work) = exp_of_negative(&x.abs_value(), bits);
            let one = IBig::ONE << work;
            let scaled = &one << bits;
            let lo = floor_div(&scaled, &(&one + &e_hi));
            let hi = ceil_div(&scaled, &(&one + &e_lo));
            let unit = IBig::ONE << bits;
            if *x < IBig::ZERO { (&unit - hi, &unit - lo) } else { (lo, hi) }
        })
    }

    /// ln(1 + e^x).
    #[must_use]
    pub fn softplus(&self) -> Self {
        self.increasing(|x, bits| {
            // max(x, 0) + ln(1 + e^−|x|).
            let (e_lo, e_hi, work) = exp_of_negative(&x.abs_value(), bits);
            let spare = work - bits;
            let positive = x.clone().max(IBig::ZERO);
            let lo = floor_shift(&log_one_plus(&e_lo, work, false), spare);
            let hi = ceil_shift(&log_one_plus(&e_hi, work, true), spare);
            (&positive + lo, &positive + hi)
        })
    }

    /// Image under an increasing function, given by its bounds at a fixed-point number.
    pub(super) fn increasing(&self, bounds: impl Fn(&IBig, usize) -> (IBig, IBig)) -> Self {
        let (lo, hi) = bounds(&self.lo, self.bits);
        let hi = if self.lo == self.hi { hi } else { bounds(&self.hi, self.bits).1 };
        Enclosure { lo, hi, bits: self.bits }
    }
}

/// A bound of ln(1 + e) for a fixed-point number e between 0 and 1: 2·(z + z³/3 + z⁵/5 + …) with
/// z = e/(2 + e), all rounded to the side of the bound.
pub(super) fn log_one_plus(e: &IBig, bits: usize, up: bool) -> IBig {
    let shift = |x: &IBig| if up { ceil_shift(x, bits) } else { floor_shift(x, bits) };
    let divide = |a: &IBig, b: &IBig| if up { ceil_div(a, b) } else { floor_div(a, b) };
    let z = divide(&(e << bits), &(e + (IBig::from(2) << bits)));
    let square = shift(&(&z * &z));
    let (mut power, mut sum, mut n) = (z.clone(), z, 1u32);
    while power > IBig::ONE {
        power = shift(&(power * &square));
        n += 2;
        sum += divide(&power, &IBig::from(n));
    }
    // Each power is at most 1/9 of the one before.
    if up {
        sum += IBig::ONE;
    }
    sum << 1
}

pub(super) trait AbsValue {
    fn abs_value(&self) -> IBig;
}

impl AbsValue for IBig {
    fn abs_value(&self) -> IBig {
        if *self < IBig::ZERO { -self } else { self.clone() }
    }
}

/// Bounds of e^x for the fixed-point number x.
fn exp_bounds(x: &IBig, bits: usize) -> Option<(IBig, IBig)> {
    if *x <= IBig::ZERO {
        let (lo, hi, work) = exp_of_negative(&-x, bits);
        return Some((floor_shift(&lo, work - bits), ceil_shift(&hi, work - bits)));
    }
    // 1 / e⁻ˣ, with bits to spare for the size of the result: e^x < 2^(2x).
    let size = usize::try_from(&(floor_shift(x, bits) + IBig::ONE)).ok()?;
    if size >> MAX_EXPONENT_BITS != 0 {
        return None;
    }
    let extra = 4 * size + 8;
    let (lo, hi, work) = exp_of_negative(&(x << extra), bits + extra);
    let scaled = IBig::ONE << (work + bits);
    // e⁻ˣ > 2^(−2·size) is far from 0 at this precision.
    (lo > IBig::ZERO).then(|| (floor_div(&scaled, &hi), ceil_div(&scaled, &lo)))
}

/// Bounds of e⁻ᵗ for the fixed-point number t ≥ 0, and their number of fractional bits, which is
/// above `bits`.
pub(super) fn exp_of_negative(t: &IBig, bits: usize) -> (IBig, IBig, usize) {
    let spare = bits + 4;
    if t.is_zero() {
        let one = IBig::ONE << spare;
        return (one.clone(), one, spare);
    }
    // e⁻ᵗ < 2⁻ᵗ.
    if floor_shift(t, bits) >= IBig::from(spare) {
        return (IBig::ZERO, IBig::ONE, spare);
    }
    // t / 2^halvings < 2^-smallness.
    let smallness = (bits / 8).isqrt() + 4;
    let halvings = (t.bit_len() + smallness).saturating_sub(bits);
    // Upper bound of the number of terms: each one is smaller by more than 2^smallness.
    let guard = 16 + usize::BITS - bits.leading_zeros();
    let work = spare + halvings + usize::try_from(guard).unwrap_or(128);
    let u = t << (work - bits - halvings);

    let mut term = IBig::ONE << work;
    let mut sum = term.clone();
    let mut terms = 0usize;
    while !term.is_zero() {
        terms += 1;
        term = floor_shift(&(term * &u), work) / IBig::from(terms);
        if terms % 2 == 1 {
            sum -= &term;
        } else {
            sum += &term;
        }
    }
    // In units of the last bit: each computed term is at most 2 too small (the error of the one
    // before shrinks by u/i <= 1/2, and two roundings lose less than 1 in all after the
    // division); what follows the first vanishing term adds less than 4.
    let error = IBig::from(2 * terms + 4);
    let one = IBig::ONE << work;
    let mut lo = (&sum - &error).max(IBig::ZERO);
    let mut hi = (sum + error).min(one);
    for _ in 0..halvings {
        lo = floor_shift(&(&lo * &lo), work);
        hi = ceil_shift(&(&hi * &hi), work);
    }
    (lo, hi, work)
}
