//! What a user can choose about a question.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use policert_policy::{ChoiceRule, Filter, Numbers, Share, Ties};
use policert_ppa::Splits;

use crate::{DomainSetting, Kept, QuestionAim, StuckStates};

/// A question in the words of the user.
#[derive(Clone, PartialEq, Debug)]
pub struct ProblemOptions {
    /// The model file.
    pub model: PathBuf,
    /// The problem, where the model is a domain in PDDL. [default: the model is in JANI]
    pub pddl_problem: Option<PathBuf>,
    /// The property: `FILE:N`, `FILE` (its first), a position in the model, or a name. [default:
    /// the model's first safety property]
    pub property: Option<String>,
    /// Unsafe states: a condition instead of the property's. [default: the property's]
    pub unsafe_states: Option<String>,
    /// Start states: a condition instead of the property's, or a file that holds one. [default: the
    /// property's]
    pub start_states: Option<String>,
    /// Values for constants; they also replace values of the file. [default: none]
    pub constants: Vec<(String, String)>,
    /// The policy. [default: the property's]
    pub policy: PolicySource,
    /// The output of an ONNX file that holds the scores. [default: as the interface says, else by the
    /// kinds of the outputs]
    pub scores: Option<String>,
    /// The labels that compete. [default: as the interface says]
    pub filter: Option<Filter>,
    /// The labels that are chosen at ties. [default: as the interface says, else first]
    pub ties: Option<Ties>,
    /// In which arithmetic scores are meant. [default: real]
    pub numbers: Option<Numbers>,
    /// The rule by which a label is chosen from the scores. [default: argmax]
    pub choice: Option<ChoiceRule>,
    /// Of a policy that draws: labels that are less probable than this count as never drawn.
    /// [default: all of positive probability count]
    pub at_least: Option<Share>,
    /// The rule for updates that leave a domain. [default: drop]
    pub domain: DomainSetting,
    /// States that are declared terminal. [default: nothing]
    pub terminal: TerminalChoice,
    /// Goal states: a condition instead of the property's goal. [default: the property's]
    pub goal: Option<String>,
    /// The question about the runs. [default: that none reaches an unsafe state]
    pub aim: QuestionAim,
    /// The rule for states without successors. [default: allowed]
    pub stuck: StuckStates,
    /// The rule for the model's own initial states: whether they are start states besides those
    /// that the property names. [default: included]
    pub initial_states: InitialStates,
    /// The part of the state space that is built. [default: what the engine builds by default]
    pub state_space: StateSpace,
    /// The predicates that an abstraction gets. [default: those of the property]
    pub predicates: Predicates,
    /// The probabilities that are read. [default: also rounded ones]
    pub probabilities: Probabilities,
    /// True if the SHA-256 of the files that are read is computed, for results and evidence.
    /// [default: true]
    pub digests: bool,
    /// Where model and policy are kept for other questions about them. [default: nowhere]
    pub kept: Kept,
}

impl ProblemOptions {
    /// The question about a model with all defaults.
    #[must_use]
    pub fn new(model: &Path) -> Self {
        Self {
            model: model.to_owned(),
            pddl_problem: None,
            property: None,
            unsafe_states: None,
            start_states: None,
            constants: Vec::new(),
            policy: PolicySource::default(),
            scores: None,
            filter: None,
            ties: None,
            numbers: None,
            choice: None,
            at_least: None,
            domain: DomainSetting::Drop,
            terminal: TerminalChoice::Nothing,
            goal: None,
            aim: QuestionAim::AvoidUnsafe,
            stuck: StuckStates::Allowed,
            initial_states: InitialStates::Included,
            state_space: StateSpace::OfEngine,
            predicates: Predicates::OfProperty,
            probabilities: Probabilities::Rounded,
            digests: true,
            kept: Kept::default(),
        }
    }
}

/// Says which policy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PolicySource {
    /// None: all actions are allowed.
    None,
    /// The files that are named here; the property names the others.
    Given {
        /// The interface file; else the one that the property names.
        interface: Option<PathBuf>,
        /// The network file; else the one that the interface names.
        network: Option<PathBuf>,
    },
}

impl Default for PolicySource {
    fn default() -> Self {
        Self::Given { interface: None, network: None }
    }
}

/// States that are declared terminal: they have no successors.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum TerminalChoice {
    /// None.
    #[default]
    Nothing,
    /// Those of the property's goal.
    Goal,
    /// Those that satisfy a condition, such as `x >= 3 && !done`.
    Condition(String),
}

impl From<&str> for TerminalChoice {
    /// `goal`, or a condition.
    fn from(text: &str) -> Self {
        match text {
            "goal" => Self::Goal,
            condition => Self::Condition(condition.to_owned()),
        }
    }
}

/// Says whether the model's own initial states are start states besides those of the property.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum InitialStates {
    /// They are.
    #[default]
    Included,
    /// They are not.
    LeftOut,
}

/// Says how much is built.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum StateSpace {
    /// `ppa`: all reachable states, to say which start states are safe. Others: until the first
    /// unsafe state. Unsafe and terminal states are not expanded.
    #[default]
    OfEngine,
    /// Until the first unsafe state; unsafe and terminal states are not expanded.
    UntilUnsafe,
    /// All reachable states; unsafe and terminal states are not expanded.
    Reachable,
    /// All reachable states, and what lies behind unsafe and terminal ones.
    All,
}

/// Says which probabilities of the model are read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Probabilities {
    /// Also those whose sum misses 1 by at most 10⁻⁶: they are scaled, and a note says so.
    #[default]
    Rounded,
    /// Only those that sum to 1 exactly.
    Exact,
}

/// Says which predicates an abstraction gets.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Predicates {
    /// Those of the property.
    #[default]
    OfProperty,
    /// None but the atoms of the unsafe condition, which abstractions have in any case.
    None,
    /// Thresholds of the variables by binary search, instead of those of the property.
    Splits(Splits),
}

impl Predicates {
    /// The same, where variables that fit these patterns get their thresholds after all others are full.
    #[must_use]
    pub fn with_last(self, last: Vec<String>) -> Self {
        match self {
            Self::OfProperty | Self::None => self,
            Self::Splits(splits) => Self::Splits(Splits { last, ..splits }),
        }
    }
}

impl FromStr for Predicates {
    type Err = String;

    /// Reads `none` or `splits:N`.
    fn from_str(text: &str) -> Result<Self, String> {
        let percent = |text: &str| text.parse().ok().filter(|percent| *percent <= 100);
        match text.split_once(':') {
            None if text == "none" => Ok(Self::None),
            Some(("splits", number)) => percent(number)
                .map(|percent| Self::Splits(Splits { percent, last: Vec::new() }))
                .ok_or_else(|| format!("`{number}` is no whole number of percent from 0 to 100")),
            _ => Err(format!("`{text}` is neither `none` nor of the form splits:N")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn predicates() {
        let splits = |percent| Predicates::Splits(Splits { percent, last: Vec::new() });
        assert_eq!("none".parse(), Ok(Predicates::None));
        assert_eq!("splits:0".parse(), Ok(splits(0)));
        assert_eq!("splits:100".parse(), Ok(splits(100)));
        for text in ["", "all", "splits", "splits:", "splits:101", "splits:-1", "none:5"] {
            assert!(text.parse::<Predicates>().is_err(), "{text}");
        }
    }
}
