//! Values of options that need reading: constants, times, sizes.

use std::time::Duration;

use policert_numeric::Rational;
use policert_outcome::decimal;

/// Values for constants, from `N=3,M=0.5,flag=true`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Constants(pub Vec<(String, String)>);

impl Constants {
    /// Reads `NAME=VALUE` parts between commas. Blanks around parts do not count.
    ///
    /// # Errors
    /// The fault of the text, for the user.
    pub fn read(text: &str) -> Result<Self, String> {
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        let pairs: Result<Vec<_>, String> = parts
            .map(|part| match part.split_once('=') {
                Some((name, value)) if !name.trim().is_empty() && !value.trim().is_empty() => {
                    Ok((name.trim().to_owned(), value.trim().to_owned()))
                }
                _ => Err(format!("`{part}` is not of the form NAME=VALUE")),
            })
            .collect();
        match pairs? {
            pairs if pairs.is_empty() => Err("no NAME=VALUE is given".to_owned()),
            pairs => Ok(Self(pairs)),
        }
    }
}

/// Reads a time: parts such as `1h`, `30m`, `90s`, `200ms`, in this order, or a number of
/// seconds.
///
/// # Errors
/// The fault of the text, for the user.
pub fn duration(text: &str) -> Result<Duration, String> {
    const UNITS: [(&str, f64); 4] = [("h", 3600.0), ("m", 60.0), ("s", 1.0), ("ms", 0.001)];
    let wrong = || format!("`{text}` is no time such as 90s, 10m or 1h30m");
    if let Ok(seconds) = text.parse() {
        return Duration::try_from_secs_f64(seconds).map_err(|_| wrong());
    }
    let (mut rest, mut units, mut total) = (text, &UNITS[..], Duration::ZERO);
    while !rest.is_empty() {
        let (number, unit, after) = number_and_unit(rest).ok_or_else(wrong)?;
        let at = units.iter().position(|(name, _)| *name == unit).ok_or_else(wrong)?;
        let part = Duration::try_from_secs_f64(number * units[at].1).map_err(|_| wrong())?;
        total = total.checked_add(part).ok_or_else(wrong)?;
        (rest, units) = (after, &units[at + 1..]);
    }
    if text.is_empty() { Err(wrong()) } else { Ok(total) }
}

/// Reads a decimal number or a fraction such as `1/3`, exactly.
///
/// # Errors
/// The fault of the text, for the user.
pub fn exact_number(text: &str) -> Result<Rational, String> {
    text.trim().parse().map_err(|_| format!("`{text}` is no number such as 0.25 or 1/3"))
}

/// Reads a probability, exactly.
///
/// # Errors
/// The fault of the text, for the user.
pub fn probability(text: &str) -> Result<Rational, String> {
    decimal::parse(text)
        .filter(|p| (Rational::ZERO..=Rational::ONE).contains(p))
        .ok_or_else(|| format!("`{text}` is no decimal number from 0 to 1"))
}

/// Reads the width of an interval for a probability.
///
/// # Errors
/// The fault of the text, for the user.
pub fn precision(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|width| *width > 0.0 && *width <= 1.0)
        .ok_or_else(|| format!("`{text}` is no number above 0 and up to 1"))
}

/// Splits `1.5h30m` into 1.5, `h` and `30m`.
fn number_and_unit(text: &str) -> Option<(f64, &str, &str)> {
    let digits = |c: char| c.is_ascii_digit() || c == '.';
    let unit = text.find(|c| !digits(c))?;
    let after = text[unit..].find(digits).map_or(text.len(), |at| unit + at);
    Some((text[..unit].parse().ok()?, &text[unit..after], &text[after..]))
}

/// An amount of memory in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemorySize(pub u64);

impl MemorySize {
    /// Reads `500MB`, `4GB` (powers of 1000) or `4GiB` (powers of 1024); `4G` is `4GB`.
    ///
    /// # Errors
    /// The fault of the text, for the user.
    pub fn read(text: &str) -> Result<Self, String> {
        const UNITS: [(&str, u32); 13] = [
            ("K", 1000),
            ("M", 1_000_000),
            ("G", 1_000_000_000),
            ("KB", 1000),
            ("MB", 1_000_000),
            ("GB", 1_000_000_000),
            ("KIB", 1 << 10),
            ("MIB", 1 << 20),
            ("GIB", 1 << 30),
            ("B", 1),
            ("KI", 1 << 10),
            ("MI", 1 << 20),
            ("GI", 1 << 30),
        ];
        let wrong = || format!("`{text}` is no size such as 500MB or 4GB");
        let (number, unit, rest) = number_and_unit(text).ok_or_else(wrong)?;
        let unit = unit.trim().to_uppercase();
        let (_, factor) = UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(wrong)?;
        let bytes = number * f64::from(*factor);
        if !rest.is_empty() || !(1.0..1e18).contains(&bytes) {
            return Err(wrong());
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "checked to lie between 1 and 10^18; a fraction of a byte does not matter"
        )]
        let bytes = bytes as u64;
        Ok(Self(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        let seconds = |text| duration(text).map(|time| time.as_secs_f64());
        assert_eq!(seconds("90"), Ok(90.0));
        assert_eq!(seconds("90s"), Ok(90.0));
        assert_eq!(seconds("1h"), Ok(3600.0));
        assert_eq!(seconds("1h30m"), Ok(5400.0));
        assert_eq!(seconds("1.5m"), Ok(90.0));
        assert_eq!(seconds("250ms"), Ok(0.25));
        for text in ["", "h", "1x", "1m1h", "-1", "1h-", "inf", "1e400", "NaN"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes() {
        let bytes = |text| MemorySize::read(text).map(|size| size.0);
        assert_eq!(bytes("500MB"), Ok(500_000_000));
        assert_eq!(bytes("4GB"), Ok(4_000_000_000));
        assert_eq!(bytes("4g"), Ok(4_000_000_000));
        assert_eq!(bytes("1.5 GiB"), Ok(3 << 29));
        for text in ["", "4", "GB", "4TB4", "0MB", "-1MB", "99999999999GB"] {
            assert!(MemorySize::read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn constants() {
        let pairs = |text| Constants::read(text).map(|constants| constants.0);
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(pairs("N=3"), Ok(vec![pair("N", "3")]));
        assert_eq!(pairs("N=3, b=true"), Ok(vec![pair("N", "3"), pair("b", "true")]));
        assert_eq!(pairs("a-b=-1"), Ok(vec![pair("a-b", "-1")]));
        for text in ["", "N", "=3", "N=", ","] {
            assert!(pairs(text).is_err(), "{text}");
        }
    }
}
