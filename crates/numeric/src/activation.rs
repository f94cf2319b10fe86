//! tanh, the logistic sigmoid, ln(1 + e⁻ᵗ) and the error function in double precision, with a proved
//! error bound.
//!
//! The library functions of the platform promise no bound. Here both come from one exponential
//! e⁻ᵗ, t ≥ 0: t = k·ln 2 + r with |r| ≤ 0.347 (two-part ln 2), a Taylor polynomial of degree 13
//! in −r by Horner's rule, and a scaling by 2⁻ᵏ. With u = 2⁻⁵³:
//!
//! - r is off by at most 0.7u (its two subtractions give results below 0.347; the rest of ln 2
//!   that its two parts miss is negligible), which moves e⁻ʳ by at most 1.0u;
//! - the polynomial's remainder is below 0.347¹⁴·1.42/14! < 6.0·10⁻¹⁸ < 0.06u;
//! - Horner's rule vᵢ = cᵢ + y·vᵢ₊₁ has errors eᵢ ≤ 0.347·eᵢ₊₁ + u·|y·vᵢ₊₁| + u·|vᵢ| +
//!   u·|cᵢ|; with |v₂| ≤ 0.58, |v₁| ≤ 1.20, |v₀| ≤ 1.42 (c₀ and c₁ exact) this gives
//!   e₂ ≤ 1.9u, e₁ ≤ 2.1u, e₀ ≤ 2.6u;
//! - clamping t at 40 leaves out less than 2⁻⁵⁷.
//!
//! So e⁻ᵗ is off by less than 4u. tanh = (1 − e)/(1 + e) has slope at most 2 in e, and its three
//! operations add less than 4u; the sigmoid has slope at most 1. Both are within 12u < 2⁻⁴⁹.

/// Absolute error bound of [`tanh`] and [`sigmoid`].
pub const ABSOLUTE_ERROR: f64 = 16.0 * crate::round::UNIT_ROUNDOFF;

/// Beyond this, e⁻ᵗ < 2⁻⁵⁷ counts as e⁻⁴⁰.
const CLAMP: f64 = 40.0;
/// ln 2 to 32 bits: its products with small integers are exact.
const LN_2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fee0_0000);
/// The rest of ln 2.
const LN_2_LOW: f64 = f64::from_bits(0x3dea_39ef_3579_3c76);
/// Adding and subtracting it rounds to an integer, which is then in the low bits of the sum.
const ROUNDER: f64 = 6_755_399_441_055_744.0;

/// 1/i! for i = 2 to 13.
const FACTORIALS: [f64; 12] = [
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
];

/// e⁻ᵗ for t ≥ 0, within 4u; NaN for NaN.
#[must_use]
#[inline(always)]
pub fn exp_of_negative(t: f64) -> f64 {
    let t = if t > CLAMP { CLAMP } else { t };
    let shifted = t * std::f64::consts::LOG2_E + ROUNDER;
    let k = shifted - ROUNDER;
    let r = (t - k * LN_2_HIGH) - k * LN_2_LOW;
    let y = -r;
    let mut tail = FACTORIALS[11];
    let mut i = 11;
    while i > 0 {
        i -= 1;
        tail = FACTORIALS[i] + y * tail;
    }
    let exponential = 1.0 + y * (1.0 + y * tail);
    // The low bits of `shifted` are k, at most 58: 2⁻ᵏ by its exponent field.
    let power = f64::from_bits(1023u64.wrapping_sub(shifted.to_bits() & 0x3f) << 52);
    exponential * power
}

/// The hyperbolic tangent, within [`ABSOLUTE_ERROR`]; NaN for NaN. Odd.
#[must_use]
#[inline(always)]
pub fn tanh(x: f64) -> f64 {
    let e = exp_of_negative(2.0 * x.abs());
    ((1.0 - e) / (1.0 + e)).copysign(x)
}

/// The logistic sigmoid 1 / (1 + e⁻ˣ), within [`ABSOLUTE_ERROR`]; NaN for NaN.
#[must_use]
#[inline(always)]
pub fn sigmoid(x: f64) -> f64 {
    let e = exp_of_negative(x.abs());
    let denominator = 1.0 + e;
    if x < 0.0 { e / denominator } else { 1.0 / denominator }
}

/// ln(1 + e⁻ᵗ) for t ≥ 0, within [`ABSOLUTE_ERROR`]; NaN for NaN.
///
/// For e = e⁻ᵗ it is 2·artanh z with z = e/(2 + e) ≤ 1/3. An error of e counts once, as the slope is at
/// most 1: 4u. z has a relative error below 2.4u, Horner's rule and the product below 4u; of a value
/// below 0.7 that is less than 5u. The terms that are left out are below 10⁻¹⁸.
#[must_use]
#[inline(always)]
pub fn log_one_plus_exp_of_negative(t: f64) -> f64 {
    let e = exp_of_negative(t);
    let z = e / (2.0 + e);
    let square = z * z;
    let mut sum = ODD_FRACTIONS[17];
    let mut i = 17;
    while i > 0 {
        i -= 1;
        sum = ODD_FRACTIONS[i] + square * sum;
    }
    2.0 * z * sum
}

