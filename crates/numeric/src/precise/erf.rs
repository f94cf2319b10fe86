//! The error function at any precision.
//!
//! erf x = 2/√π · x · e⁻ᵗ · Σ (2t)ⁿ/(1·3·…·(2n + 1)) with t = x²: all terms are positive, so lower and upper
//! bounds come from rounding each operation to one side.

use dashu::base::SquareRoot;
use dashu::integer::{IBig, UBig};

use super::exponential::{AbsValue, exp_of_negative};
use super::{Enclosure, ceil_div, ceil_shift, floor_div, floor_shift};

impl Enclosure {
    /// The error function.
    #[must_use]
    pub fn erf(&self) -> Self {
        self.increasing(|x, bits| {
            let (lo, hi) = of_positive(&x.abs_value(), bits);
            if *x < IBig::ZERO { (-hi, -lo) } else { (lo, hi) }
        })
    }
}

/// Bounds for the fixed-point number x ≥ 0.
fn of_positive(x: &IBig, bits: usize) -> (IBig, IBig) {
    let one = IBig::ONE << bits;
    let whole = ceil_shift(x, bits);
    // 1 − erf x < e⁻ᵗ < 2⁻ᵇ.
    if &whole * &whole > IBig::from(bits) + IBig::from(2) * &whole {
        return (&one - IBig::ONE, one);
    }
    let size = usize::try_from(&(&whole * &whole)).unwrap_or(bits);
    let spare = 3 * size + 64;
    let work = bits + spare;
    let x = x << spare;
    let square = &x * &x;
    let (low, high) = (floor_shift(&square, work), ceil_shift(&square, work));
    let (sum_low, sum_high) = (series(&low, work, false), series(&high, work, true));
    // e⁻ᵗ falls as t grows.
    let (power_low, _, low_bits) = exp_of_negative(&high, work);
    let (_, power_high, high_bits) = exp_of_negative(&low, work);
    let (factor_low, factor_high) = two_over_root_pi(work);
    let product = |factor: &IBig, power: &IBig, power_bits: usize, sum: &IBig| {
        (factor * &x * power * sum, work + work + power_bits + work - bits)
    };
    let (lo, shift) = product(&factor_low, &power_low, low_bits, &sum_low);
    let lo = floor_shift(&lo, shift);
    let (hi, shift) = product(&factor_high, &power_high, high_bits, &sum_high);
    (lo.max(IBig::ZERO).min(one.clone()), ceil_shift(&hi, shift).min(one))
}

/// A bound of Σ (2t)ⁿ/(1·3·…·(2n + 1)).
fn series(t: &IBig, bits: usize, up: bool) -> IBig {
    let double = t << 1;
    let limit = ceil_shift(&(t << 2), bits);
    let mut term = IBig::ONE << bits;
    let (mut sum, mut divisor) = (term.clone(), IBig::ONE);
    loop {
        divisor += IBig::from(2);
        let product = term * &double;
        term = if up {
            ceil_div(&ceil_shift(&product, bits), &divisor)
        } else {
            floor_div(&floor_shift(&product, bits), &divisor)
        };
        sum += &term;
        // From here on each term is at most half of the one before.
        if term <= IBig::ONE && divisor > limit {
            return if up { sum + IBig::from(2) } else { sum };
        }
    }
}

/// Bounds of 2/√π = √(4/π).
fn two_over_root_pi(bits: usize) -> (IBig, IBig) {
    let (pi_low, pi_high) = pi(bits);
    let four = IBig::from(4) << (3 * bits);
    let root = |quotient: IBig| IBig::from(UBig::try_from(quotient).unwrap_or_default().sqrt());
    (root(floor_div(&four, &pi_high)), root(ceil_div(&four, &pi_low)) + IBig::ONE)
}

/// Bounds of π = 16·arctan(1/5) − 4·arctan(1/239).
pub(super) fn pi(bits: usize) -> (IBig, IBig) {
    let (five_low, five_high) = arctan_of_inverse(5, bits);
    let (far_low, far_high) = arctan_of_inverse(239, bits);
    let at = |five: &IBig, far: &IBig| (five << 4) - (far << 2);
    (at(&five_low, &far_high), at(&five_high, &far_low))
}

/// Bounds of the arcus tangent of 1/n, by its alternating series.
fn arctan_of_inverse(n: u32, bits: usize) -> (IBig, IBig) {
    let square = IBig::from(n) * IBig::from(n);
    let mut power = floor_div(&(IBig::ONE << bits), &IBig::from(n));
    let (mut sum, mut terms) = (power.clone(), 0u32);
    while power > IBig::ZERO {
        power = floor_div(&power, &square);
        terms += 1;
        let term = floor_div(&power, &IBig::from(2 * terms + 1));
        if terms % 2 == 1 {
            sum -= term;
        } else {
            sum += term;
        }
    }
    // Each term lost less than 2, and the rest is below 1.
    let error = IBig::from(2 * terms + 4);
    (&sum - &error, sum + error)
}
