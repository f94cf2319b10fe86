//! What a verdict means, as data and as a line for people.

use policert_policy::Semantics;
use serde::{Deserialize, Serialize};

/// What a verdict means.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SemanticsRecord {
    /// The rules of the policy's choice; `null` without policy: all actions are allowed.
    pub policy: Option<Semantics>,
    /// What becomes of updates that leave a domain.
    pub domain: Domain,
    /// Where runs start.
    pub start: StartRule,
    /// The condition of terminal states, as a person would write it.
    pub terminal: Option<String>,
    /// Labels that the policy does not output: they belong to the environment.
    pub unlearned_labels: Vec<String>,
    /// Labels that the policy never chooses, by its interface: their operators are left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub never_chosen: Vec<String>,
    /// All of it in one line.
    pub text: String,
}

/// What becomes of updates that leave a domain.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Domain {
    /// They are no transition.
    Drop,
    /// They are modelling errors.
    Error,
}

/// Where runs start.
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
    pub fn new(
        policy: Option<Semantics>,
        domain: Domain,
        start: StartRule,
        terminal: Option<String>,
        unlearned_labels: Vec<String>,
        never_chosen: Vec<String>,
    ) -> Self {
        let mut parts = vec![match &policy {
            Some(semantics) => semantics.to_string(),
            None => "no policy: all actions are allowed".to_owned(),
        }];
        parts.push(
            match domain {
                Domain::Drop => "updates that leave a domain are no transitions",
                Domain::Error => "updates that leave a domain are errors",
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
        if let Some(condition) = &terminal {
            parts.push(format!("terminal: {}", shortened(condition, TERMINAL_SHOWN)));
        }
        if !never_chosen.is_empty() {
            parts
                .push(format!("never chosen: {}", shortened(&never_chosen.join(", "), LIST_SHOWN)));
        }
        let text = parts.join("; ");
        Self { policy, domain, start, terminal, unlearned_labels, never_chosen, text }
    }
}

/// The first characters of a text, with `…` if there are more.
pub(crate) fn shortened(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