/// 1/(2i + 1) for i = 0 to 17.
const ODD_FRACTIONS: [f64; 18] = [
    1.0,
    1.0 / 3.0,
    1.0 / 5.0,
    1.0 / 7.0,
    1.0 / 9.0,
    1.0 / 11.0,
    1.0 / 13.0,
    1.0 / 15.0,
    1.0 / 17.0,
    1.0 / 19.0,
    1.0 / 21.0,
    1.0 / 23.0,
    1.0 / 25.0,
    1.0 / 27.0,
    1.0 / 29.0,
    1.0 / 31.0,
    1.0 / 33.0,
    1.0 / 35.0,
];

/// Bound of the error of [`log`], relative to 1 + |ln x|.
pub const LOG_ERROR: f64 = 8.0 * crate::round::UNIT_ROUNDOFF;

/// The natural logarithm of a positive normal number, within [`LOG_ERROR`]; NaN for NaN.
///
/// ln x = k·ln 2 + 2·artanh z with x = 2ᵏ·m, m from √½ to √2 and z = (m − 1)/(m + 1), |z| ≤ 0.172. The
/// difference is exact; z has a relative error below 2.1u, Horner's rule and the product below 3u: of a
/// value below 0.35 that is less than 2u. The high part of k·ln 2 is exact, the low one off by less than
/// u/1000, and two sums err by less than u of themselves each. The terms that are left out are below
/// 10⁻²⁸.
#[must_use]
#[inline(always)]
pub fn log(x: f64) -> f64 {
    let bits = x.to_bits();
    // The exponent, one more where the mantissa is above √2.
    let high = (bits & MANTISSA) > ROOT_2_MANTISSA;
    let exponent = (bits >> 52) & 0x7ff;
    let m = f64::from_bits((bits & MANTISSA) | ((1023 - u64::from(high)) << 52));
    #[expect(clippy::cast_precision_loss, reason = "a small integer")]
    let k = (exponent + u64::from(high)) as f64 - 1023.0;
    let z = (m - 1.0) / (m + 1.0);
    let square = z * z;
    let mut sum = ODD_FRACTIONS[17];
    let mut i = 17;
    while i > 0 {
        i -= 1;
        sum = ODD_FRACTIONS[i] + square * sum;
    }
    let value = k * LN_2_HIGH + (k * LN_2_LOW + 2.0 * z * sum);
    if x.is_nan() { x } else { value }
}

/// The bits of a mantissa.
const MANTISSA: u64 = (1 << 52) - 1;
/// Those of √2.
const ROOT_2_MANTISSA: u64 = std::f64::consts::SQRT_2.to_bits() & MANTISSA;

/// Absolute error bound of [`erf`].
pub const ERF_ERROR: f64 = 1024.0 * crate::round::UNIT_ROUNDOFF;

/// Beyond this 1 − erf x is below 2.2·10⁻¹⁷.
const ERF_CUT: f64 = 6.0;
/// 2/√π.
const TWO_OVER_ROOT_PI: f64 = std::f64::consts::FRAC_2_SQRT_PI;

/// The error function, within [`ERF_ERROR`]; NaN for NaN. Odd.
///
/// 2/√π · x · e⁻ᵗ · Σ (2t)ⁿ/(1·3·…·(2n + 1)) with t = x² < 36: all terms are positive. Relative errors:
/// rounding t moves e⁻ᵗ by at most 36u, and its bounds are 32u apart; a term has at most 4n roundings, of
/// which those with n > 140 are below 10⁻¹⁸ of the sum, so less than 560u; the sum has at most 140u; what
/// remains has less than 8u.
#[must_use]
pub fn erf(x: f64) -> f64 {
    let size = x.abs();
    if size >= ERF_CUT {
        return 1.0f64.copysign(x);
    }
    let t = size * size;
    let (mut term, mut sum, mut n) = (1.0, 1.0, 0.0);
    while n < 140.0 && term > sum * 1e-19 {
        term = term * (2.0 * t) / (2.0 * n + 3.0);
        sum += term;
        n += 1.0;
    }
    let (lo, hi) = crate::elementary::exp_bounds(-t);
    let power = lo + (hi - lo) / 2.0;
    let value = TWO_OVER_ROOT_PI * size * power * sum;
    // Rounding could leave the range.
    let value = if value > 1.0 { 1.0 } else { value };
    if x.is_nan() { x } else { value.copysign(x) }
}
