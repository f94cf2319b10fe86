//! What a policy means: the one place that says so.
//!
//! A policy has one score for each of its labels. Which labels it chooses in a state depends on
//! four settings: which labels compete ([`Filter`]), whether the policy takes the best of them or
//! draws one ([`ChoiceRule`]), what happens at ties ([`Ties`]), and in which arithmetic the scores
//! are meant ([`Numbers`]). Every engine and every encoding takes the rules from here.

use std::cmp::Ordering;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::share::Share;

/// The rule by which a label is chosen from the scores of those that compete.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum ChoiceRule {
    /// One with the greatest score.
    #[default]
    Argmax,
    /// One that is drawn: by the softmax of the scores, or by the class probabilities of a tree
    /// ensemble. Each label of positive probability may be chosen.
    Sample,
}

/// The rule for labels that share the best score.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Ties {
    /// The first of them in the order of the outputs, as numpy and torch do.
    #[default]
    First,
    /// Each of them: a safe verdict then holds for every tie rule.
    Any,
    /// None of them: the encoding of the policy predicate abstraction papers. It can call an
    /// unsafe policy safe.
    Strict,
}

/// The labels that compete for the choice.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Filter {
    /// All outputs: the policy may choose a label that is not applicable, and stops there.
    #[default]
    None,
    /// The outputs that are applicable in the state; if there are none, nothing is chosen.
    Applicable,
}

/// In which arithmetic the scores are meant.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Numbers {
    /// The real-valued function of the weights exactly as stored.
    #[default]
    Real,
    /// Every evaluation of a network in single precision, whatever its order of summation.
    F32,
}

/// The relation that the score of a chosen label must have to that of another competing label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScoreComparison {
    /// It is greater.
    Greater,
    /// It is greater or equal.
    GreaterEqual,
}

impl ScoreComparison {
    /// Returns whether scores that compare like this (chosen against other) satisfy the relation.
    #[must_use]
    pub fn holds(self, order: Ordering) -> bool {
        match self {
            ScoreComparison::Greater => order.is_gt(),
            ScoreComparison::GreaterEqual => order.is_ge(),
        }
    }

    /// Returns whether it cannot hold against a rival whose score is greater by at least `lead`
    /// (less, for a negative one). A lead that is no number excludes nothing.
    #[must_use]
    pub fn is_excluded_by<T: PartialOrd + Default>(self, lead: T) -> bool {
        match self {
            ScoreComparison::Greater => lead >= T::default(),
            ScoreComparison::GreaterEqual => lead > T::default(),
        }
    }
}

impl Ties {
    /// The relation that the score of output `chosen` must have to that of every other competing
    /// output `other`, for `chosen` to be chosen.
    #[must_use]
    pub fn requires(self, chosen: usize, other: usize) -> ScoreComparison {
        match self {
            Ties::First if other < chosen => ScoreComparison::Greater,
            Ties::First | Ties::Any => ScoreComparison::GreaterEqual,
            Ties::Strict => ScoreComparison::Greater,
        }
    }
}

/// The meaning of a policy, printed with every verdict.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct PolicySemantics {
    /// The rule for ties.
    pub ties: Ties,
    /// The labels that compete.
    pub filter: Filter,
    /// In which arithmetic the scores are meant.
    pub numbers: Numbers,
    /// The rule by which a label is chosen from the scores.
    #[serde(default)]
    pub choice: ChoiceRule,
    /// Of a policy that draws: labels that are less probable than this count as never drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<Share>,
}

impl PolicySemantics {
    /// The relation that output `chosen` needs to the competing output `other`, see
    /// [`Ties::requires`].
    #[must_use]
    pub fn requires(&self, chosen: usize, other: usize) -> ScoreComparison {
        self.ties.requires(chosen, other)
    }

