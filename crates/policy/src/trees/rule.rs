//! How a library compares an input with a threshold.

use std::fmt;

use super::column::change;

/// The precision in which the input is compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Precision {
    /// The input is rounded to single precision first.
    Single,
    /// Double precision.
    Double,
}

/// The comparison of input and threshold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RuleComparison {
    /// `x < t`.
    Less,
    /// `x ≤ t`.
    LessEqual,
    /// `x > t`.
    Greater,
    /// `x ≥ t`.
    GreaterEqual,
    /// `x = t`.
    Equal,
    /// `x ≠ t`.
    NotEqual,
}

/// The treatment of inputs that count as missing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Missing {
    /// NaN goes by this answer.
    NotANumber(bool),
    /// NaN and zero (at most [`Rule::ZERO`] in magnitude) go by this answer.
    Zero(bool),
    /// NaN is read as zero and compared.
    IsZero,
}

/// The question of an inner node; where it holds, the left (or "true") branch is taken.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rule {
    /// The comparison.
    pub comparison: RuleComparison,
    /// The threshold.
    pub threshold: f64,
    /// The precision of the input.
    pub precision: Precision,
    /// The treatment of missing inputs, and which values those are.
    pub missing: Missing,
}

impl Rule {
    /// The greatest magnitude that LightGBM takes for zero.
    pub const ZERO: f64 = 1e-35_f32 as f64;

    /// Returns whether the rule holds for an input.
    #[must_use]
    pub fn holds(&self, input: f64) -> bool {
        let mut x = match self.precision {
            #[expect(clippy::cast_possible_truncation, reason = "the library rounds")]
            Precision::Single => f64::from(input as f32),
            Precision::Double => input,
        };
        match self.missing {
            Missing::NotANumber(answer) if x.is_nan() => return answer,
            Missing::Zero(answer) if x.is_nan() || x.abs() <= Self::ZERO => return answer,
            Missing::IsZero if x.is_nan() => x = 0.0,
            _ => {}
        }
        let t = self.threshold;
        match self.comparison {
            RuleComparison::Less => x < t,
            RuleComparison::LessEqual => x <= t,
            RuleComparison::Greater => x > t,
            RuleComparison::GreaterEqual => x >= t,
            #[expect(clippy::float_cmp, reason = "as the library does")]
            RuleComparison::Equal => x == t,
            #[expect(clippy::float_cmp, reason = "as the library does")]
            RuleComparison::NotEqual => x != t,
        }
    }

    /// Returns whether the rule holds for an integer.
    #[must_use]
    pub fn holds_at(&self, input: i64) -> bool {
        self.holds(self.read(input))
    }

    /// Returns an integer in the precision of the input.
    fn read(&self, input: i64) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "the library rounds")]
        match self.precision {
            // In one step: over double precision it could round twice.
            Precision::Single => f64::from(input as f32),
            Precision::Double => input as f64,
        }
    }

    /// The integers, in ascending pieces in each of which the rule has one answer: the last integer
    /// of the piece and the answer. The last piece ends with `i64::MAX`.
    #[must_use]
    pub fn pieces(&self) -> Vec<(i64, bool)> {
        // Rounding is monotone.
        self.pieces_of(&[i64::MAX], i64::MIN, |x| self.read(x))
    }

    /// Returns the integers from `first` on in such pieces, for the values of a function that is monotone
    /// from each of `ends` to the next one.
    pub(super) fn pieces_of(
        &self,
        ends: &[i64],
        first: i64,
        value: impl Fn(i64) -> f64,
    ) -> Vec<(i64, bool)> {
        let mut thresholds = vec![self.threshold];
        if matches!(self.missing, Missing::Zero(_)) {
            thresholds.extend([-Self::ZERO, Self::ZERO]);
        }
        let mut finer = Vec::new();
        let mut first = first;
        for &last in ends {
            for &threshold in &thresholds {
                finer.extend(change(first, last, |x| value(x) < threshold));
                finer.extend(change(first, last, |x| value(x) <= threshold));
            }
            finer.push(last);
            first = last.saturating_add(1);
        }
        finer.sort_unstable();
        finer.dedup();
        let mut pieces: Vec<(i64, bool)> = Vec::with_capacity(finer.len());
        for end in finer {
            let answer = self.holds(value(end));
            match pieces.last_mut() {
                Some(piece) if piece.1 == answer => piece.0 = end,
                _ => pieces.push((end, answer)),
            }
        }
        pieces
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = match self.comparison {
            RuleComparison::Less => "<",
            RuleComparison::LessEqual => "≤",
            RuleComparison::Greater => ">",
            RuleComparison::GreaterEqual => "≥",
            RuleComparison::Equal => "=",
            RuleComparison::NotEqual => "≠",
        };
        write!(f, "{sign} {}", self.threshold)
    }
}
