//! Rationals from and to text.

use std::fmt;
use std::str::FromStr;

use dashu::integer::{IBig, UBig};

use super::{Rational, Repr};

/// Decimal exponents beyond this are refused.
const MAX_EXPONENT: i64 = 10_000;
/// Numbers with more digits than this are refused.
const MAX_DIGITS: usize = 100_000;

impl Rational {
    /// The exact value of a decimal number as JSON writes it, e.g. `-1.5e-3`. Leading zeros, a
    /// leading `+` and a missing digit on one side of the point are accepted as well.
    ///
    /// `None` for other text, for exponents beyond ±10 000 and for more than 100 000 digits.
    #[must_use]
    pub fn parse_decimal(text: &str) -> Option<Self> {
        let (negative, rest) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        let (mantissa, exponent) = match rest.find(['e', 'E']) {
            Some(at) => (&rest[..at], parse_exponent(&rest[at + 1..])?),
            None => (rest, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = whole.len() + fraction.len();
        if digits == 0 || digits > MAX_DIGITS {
            return None;
        }
        if !whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let scale = exponent - i64::try_from(fraction.len()).ok()?;
        if digits <= 18 && (-18..=0).contains(&scale) {
            let all = whole.bytes().chain(fraction.bytes());
            let magnitude = all.fold(0i64, |value, byte| value * 10 + i64::from(byte - b'0'));
            let den = 10i64.pow(u32::try_from(-scale).ok()?);
            return Self::new(if negative { -magnitude } else { magnitude }, den);
        }
        let magnitude = UBig::from_str_radix(&format!("{whole}{fraction}"), 10).ok()?;
        let power = UBig::from(10u8).pow(usize::try_from(scale.unsigned_abs()).ok()?);
        let (num, den) =
            if scale >= 0 { (magnitude * power, UBig::ONE) } else { (magnitude, power) };
        let num = if negative { -IBig::from(num) } else { IBig::from(num) };
        Self::from_parts(num, den)
    }
}

fn parse_exponent(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let significant = digits.trim_start_matches('0');
    let magnitude = if significant.is_empty() { 0 } else { significant.parse::<i64>().ok()? };
    let exponent = if text.starts_with('-') { -magnitude } else { magnitude };
    (magnitude <= MAX_EXPONENT).then_some(exponent)
}

/// Text that is neither a decimal number nor a fraction of two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseRationalError;

impl fmt::Display for ParseRationalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a decimal number or a fraction of two")
    }
}

impl std::error::Error for ParseRationalError {}

impl FromStr for Rational {
    type Err = ParseRationalError;

    /// Reads a decimal number or a fraction of two: what [`fmt::Display`] writes, and more.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parsed = match text.split_once('/') {
            None => Self::parse_decimal(text),
            Some((num, den)) => Self::parse_decimal(num)
                .zip(Self::parse_decimal(den))
                .and_then(|(num, den)| num.checked_div(&den)),
        };
        parsed.ok_or(ParseRationalError)
    }
}

impl fmt::Display for Rational {
    /// `3`, `-2/3`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match &self.0 {
            Repr::Small { num, den } if den.get() == 1 => num.to_string(),
            Repr::Small { num, den } => format!("{num}/{den}"),
            Repr::Big(big) if big.is_int() => big.numerator().to_string(),
            Repr::Big(big) => format!("{}/{}", big.numerator(), big.denominator()),
        };
        f.pad(&text)
    }
}

impl fmt::Debug for Rational {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
