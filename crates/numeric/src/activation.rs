//! tanh and the logistic sigmoid in double precision, with a proved error bound.
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
