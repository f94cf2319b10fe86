//! Rationals as decimal numbers: read, and written rounded.

use policert_numeric::Rational;

/// Reads a decimal number, exactly.
#[must_use]
pub fn parse(text: &str) -> Option<Rational> {
    Rational::parse_decimal(text.trim())
}

/// Significant digits of bounds: more than doubles have.
const DIGITS: i32 = 18;

/// A lower and an upper bound as decimals, rounded outwards.
#[must_use]
pub fn outward(lower: &Rational, upper: &Rational) -> [String; 2] {
    let places = |bound: &Rational| match bound.is_zero() {
        true => 0,
        false => places_for(bound, DIGITS).min(400),
    };
    let (lo_places, hi_places) = (places(lower), places(upper));
    [
        decimal(&rounded_down(lower, lo_places), lo_places),
        decimal(&rounded_up(upper, hi_places), hi_places),
    ]
}

/// The exact decimal of a number; `None` if it has more than `max_digits` digits, or no end.
#[must_use]
pub fn exact_decimal(number: &Rational, max_digits: usize) -> Option<String> {
    let mut scaled = number.clone();
    for places in 0..=max_digits {
        if scaled.is_integer() {
            let text = placed(&scaled, places);
            return (text.bytes().filter(u8::is_ascii_digit).count() <= max_digits).then_some(text);
        }
        scaled *= &Rational::integer(10);
    }
    None
}

/// The nearest number with this many decimal places.
#[must_use]
pub fn rounded(number: &Rational, places: usize) -> Rational {
    let scale = power_of_ten(places);
    let integer = (&(number * &scale) + &half()).floor();
    &integer * &scale.recip().unwrap_or_default()
}

/// The greatest number with this many decimal places that is not above.
#[must_use]
pub fn rounded_down(number: &Rational, places: usize) -> Rational {
    let scale = power_of_ten(places);
    &(number * &scale).floor() * &scale.recip().unwrap_or_default()
}

/// The least number with this many decimal places that is not below.
#[must_use]
pub fn rounded_up(number: &Rational, places: usize) -> Rational {
    -rounded_down(&-number, places)
}

/// 1/2.
#[must_use]
pub fn half() -> Rational {
    Rational::new(1, 2).unwrap_or_default()
}

/// Decimal places that leave about `digits` significant digits of a number.
#[must_use]
pub fn places_for(number: &Rational, digits: i32) -> usize {
    let magnitude = number.abs().to_f64().clamp(f64::MIN_POSITIVE, f64::MAX).log10().floor();
    #[expect(clippy::cast_possible_truncation, reason = "between -308 and 308")]
    let magnitude = magnitude as i32;
    usize::try_from(digits - 1 - magnitude).unwrap_or(0)
}

/// A number with at most this many decimal places as a decimal, without zeros at its end.
#[must_use]
pub fn decimal(number: &Rational, places: usize) -> String {
    let text = placed(&(number * &power_of_ten(places)), places);
    if places == 0 {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn power_of_ten(exponent: usize) -> Rational {
    (0..exponent).fold(Rational::ONE, |power, _| power * Rational::integer(10))
}

/// The digits of an integer with a point before the last `places`.
fn placed(integer: &Rational, places: usize) -> String {
    let text = integer.to_string();
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text.as_str()),
    };
    if places == 0 {
        return text;
    }
    let digits = format!("{digits:0>width$}", width = places + 1);
    let (whole, fraction) = digits.split_at(digits.len() - places);
    format!("{sign}{whole}.{fraction}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Rational {
        text.parse().expect("a number")
    }

    #[test]
    fn exact_decimals() {
        for text in ["0", "7", "-12", "0.5", "-0.0625", "1200.34", "0.000000000000000000001"] {
            assert_eq!(exact_decimal(&number(text), 60).as_deref(), Some(text));
        }
        assert_eq!(exact_decimal(&number("1/1024"), 60).as_deref(), Some("0.0009765625"));
        assert_eq!(exact_decimal(&number("1/3"), 60), None);
        assert_eq!(exact_decimal(&number("1/1024"), 10), None);
        assert_eq!(exact_decimal(&number("1e10"), 10), None);
    }

    #[test]
    fn rounding() {
        for (text, places, expected) in [
            ("1/3", 3, "0.333"),
            ("-2/3", 3, "-0.667"),
            ("1/8", 2, "0.13"),
            ("2", 5, "2"),
            ("1/3", 0, "0"),
            ("1200", 2, "1200"),
            ("99.996", 2, "100"),
        ] {
            let rounded = rounded(&number(text), places);
            assert_eq!(decimal(&rounded, places), expected, "{text}");
        }
        assert_eq!(rounded_down(&number("2/3"), 2), number("0.66"));
        assert_eq!(rounded_up(&number("2/3"), 2), number("0.67"));
        assert_eq!(rounded_up(&number("1/4"), 2), number("0.25"));
        assert_eq!(places_for(&number("1234.5"), 6), 2);
        assert_eq!(places_for(&number("1/3000"), 6), 9);
        assert_eq!(places_for(&number("1e12"), 6), 0);
        assert_eq!(places_for(&number("0"), 6), 313);
    }

    #[test]
    fn bounds_are_rounded_outwards() {
        let third = number("1/3");
        let [lo, hi] = outward(&third, &third);
        assert_eq!((lo.as_str(), hi.as_str()), ("0.333333333333333333", "0.333333333333333334"));
        let tiny = outward(&Rational::ZERO, &number("1e-30"));
        assert_eq!(tiny, ["0".to_owned(), format!("0.{}1", "0".repeat(29))]);
        assert_eq!(outward(&number("1/2"), &number("1/2")), ["0.5", "0.5"]);
        assert_eq!(outward(&Rational::ZERO, &Rational::ONE), ["0", "1"]);
    }
}