    /// Warnings about how these settings limit the meaning of a verdict.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if let Some(share) = self.at_least {
            warnings.push(format!(
                "labels of probability less than {share} count as never drawn, so a policy that \
                 draws an unsafe one seldom can be called safe"
            ));
        }
        if self.choice == ChoiceRule::Argmax && self.ties == Ties::Strict {
            warnings.push(
                "ties strict: nothing is chosen where the best scores are equal, so an unsafe \
                 policy can be called safe"
                    .to_owned(),
            );
        }
        warnings
    }
}

impl fmt::Display for PolicySemantics {
    /// For example `scores in real arithmetic; best of all outputs; ties: first output`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.choice {
            ChoiceRule::Argmax => {
                write!(f, "{}; best of {}; ties: {}", self.numbers, self.filter, self.ties)
            }
            ChoiceRule::Sample => {
                write!(f, "{}; drawn from {} by their probabilities", self.numbers, self.filter)?;
                match self.at_least {
                    Some(share) => write!(f, ", those below {share} never"),
                    None => Ok(()),
                }
            }
        }
    }
}

impl fmt::Display for Ties {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Ties::First => "first output",
            Ties::Any => "any of the best",
            Ties::Strict => "nothing is chosen",
        })
    }
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Filter::None => "all outputs",
            Filter::Applicable => "the applicable outputs",
        })
    }
}

impl fmt::Display for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Numbers::Real => "scores in real arithmetic",
            Numbers::F32 => "scores in single precision, any order",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_by_tie_rule() {
        use ScoreComparison::{Greater, GreaterEqual};
        assert_eq!(Ties::First.requires(1, 0), Greater);
        assert_eq!(Ties::First.requires(1, 2), GreaterEqual);
        assert_eq!(Ties::Any.requires(1, 0), GreaterEqual);
        assert_eq!(Ties::Any.requires(1, 2), GreaterEqual);
        assert_eq!(Ties::Strict.requires(1, 0), Greater);
        assert_eq!(Ties::Strict.requires(1, 2), Greater);
        assert!(Greater.holds(Ordering::Greater) && !Greater.holds(Ordering::Equal));
        assert!(GreaterEqual.holds(Ordering::Equal) && !GreaterEqual.holds(Ordering::Less));
    }

    #[test]
    fn text_and_json() {
        let semantics = PolicySemantics::default();
        let text = "scores in real arithmetic; best of all outputs; ties: first output";
        assert_eq!(semantics.to_string(), text);
        let json = serde_json::to_string(&semantics).expect("serialisable");
        assert_eq!(json, r#"{"ties":"first","filter":"none","numbers":"real","choice":"argmax"}"#);
        assert_eq!(serde_json::from_str::<PolicySemantics>(&json).expect("valid"), semantics);
        let earlier = json.replace(r#","choice":"argmax""#, "");
        assert_eq!(serde_json::from_str::<PolicySemantics>(&earlier).expect("valid"), semantics);
    }

    #[test]
    fn drawing_in_words_and_as_data() {
        let share = "0.05".parse().ok();
        let drawn = PolicySemantics {
            choice: ChoiceRule::Sample,
            at_least: share,
            ..PolicySemantics::default()
        };
        let text = "scores in real arithmetic; drawn from all outputs by their probabilities, those \
                    below 1/20 never";
        assert_eq!(drawn.to_string(), text);
        assert!(drawn.warnings()[0].contains("seldom"));
        let json = serde_json::to_string(&drawn).expect("serialisable");
        assert!(json.ends_with(r#""choice":"sample","at_least":"1/20"}"#), "{json}");
        assert_eq!(serde_json::from_str::<PolicySemantics>(&json).expect("valid"), drawn);
    }

    #[test]
    fn strict_warns() {
        assert!(PolicySemantics::default().warnings().is_empty());
        let strict = PolicySemantics { ties: Ties::Strict, ..PolicySemantics::default() };
        assert!(strict.warnings()[0].contains("unsafe"));
    }
}
