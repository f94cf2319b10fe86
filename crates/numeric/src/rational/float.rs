//! Rationals from and to floating-point numbers.

use dashu::integer::{IBig, UBig};

use super::Rational;

/// Every integer of at most this magnitude is an f64.
const MAX_EXACT_INTEGER: u64 = 1 << 53;

impl Rational {
    /// The exact value of a double; `None` for NaN and infinities.
    #[must_use]
    pub fn from_f64(value: f64) -> Option<Self> {
        let (mantissa, exponent) = crate::dyadic::dyadic_parts(value)?;
        Some(Self::dyadic(mantissa, exponent))
    }

    /// The exact value of a single-precision number; `None` for NaN and infinities.
    #[must_use]
    pub fn from_f32(value: f32) -> Option<Self> {
        Self::from_f64(f64::from(value))
    }

    /// `mantissa * 2^exponent`.
    #[must_use]
    fn dyadic(mantissa: i64, exponent: i32) -> Self {
        if (0..63).contains(&exponent) {
            if let Some(value) = mantissa.checked_mul(1i64 << exponent) {
                return Self::integer(value);
            }
        } else if (-62..0).contains(&exponent)
            && let Some(value) = Self::new(mantissa, 1i64 << -exponent)
        {
            return value;
        }
        let shift = usize::try_from(exponent.unsigned_abs()).unwrap_or(0);
        if exponent >= 0 {
            return Self::from(IBig::from(mantissa) << shift);
        }
        let den = UBig::ONE << shift;
        Self::from_parts(IBig::from(mantissa), den).unwrap_or(Self::ZERO)
    }

    /// The nearest double (ties to even); values beyond the range become infinite.
    #[must_use]
    #[inline]
    #[expect(clippy::cast_precision_loss, reason = "both integers are exact doubles here")]
    pub fn to_f64(&self) -> f64 {
        if let Some((num, den)) = self.to_small_parts()
            && num.unsigned_abs() <= MAX_EXACT_INTEGER
            && den <= MAX_EXACT_INTEGER
        {
            return num as f64 / den as f64;
        }
        self.to_big().to_f64().value()
    }

    /// The nearest number in single precision (ties to even); values beyond the range become infinite.
    #[must_use]
    pub fn to_f32(&self) -> f32 {
        self.to_big().to_f32().value()
    }

    /// The tightest doubles around the number: `lo <= self <= hi`, equal if it is a double.
    #[must_use]
    pub fn to_f64_interval(&self) -> (f64, f64) {
        let near = self.to_f64();
        match Self::from_f64(near) {
            None if near > 0.0 => (f64::MAX, f64::INFINITY),
            None => (f64::NEG_INFINITY, -f64::MAX),
            Some(value) => match value.cmp(self) {
                std::cmp::Ordering::Equal => (near, near),
                std::cmp::Ordering::Less => (near, near.next_up()),
                std::cmp::Ordering::Greater => (near.next_down(), near),
            },
        }
    }
}
