//! Exact rational numbers with a fast path for small ones.
//!
//! A value is held as a reduced fraction of machine integers whenever it fits, and as a reduced
//! fraction of big integers otherwise. The choice is canonical (what fits is small), so equality
//! and hashing may compare representations.

mod arithmetic;
mod float;
mod text;

#[cfg(test)]
mod tests;

use std::num::NonZeroU64;

use dashu::base::Signed;
use dashu::integer::{IBig, UBig};
use dashu::rational::RBig;

pub use text::ParseRationalError;

/// An exact rational number.
///
/// Arithmetic never overflows and never panics; division is [`Rational::checked_div`].
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Rational(Repr);

/// Invariants: both fractions are reduced; `Big` holds only values that do not fit `Small`.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Repr {
    Small { num: i64, den: NonZeroU64 },
    Big(Box<RBig>),
}

/// The denominator of an integer.
const UNIT: NonZeroU64 = NonZeroU64::MIN;

/// Results of [`Rational::pow`] with more bits than this are refused.
const POW_MAX_BITS: u64 = 1 << 26;

impl Rational {
    /// The number 0.
    pub const ZERO: Rational = Rational::integer(0);
    /// The number 1.
    pub const ONE: Rational = Rational::integer(1);

    /// An integer.
    #[must_use]
    pub const fn integer(value: i64) -> Self {
        Rational(Repr::Small { num: value, den: UNIT })
    }

    /// `num / den`, or `None` if `den` is 0.
    #[must_use]
    pub fn new(num: i64, den: i64) -> Option<Self> {
        let magnitude = NonZeroU64::new(den.unsigned_abs())?;
        let num = i128::from(num) * i128::from(den.signum());
        Some(Self::from_reducible(num, magnitude))
    }

    /// `num / den` of big integers, or `None` if `den` is 0.
    #[must_use]
    pub fn from_parts(num: IBig, den: UBig) -> Option<Self> {
        if den == UBig::ZERO {
            return None;
        }
        Some(Self::from_big(RBig::from_parts(num, den)))
    }

    /// Numerator and denominator of the reduced fraction; the denominator is positive.
    #[must_use]
    pub fn to_parts(&self) -> (IBig, UBig) {
        match &self.0 {
            Repr::Small { num, den } => (IBig::from(*num), UBig::from(den.get())),
            Repr::Big(big) => (big.numerator().clone(), big.denominator().clone()),
        }
    }

    /// Numerator and denominator if both fit machine integers (no allocation).
    #[must_use]
    #[inline]
    pub fn to_small_parts(&self) -> Option<(i64, u64)> {
        match &self.0 {
            Repr::Small { num, den } => Some((*num, den.get())),
            Repr::Big(_) => None,
        }
    }

    /// Returns whether the number is an integer.
    #[must_use]
    #[inline]
    pub fn is_integer(&self) -> bool {
        match &self.0 {
            Repr::Small { den, .. } => *den == UNIT,
            Repr::Big(big) => big.is_int(),
        }
    }

    /// Returns whether the number is 0.
    #[must_use]
    #[inline]
    pub fn is_zero(&self) -> bool {
        matches!(self.0, Repr::Small { num: 0, .. })
    }

    /// The number as a machine integer, if it is one.
    #[must_use]
    #[inline]
    pub fn to_i64(&self) -> Option<i64> {
        match &self.0 {
            Repr::Small { num, den } if *den == UNIT => Some(*num),
            _ => None,
        }
    }

    /// -1, 0 or 1.
    #[must_use]
    #[inline]
    pub fn signum(&self) -> i32 {
        match &self.0 {
            Repr::Small { num, .. } => i32::from(*num > 0) - i32::from(*num < 0),
            Repr::Big(big) if big.is_negative() => -1,
            Repr::Big(_) => 1,
        }
    }

    /// The absolute value.
    #[must_use]
    pub fn abs(&self) -> Self {
        if self.signum() < 0 { -self } else { self.clone() }
    }

    /// The largest integer that is not above the number.
    #[must_use]
    pub fn floor(&self) -> Self {
        match &self.0 {
            Repr::Small { den, .. } if *den == UNIT => self.clone(),
            // The quotient of an i64 by at least 2 fits an i64.
            Repr::Small { num, den } => {
                Self::from_i128(i128::from(*num).div_euclid(i128::from(den.get())))
            }
            Repr::Big(big) => Self::from(big.floor()),
        }
    }

    /// The smallest integer that is not below the number.
    #[must_use]
    pub fn ceil(&self) -> Self {
        -(-self).floor()
    }

    /// The integer part: rounded towards 0.
    #[must_use]
    pub fn trunc(&self) -> Self {
        if self.signum() < 0 { self.ceil() } else { self.floor() }
    }

    /// `self / divisor`, or `None` if the divisor is 0.
    #[must_use]
    pub fn checked_div(&self, divisor: &Rational) -> Option<Self> {
        Some(self * &divisor.recip()?)
    }

