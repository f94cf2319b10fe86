//! Doubles as integers times powers of two.

/// The odd mantissa and the exponent of a finite double, `mantissa · 2^exponent`; `(0, 0)` for 0,
/// `None` for NaN and infinities.
#[must_use]
pub fn dyadic_parts(value: f64) -> Option<(i64, i32)> {
    if !value.is_finite() {
        return None;
    }
    let bits = value.abs().to_bits();
    let fraction = bits & ((1 << 52) - 1);
    let (mantissa, exponent) = match i32::try_from(bits >> 52).ok()? {
        0 => (fraction, -1074),
        biased => (fraction | (1 << 52), biased - 1075),
    };
    if mantissa == 0 {
        return Some((0, 0));
    }
    let zeros = mantissa.trailing_zeros();
    let mantissa = i64::try_from(mantissa >> zeros).ok()?;
    let exponent = exponent + i32::try_from(zeros).ok()?;
    Some((if value < 0.0 { -mantissa } else { mantissa }, exponent))
}

/// `2^exponent` if that is a normal double.
#[must_use]
pub fn power_of_two(exponent: i32) -> Option<f64> {
    let biased = exponent.checked_add(1023)?;
    let biased = u64::try_from(biased).ok()?;
    (1..=2046).contains(&biased).then(|| f64::from_bits(biased << 52))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts() {
        assert_eq!(dyadic_parts(0.0), Some((0, 0)));
        assert_eq!(dyadic_parts(-0.0), Some((0, 0)));
        assert_eq!(dyadic_parts(-6.0), Some((-3, 1)));
        assert_eq!(dyadic_parts(0.75), Some((3, -2)));
        assert_eq!(dyadic_parts(f64::from_bits(1)), Some((1, -1074)));
        assert_eq!(dyadic_parts(f64::MIN_POSITIVE), Some((1, -1022)));
        assert_eq!(dyadic_parts(f64::MAX), Some(((1 << 53) - 1, 971)));
        assert_eq!(dyadic_parts(f64::NAN), None);
        assert_eq!(dyadic_parts(f64::NEG_INFINITY), None);
    }

    #[test]
    fn powers() {
        assert_eq!(power_of_two(0), Some(1.0));
        assert_eq!(power_of_two(-1022), Some(f64::MIN_POSITIVE));
        assert_eq!(power_of_two(1023), Some(8.98846567431158e307));
        assert_eq!(power_of_two(-1023), None);
        assert_eq!(power_of_two(1024), None);
        assert_eq!(power_of_two(i32::MAX), None);
    }
}
