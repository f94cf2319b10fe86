//! A probability as written: an exact decimal number.

use serde_json::{Number, Value};

use crate::GenerateError;

/// A decimal number from 0 to 1, kept as it was written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DecimalProbability(Number);

impl DecimalProbability {
    /// Reads `0`, `1` or a number between them such as `0.25`.
    ///
    /// # Errors
    /// Anything else; `what` is named then.
    pub fn read(what: &'static str, text: &str) -> Result<Self, GenerateError> {
        let error = || GenerateError::Probability { what, given: text.to_owned() };
        let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
        let digits = !fraction.is_empty() && fraction.len() <= 15;
        let digits = digits && fraction.bytes().all(|byte| byte.is_ascii_digit());
        let is_zero = fraction.bytes().all(|byte| byte == b'0');
        if !digits || !(whole == "0" || whole == "1" && is_zero) {
            return Err(error());
        }
        let written = if is_zero { whole.to_owned() } else { text.to_owned() };
        written.parse().map(Self).map_err(|_| error())
    }

    /// Returns whether it is 0.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.0.to_string() == "0"
    }

    /// The denominator of [`Self::parts`].
    pub(crate) const PARTS: i64 = 1_000_000_000_000_000;

    /// In parts of [`Self::PARTS`], exactly.
    pub(crate) fn parts(&self) -> i64 {
        let written = self.0.to_string();
        let (whole, fraction) = written.split_once('.').unwrap_or((&written, "0"));
        let fraction = format!("{fraction:0<15}").parse().unwrap_or(0);
        if whole == "1" { Self::PARTS } else { fraction }
    }

    /// As a JSON number.
    #[must_use]
    pub(crate) fn value(&self) -> Value {
        Value::Number(self.0.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_from_0_to_1() {
        for text in ["0", "1", "0.5", "1.0", "0.125"] {
            assert!(DecimalProbability::read("p", text).is_ok(), "{text}");
        }
        for text in ["", "1.1", "-0.5", "2", ".5", "0.", "1e-3", "NaN", "0.5x"] {
            assert!(DecimalProbability::read("p", text).is_err(), "{text}");
        }
        let parts = |text| DecimalProbability::read("p", text).expect("a probability").parts();
        assert_eq!(
            ["0", "0.25", "1"].map(parts),
            [0, 250_000_000_000_000, DecimalProbability::PARTS]
        );
        assert!(DecimalProbability::read("p", "0.00").expect("0").is_zero());
    }
}