    /// `1 / self`, or `None` for 0.
    #[must_use]
    pub fn recip(&self) -> Option<Self> {
        match &self.0 {
            Repr::Small { num, den } => {
                let magnitude = NonZeroU64::new(num.unsigned_abs())?;
                let signed = i128::from(den.get()) * i128::from(num.signum());
                Some(Self::from_reduced(signed, magnitude))
            }
            Repr::Big(big) => {
                let (num, den) = (**big).clone().into_parts();
                Some(Self::from_big(RBig::from_parts_signed(den.into(), num)))
            }
        }
    }

    /// The mathematical modulus, in `[0, |modulus|)`; `None` if the modulus is 0.
    #[must_use]
    pub fn modulus(&self, modulus: &Rational) -> Option<Self> {
        if let (Some(a), Some(m)) = (self.to_i64(), modulus.to_i64()) {
            return i128::from(a).checked_rem_euclid(i128::from(m)).map(Self::from_i128);
        }
        let m = modulus.abs();
        let quotient = self.checked_div(&m)?.floor();
        Some(self - &(&m * &quotient))
    }

    /// `self` to an integer power. `None` for a negative power of 0, and when the result would
    /// have more than 2²⁶ bits.
    #[must_use]
    pub fn pow(&self, exponent: i32) -> Option<Self> {
        let base = if exponent < 0 { self.recip()? } else { self.clone() };
        let bits = base.bit_len().saturating_mul(u64::from(exponent.unsigned_abs()));
        if base.bit_len() > 1 && bits > POW_MAX_BITS {
            return None;
        }
        let mut result = Self::ONE;
        let mut square = base;
        let mut rest = exponent.unsigned_abs();
        while rest > 0 {
            if rest & 1 == 1 {
                result = &result * &square;
            }
            rest >>= 1;
            if rest > 0 {
                square = &square * &square;
            }
        }
        Some(result)
    }

    /// The smaller of two numbers.
    #[must_use]
    pub fn min(self, other: Self) -> Self {
        std::cmp::Ord::min(self, other)
    }

    /// The larger of two numbers.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        std::cmp::Ord::max(self, other)
    }

    /// Bits of the larger one of numerator and denominator.
    #[must_use]
    pub fn bit_len(&self) -> u64 {
        use dashu::base::BitTest;
        let (num, den) = self.to_parts();
        u64::try_from(num.bit_len().max(den.bit_len())).unwrap_or(u64::MAX)
    }

    /// Any 128-bit integer.
    fn from_i128(value: i128) -> Self {
        Self::from_reduced(value, UNIT)
    }

    /// A fraction that is reduced already.
    #[inline]
    fn from_reduced(num: i128, den: NonZeroU64) -> Self {
        match i64::try_from(num) {
            Ok(num) => Rational(Repr::Small { num, den }),
            Err(_) => Self::from_big(RBig::from_parts(num.into(), den.get().into())),
        }
    }

    /// A fraction that may have common divisors.
    fn from_reducible(num: i128, den: NonZeroU64) -> Self {
        let rest = num.unsigned_abs() % u128::from(den.get());
        let divisor = gcd(u64::try_from(rest).unwrap_or(0), den);
        Self::from_reduced(num / i128::from(divisor.get()), divide(den, divisor))
    }

    /// The canonical form of a big fraction.
    fn from_big(big: RBig) -> Self {
        match (i64::try_from(big.numerator()), u64::try_from(big.denominator())) {
            (Ok(num), Ok(den)) => match NonZeroU64::new(den) {
                Some(den) => Rational(Repr::Small { num, den }),
                None => Rational(Repr::Big(Box::new(big))),
            },
            _ => Rational(Repr::Big(Box::new(big))),
        }
    }

    /// The big form, whatever the size.
    fn to_big(&self) -> RBig {
        match &self.0 {
            Repr::Small { num, den } => RBig::from_parts((*num).into(), den.get().into()),
            Repr::Big(big) => (**big).clone(),
        }
    }
}

/// Greatest common divisor; `gcd(0, b) = b`.
#[inline]
fn gcd(a: u64, b: NonZeroU64) -> NonZeroU64 {
    let Some(a) = NonZeroU64::new(a) else { return b };
    if b == UNIT || a == UNIT {
        return UNIT;
    }
    let shift = (a.get() | b.get()).trailing_zeros();
    let mut a = a.get() >> a.trailing_zeros();
    let mut b = b.get() >> b.trailing_zeros();
    while a != b {
        if a > b {
            std::mem::swap(&mut a, &mut b);
        }
        b -= a;
        b >>= b.trailing_zeros();
    }
    NonZeroU64::new(a << shift).unwrap_or(UNIT)
}

/// Exact quotient of a number by one of its divisors.
#[inline]
fn divide(a: NonZeroU64, divisor: NonZeroU64) -> NonZeroU64 {
    NonZeroU64::new(a.get() / divisor.get()).unwrap_or(UNIT)
}

impl Default for Rational {
    fn default() -> Self {
        Self::ZERO
    }
}

impl From<i64> for Rational {
    #[inline]
    fn from(value: i64) -> Self {
        Self::integer(value)
    }
}

impl From<i32> for Rational {
    #[inline]
    fn from(value: i32) -> Self {
        Self::integer(i64::from(value))
    }
}

impl From<IBig> for Rational {
    fn from(value: IBig) -> Self {
        Self::from_big(RBig::from(value))
    }
}
