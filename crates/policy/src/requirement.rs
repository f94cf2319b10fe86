//! What bounds of scores say about a choice: when a label is chosen nowhere in a box.

use policert_numeric::{Rational, elementary};

use crate::policy::Policy;
use crate::sampling::Law;
use crate::semantics::{ChoiceRule, PolicySemantics, ScoreComparison, Ties};
use crate::share::Share;
use crate::trees::IntegerTrees;

/// The requirement that a label meets against a competing one if it is chosen, as far as bounds of their scores tell.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Requirement {
    comparison: ScoreComparison,
    slack: Slack,
}

/// By how much the score of a label may be below that of a competing one where it is chosen.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Slack {
    score: f64,
    /// Of a tree ensemble, in its units.
    units: i128,
}

impl Slack {
    /// The scores themselves decide.
    const NOTHING: Self = Self { score: 0.0, units: 0 };
    /// Nothing is excluded.
    const INFINITE: Self = Self { score: f64::INFINITY, units: i128::MAX };

    /// That of a policy which draws; its scores have this unit, if it is a tree ensemble.
    pub(crate) fn drawn(
        semantics: PolicySemantics,
        law: Law,
        unit: Option<&Rational>,
    ) -> Option<Self> {
        match (semantics.choice, law, semantics.at_least) {
            (ChoiceRule::Argmax, _, _) => None,
            (ChoiceRule::Sample, Law::Softmax, Some(share)) => {
                Some(Self::new(log_odds(share), unit))
            }
            (ChoiceRule::Sample, Law::Softmax | Law::Shares, _) => Some(Self::INFINITE),
        }
    }

    fn new(score: f64, unit: Option<&Rational>) -> Self {
        let Some(unit) = unit else { return Self { score, units: i128::MAX } };
        let units = Rational::from_f64(score).and_then(|score| score.checked_div(unit));
        let units = units.and_then(|units| i128::try_from(units.ceil().to_parts().0).ok());
        let beyond = if score < 0.0 { i128::MIN } else { i128::MAX };
        Self { score, units: units.unwrap_or(beyond) }
    }
}

/// An upper bound of ln(1/p − 1): a label whose softmax is p has a score that is lower than another one
/// by at most this, for e to the difference is at most 1/p − 1.
fn log_odds(share: Share) -> f64 {
    let odds = share.value().recip().map(|inverse| inverse - Rational::ONE).unwrap_or_default();
    let above = odds.to_f64_interval().1;
    if above > 0.0 { elementary::log_bounds(above).1 } else { f64::NEG_INFINITY }
}

impl Requirement {
    /// Returns whether it cannot hold against a rival whose score is greater by at least `lead` (less, for a
    /// negative one). A lead that is no number excludes nothing.
    #[must_use]
    pub fn is_excluded_by(self, lead: f64) -> bool {
        match self.comparison {
            ScoreComparison::Greater => lead >= self.slack.score,
            ScoreComparison::GreaterEqual => lead > self.slack.score,
        }
    }

    /// As [`is_excluded_by`](Self::is_excluded_by), for a lead in units of a tree ensemble.
    #[must_use]
    pub fn is_excluded_by_units(self, lead: i128) -> bool {
        match self.comparison {
            ScoreComparison::Greater => lead >= self.slack.units,
            ScoreComparison::GreaterEqual => lead > self.slack.units,
        }
    }

    /// Returns what it says as an inequality: the lead of a rival is less than this, or at most this where
    /// [`is_strict`](Self::is_strict) is false; `None` if it may be any.
    #[must_use]
    pub fn greatest_lead(self) -> Option<Rational> {
        Rational::from_f64(self.slack.score)
    }

    /// Returns whether a rival must lead by less than [`greatest_lead`](Self::greatest_lead).
    #[must_use]
    pub fn is_strict(self) -> bool {
        self.comparison == ScoreComparison::Greater
    }
}

impl Policy {
    /// Returns what output `chosen` needs against the competing output `other`, as far as bounds tell.
    #[must_use]
    pub fn requires(&self, chosen: usize, other: usize) -> Requirement {
        let semantics = self.semantics();
        let comparison = semantics.requires(chosen, other);
        match (self.slack(), self.single()) {
            // A policy that draws.
            (Some(slack), _) => Requirement { comparison: ScoreComparison::GreaterEqual, slack },
            (None, None) => Requirement { comparison, slack: Slack::NOTHING },
            (None, Some((_, errors))) => {
                let unit = self.trees().map(IntegerTrees::unit);
                let slack = Slack::new(errors.together(chosen, other), unit.as_ref());
                // What is infinite excludes nothing, whatever the rule for ties is.
                let excludes =
                    slack.score.is_finite() && (unit.is_none() || slack.units < i128::MAX);
                match excludes {
                    true => Requirement { comparison, slack },
                    false => Requirement { comparison: ScoreComparison::GreaterEqual, slack },
                }
            }
        }
    }

    /// Returns whether each label is chosen wherever it competes.
    #[must_use]
    pub fn chooses_all(&self) -> bool {
        let semantics = self.semantics();
        semantics.choice == ChoiceRule::Sample
            && self.law() == Law::Softmax
            && semantics.at_least.is_none()
    }

    /// Returns whether something is chosen wherever something competes, so that what alone is not refuted
    /// is chosen.
    #[must_use]
    pub fn always_chooses(&self) -> bool {
        let semantics = self.semantics();
        match semantics.choice {
            ChoiceRule::Argmax => semantics.ties != Ties::Strict,
            ChoiceRule::Sample => self.chooses_all(),
        }
    }
}

#[cfg(test)]
mod tests;
