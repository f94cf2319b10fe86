//! How a library compares an input with a threshold.

use std::fmt;

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
        #[expect(clippy::cast_precision_loss, reason = "the library rounds")]
        match self.precision {
            // In one step: over double precision it could round twice.
            Precision::Single => self.holds(f64::from(input as f32)),
            Precision::Double => self.holds(input as f64),
        }
    }

    /// The integers, in ascending pieces in each of which the rule has one answer: the last integer
    /// of the piece and the answer. The last piece ends with `i64::MAX`.
    #[must_use]
    pub fn pieces(&self) -> Vec<(i64, bool)> {
        // Rounding is monotone, so each of these holds for the integers up to a last one.
        let below = |comparison| Self { comparison, missing: Missing::IsZero, ..*self };
        let mut ends = vec![
            last(|x| below(RuleComparison::Less).holds_at(x)),
            last(|x| below(RuleComparison::LessEqual).holds_at(x)),
            Some(i64::MAX),
        ];
        if matches!(self.missing, Missing::Zero(_)) {
            ends.extend([Some(-1), Some(0)]);
        }
        let mut ends: Vec<i64> = ends.into_iter().flatten().collect();
        ends.sort_unstable();
        ends.dedup();
        let mut pieces: Vec<(i64, bool)> = Vec::with_capacity(ends.len());
        for end in ends {
            let answer = self.holds_at(end);
            match pieces.last_mut() {
                Some(piece) if piece.1 == answer => piece.0 = end,
                _ => pieces.push((end, answer)),
            }
        }
        pieces
    }
}

/// The last integer for which a condition holds that holds below any integer for which it does;
/// `None` if it holds for none.
fn last(holds: impl Fn(i64) -> bool) -> Option<i64> {
    let (mut low, mut high) = (i64::MIN, i64::MAX);
    if !holds(low) {
        return None;
    }
    while low < high {
        // Between the two, rounded up.
        let middle = i64::try_from((i128::from(low) + i128::from(high) + 1).div_euclid(2));
        let middle = middle.unwrap_or(high);
        if holds(middle) { low = middle } else { high = middle - 1 }
    }
    Some(low)
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
