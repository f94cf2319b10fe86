//! A probability that a user names.

use std::fmt;
use std::str::FromStr;

use policert_numeric::Rational;
use serde::{Deserialize, Serialize};

/// A probability above 0, as an exact fraction: `0.05` or `1/20`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Share {
    numerator: i64,
    denominator: u64,
}

impl Share {
    /// The number.
    #[must_use]
    pub fn value(self) -> Rational {
        // The denominator is not 0.
        Rational::from_parts(self.numerator.into(), self.denominator.into()).unwrap_or_default()
    }
}

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let value: Option<Rational> = text.parse().ok();
        let probable = value.filter(|value| value.signum() > 0 && *value <= Rational::ONE);
        let parts = probable.and_then(|value| value.to_small_parts());
        parts.map(|(numerator, denominator)| Self { numerator, denominator }).ok_or_else(|| {
            format!(
                "`{text}` is no probability above 0, such as 0.05 or 1/20, of numerator and \
                 denominator in 64 bits"
            )
        })
    }
}

impl TryFrom<String> for Share {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Share> for String {
    fn from(share: Share) -> Self {
        share.to_string()
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_exact() {
        for (text, shown) in [("0.05", "1/20"), ("1/3", "1/3"), ("1", "1"), ("1e-3", "1/1000")] {
            assert_eq!(text.parse::<Share>().expect(text).to_string(), shown);
        }
        for text in ["0", "-0.5", "1.01", "nan", "", "1e-40"] {
            assert!(text.parse::<Share>().is_err(), "{text}");
        }
    }
}
