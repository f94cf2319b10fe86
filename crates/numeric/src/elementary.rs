//! The exponential function, logarithm, sine, cosine and square root in double precision, with
//! bounds on both sides.
//!
//! As for [`activation`](crate::activation), the platform's functions are not relied on. With
//! u = 2⁻⁵³:
//!
//! - **e^x** = 2ᵏ·eʳ with x = k·ln 2 + r, |r| ≤ 0.347. The two-part ln 2 makes k·ln 2 exact in
//!   its high part for |k| ≤ 1100; r is off by at most 1.5u. A Taylor polynomial of degree 13 by
//!   Horner's rule adds at most 3u (the analysis of `activation`), so eʳ ≥ 0.7 is off by less than
//!   8u of itself; `EXP_RELATIVE_ERROR` is twice that. Scaling by 2ᵏ is exact for normal
//!   results; smaller ones are bounded by 0 and the least normal number.
//! - **log** is not computed but checked: a candidate y is a lower bound if e^y is at most x by the
//!   bound above.
//! - **sin, cos**: x = k·π/2 + r for |x| ≤ 2¹⁹; π/2 in three parts, the first two of 33 bits, so
//!   that their products with k are exact. Each of three subtractions errs by at most u/2·1 for
//!   results below 1, the third part's product by less than u/100: |r| ≤ 0.786 is off by less than
//!   2u. Taylor polynomials of degree 17 and 18 leave less than u/1000; Horner's rule and the last
//!   additions err by less than 3u. `SINE_ERROR` is three times the sum.
//! - **sqrt** is correctly rounded by IEEE 754; the sign of the rest x − s², which a fused
//!   multiply-add gives exactly where nothing underflows, tells on which side it lies.

use crate::dyadic::power_of_two;
use crate::round::{UNIT_ROUNDOFF, add_down, add_up, mul_down, mul_up};

/// Bound of the relative error of [`exp_bounds`]' centre.
const EXP_RELATIVE_ERROR: f64 = 16.0 * UNIT_ROUNDOFF;
/// Absolute error bound of the sine and cosine.
const SINE_ERROR: f64 = 16.0 * UNIT_ROUNDOFF;
/// Arguments of larger magnitude are not reduced.
const SINE_RANGE: f64 = 524_288.0;

const LN_2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fee0_0000);
const LN_2_LOW: f64 = f64::from_bits(0x3dea_39ef_3579_3c76);
const HALF_PI_1: f64 = f64::from_bits(0x3ff9_21fb_5440_0000);
const HALF_PI_2: f64 = f64::from_bits(0x3dd0_b461_1a60_0000);
const HALF_PI_3: f64 = f64::from_bits(0x3ba3_198a_2e03_7073);
/// Adding and subtracting it rounds to an integer.
const ROUNDER: f64 = 6_755_399_441_055_744.0;

/// 1/i! for i = 0 to 18.
const INVERSE_FACTORIALS: [f64; 19] = [
    1.0,
    1.0,
    1.0 / 2.0,
    1.0 / 6.0,
    1.0 / 24.0,
    1.0 / 120.0,
    1.0 / 720.0,
    1.0 / 5_040.0,
    1.0 / 40_320.0,
    1.0 / 362_880.0,
    1.0 / 3_628_800.0,
    1.0 / 39_916_800.0,
    1.0 / 479_001_600.0,
    1.0 / 6_227_020_800.0,
    1.0 / 87_178_291_200.0,
    1.0 / 1_307_674_368_000.0,
    1.0 / 20_922_789_888_000.0,
    1.0 / 355_687_428_096_000.0,
    1.0 / 6_402_373_705_728_000.0,
];

/// Lower and upper bound of e^x; `(0, +∞)` for NaN.
#[must_use]
pub fn exp_bounds(x: f64) -> (f64, f64) {
    if x < -708.0 {
        // e⁻⁷⁰⁸ is above the least normal number, and below twice that.
        return (0.0, f64::MIN_POSITIVE * 2.0);
    }
    if x > 709.0 {
        // e⁷⁰⁹ > 8·10³⁰⁷.
        return (8.0e307, f64::INFINITY);
    }
    if x.is_nan() {
        return (0.0, f64::INFINITY);
    }
    let k = (x * std::f64::consts::LOG2_E + ROUNDER) - ROUNDER;
    let r = (x - k * LN_2_HIGH) - k * LN_2_LOW;
    let tail = horner(&INVERSE_FACTORIALS[..14], r);
    #[expect(clippy::cast_possible_truncation, reason = "|k| is at most 1023")]
    let exponent = k as i32;
    let Some(scale) = power_of_two(exponent) else { return (0.0, f64::INFINITY) };
    let centre = tail * scale;
    let radius = mul_up(centre, EXP_RELATIVE_ERROR);
    (add_down(centre, -radius).max(0.0), add_up(centre, radius))
}

fn horner(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, c| c + x * sum)
}

