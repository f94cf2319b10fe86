//! What a verdict means, as data and as a line for people.

use policert_policy::PolicySemantics;
use serde::{Deserialize, Serialize};

/// Says what a verdict means.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SemanticsRecord {
    /// The rules of the policy's choice; `null` without policy: all actions are allowed.
    pub policy: Option<PolicySemantics>,
    /// The rule for updates that leave a domain.
    pub domain: DomainSetting,
    /// The states in which runs start.
    pub start: StartRule,
    /// The condition of terminal states, as a person would write it.
    pub terminal: Option<String>,
    /// The question about the runs.
    #[serde(default)]
    pub aim: QuestionAim,
    /// The rule for states without successors that are neither terminal nor goal states.
    #[serde(default)]
    pub stuck: StuckStates,
    /// The condition of goal states, where it matters for one of these.
    #[serde(default)]
    pub goal: Option<String>,
    /// Labels that the policy does not output: they belong to the environment.
    pub unlearned_labels: Vec<String>,
    /// Labels that the policy never chooses, by its interface: their operators are left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub never_chosen: Vec<String>,
    /// All of it in one line.
    pub text: String,
}

/// Says what is asked of the runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuestionAim {
    /// That none reaches an unsafe state.
    #[default]
    AvoidUnsafe,
    /// That each reaches a goal state.
    ReachGoal,
}

/// Says what states without successors are that are neither terminal nor goal states.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "snake_case")]
pub enum StuckStates {
    /// Ends of runs.
    #[default]
    Allowed,
    /// Unsafe.
    Unsafe,
}

/// Says what becomes of updates that leave a domain.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "snake_case")]
pub enum DomainSetting {
    /// They are no transition.
    Drop,
    /// They are modelling errors.
    Error,
}

/// Says where runs start.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StartRule {
    /// In the states that the property names, and in the model's initial states.
    PropertyAndInitial,
    /// In the states that the property names.
    Property,
    /// In the model's initial states.
    Initial,
}

/// Characters of the terminal condition in the line.
const TERMINAL_SHOWN: usize = 60;
/// Characters of a list of labels in the line.
const LIST_SHOWN: usize = 60;

impl SemanticsRecord {
    /// The record with its line.
    #[must_use]
    pub fn with_text(self) -> Self {
        let Self { policy, domain, start, terminal, aim, stuck, goal, never_chosen, .. } = &self;
        let mut parts = vec![match policy {
            Some(semantics) => semantics.to_string(),
            None => "no policy: all actions are allowed".to_owned(),
        }];
        parts.push(
            match domain {
                DomainSetting::Drop => "updates that leave a domain are no transitions",
                DomainSetting::Error => "updates that leave a domain are errors",
            }
            .to_owned(),
        );
        parts.push(
            match start {
                StartRule::PropertyAndInitial => "start: the property's and the initial states",
                StartRule::Property => "start: the property's states",
                StartRule::Initial => "start: the initial states",
            }
            .to_owned(),
        );
        if let Some(condition) = terminal {
            parts.push(format!("terminal: {}", shortened(condition, TERMINAL_SHOWN)));
        }
        if !never_chosen.is_empty() {
            parts
                .push(format!("never chosen: {}", shortened(&never_chosen.join(", "), LIST_SHOWN)));
        }
        let goal = goal.as_ref().map(|goal| shortened(goal, TERMINAL_SHOWN));
        match aim {
            QuestionAim::AvoidUnsafe => {}
            QuestionAim::ReachGoal => {
                let goal = goal.as_deref().unwrap_or("of the property");
                parts.push(format!("asked: every run reaches the goal {goal}"));
            }
        }
        match (stuck, &goal) {
            (StuckStates::Allowed, _) => {}
            (StuckStates::Unsafe, Some(goal)) => {
                parts.push(format!("states without successors are unsafe, except the goal {goal}"));
            }
            (StuckStates::Unsafe, None) => {
                parts.push("states without successors are unsafe".to_owned());
            }
        }
        let text = parts.join("; ");
        Self { text, ..self }
    }
}

/// The first characters of a text, with `…` if there are more.
#[must_use]
pub fn shortened(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