/// Lower and upper bound of the natural logarithm of x ≥ 0, that of 0 being −∞; `(−∞, +∞)` for
/// anything else.
#[must_use]
pub fn log_bounds(x: f64) -> (f64, f64) {
    if x.is_nan() || x < 0.0 {
        return (f64::NEG_INFINITY, f64::INFINITY);
    }
    if x < f64::MIN_POSITIVE * 4.0 {
        return (f64::NEG_INFINITY, -700.0);
    }
    if x > 8.0e307 {
        return (700.0, f64::INFINITY);
    }
    let guess = x.ln();
    let mut step = 2.0 * EXP_RELATIVE_ERROR;
    let (mut lo, mut hi) = (f64::NEG_INFINITY, f64::INFINITY);
    // A guess of the platform that is far off costs steps, not correctness.
    for _ in 0..60 {
        if lo.is_infinite() && exp_bounds(guess - step).1 <= x {
            lo = guess - step;
        }
        if hi.is_infinite() && exp_bounds(guess + step).0 >= x {
            hi = guess + step;
        }
        if lo.is_finite() && hi.is_finite() {
            break;
        }
        step *= 2.0;
    }
    (lo, hi)
}

/// Lower and upper bound of the square root of x ≥ 0; `(0, +∞)` for anything else.
#[must_use]
pub fn sqrt_bounds(x: f64) -> (f64, f64) {
    if x == 0.0 {
        return (0.0, 0.0);
    }
    if x.is_nan() || x < 0.0 {
        return (0.0, f64::INFINITY);
    }
    if x == f64::INFINITY {
        return (f64::MAX.sqrt().next_down(), f64::INFINITY);
    }
    let root = x.sqrt();
    if x < 1e-250 {
        return (root.next_down().max(0.0), root.next_up());
    }
    let rest = root.mul_add(-root, x);
    if rest == 0.0 {
        (root, root)
    } else if rest > 0.0 {
        (root, root.next_up())
    } else {
        (root.next_down(), root)
    }
}

/// The quarter turn in which x lies and its distance from the turn's multiple of π/2: x = k·π/2 + r
/// within the error above. `None` for large x and NaN.
fn reduce(x: f64) -> Option<(i64, f64)> {
    if !(-SINE_RANGE..=SINE_RANGE).contains(&x) {
        return None;
    }
    let k = (x * std::f64::consts::FRAC_2_PI + ROUNDER) - ROUNDER;
    let r = ((x - k * HALF_PI_1) - k * HALF_PI_2) - k * HALF_PI_3;
    #[expect(clippy::cast_possible_truncation, reason = "|k| is below 2²⁰")]
    let quarter = k as i64;
    Some((quarter, r))
}

fn sine_near_zero(r: f64) -> f64 {
    let z = r * r;
    let f = &INVERSE_FACTORIALS;
    let odd = [-f[3], f[5], -f[7], f[9], -f[11], f[13], -f[15], f[17]];
    r + r * z * horner(&odd, z)
}

fn cosine_near_zero(r: f64) -> f64 {
    let z = r * r;
    let f = &INVERSE_FACTORIALS;
    let even = [-f[2], f[4], -f[6], f[8], -f[10], f[12], -f[14], f[16], -f[18]];
    1.0 + z * horner(&even, z)
}

/// Lower and upper bound of sin x, within [−1, 1].
#[must_use]
pub fn sin_bounds(x: f64) -> (f64, f64) {
    quarter_bounds(x, 0)
}

/// Lower and upper bound of cos x, within [−1, 1].
#[must_use]
pub fn cos_bounds(x: f64) -> (f64, f64) {
    quarter_bounds(x, 1)
}

/// Bounds of sin(x + turns·π/2).
fn quarter_bounds(x: f64, turns: i64) -> (f64, f64) {
    if x == 0.0 {
        let exact = if turns == 0 { 0.0 } else { 1.0 };
        return (exact, exact);
    }
    let Some((quarter, r)) = reduce(x) else { return (-1.0, 1.0) };
    let centre = match (quarter + turns).rem_euclid(4) {
        0 => sine_near_zero(r),
        1 => cosine_near_zero(r),
        2 => -sine_near_zero(r),
        _ => -cosine_near_zero(r),
    };
    (add_down(centre, -SINE_ERROR).max(-1.0), add_up(centre, SINE_ERROR).min(1.0))
}

/// Bounds of x·2/π, from which the turning points of sine and cosine between two numbers are
/// counted; `None` for large x and NaN.
pub(crate) fn quarter_turns(x: f64) -> Option<(f64, f64)> {
    if !(-SINE_RANGE..=SINE_RANGE).contains(&x) {
        return None;
    }
    // 2/π lies between its double and the next one on the side that the double misses.
    let two_over_pi = std::f64::consts::FRAC_2_PI;
    let (below, above) = (two_over_pi.next_down(), two_over_pi.next_up());
    let (a, b) = if x < 0.0 { (above, below) } else { (below, above) };
    Some((mul_down(x, a), mul_up(x, b)))
}

#[cfg(test)]
mod tests;
