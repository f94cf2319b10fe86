//! What is wrong with inputs, whatever format they have.

use std::path::PathBuf;

use policert_jani::{Diagnostic, DiagnosticKind};
use policert_pddl::PddlError;
use policert_policy::PolicyError;
use policert_sexpr::{Place, SexprError};
use serde::Serialize;

use crate::ExitStatus;

/// One thing that is wrong with an input.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Finding {
    /// The kind of fault: a wrong input, or one that uses an unsupported feature.
    pub kind: FindingKind,
    /// The problem in words.
    pub message: String,
    /// The rule that is broken, for the formats that name their rules.
    pub code: Option<String>,
    /// The file.
    pub file: Option<PathBuf>,
    /// Line, from 1.
    pub line: Option<usize>,
    /// Column in characters, from 1.
    pub column: Option<usize>,
    /// JSON pointer of the value.
    pub pointer: Option<String>,
    /// The same as text for a terminal, several lines.
    #[serde(skip)]
    pub rendered: String,
}

/// Says whether an input is wrong, or uses what is not supported.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// It breaks the rules of its format, or does not fit the others.
    Invalid,
    /// It uses a feature that is not supported.
    Unsupported,
}

impl FindingKind {
    /// The exit status of a run that ends with problems of these kinds: invalid, if one is.
    #[must_use]
    pub fn status(kinds: impl IntoIterator<Item = Self>) -> ExitStatus {
        let mut kinds = kinds.into_iter().peekable();
        let some = kinds.peek().is_some();
        if some && kinds.all(|kind| kind == Self::Unsupported) {
            ExitStatus::Unsupported
        } else {
            ExitStatus::Invalid
        }
    }
}

impl Finding {
    /// A problem at no place of a file.
    #[must_use]
    pub fn new(kind: FindingKind, message: String) -> Self {
        let head = match kind {
            FindingKind::Invalid => "error",
            FindingKind::Unsupported => "unsupported",
        };
        let text = message.trim_start_matches("unsupported: ");
        let rendered = format!("{head}: {}", policert_files::shown(text));
        Self {
            kind,
            message,
            code: None,
            file: None,
            line: None,
            column: None,
            pointer: None,
            rendered,
        }
    }

    /// A problem at a place of a text.
    fn at(kind: FindingKind, place: &Place, message: String) -> Self {
        let (line, column) = (Some(place.line), Some(place.column));
        Self { file: path(&place.file), line, column, ..Self::new(kind, message) }
    }

    /// A problem with a file as a whole.
    fn about(file: &str, message: String) -> Self {
        Self { file: path(file), ..Self::new(FindingKind::Invalid, message) }
    }

    /// One invalid input.
    #[must_use]
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(FindingKind::Invalid, message.into())
    }
}

impl From<&Diagnostic> for Finding {
    fn from(diagnostic: &Diagnostic) -> Self {
        let place = diagnostic.place.as_ref();
        Self {
            kind: match diagnostic.kind {
                DiagnosticKind::Invalid => FindingKind::Invalid,
                DiagnosticKind::Unsupported => FindingKind::Unsupported,
            },
            message: diagnostic.message.clone(),
            code: Some(diagnostic.code.as_str().to_owned()),
            file: place.map(|place| place.file.clone()),
            line: place.map(|place| place.line),
            column: place.map(|place| place.column),
            pointer: place.and_then(|place| place.pointer.clone()),
            rendered: diagnostic.render(),
        }
    }
}

impl From<&SexprError> for Finding {
    fn from(error: &SexprError) -> Self {
        let message = error.to_string();
        match error {
            SexprError::Invalid { place, .. } => Self::at(FindingKind::Invalid, place, message),
            SexprError::Unsupported { place, .. } => {
                Self::at(FindingKind::Unsupported, place, message)
            }
            SexprError::Io { file, .. } => Self::about(file, message),
        }
    }
}

impl From<&PddlError> for Finding {
    fn from(error: &PddlError) -> Self {
        match error {
            PddlError::File(error) => Self::from(error),
            PddlError::TooLarge(_) => Self::new(FindingKind::Unsupported, error.to_string()),
            _ => Self::new(FindingKind::Invalid, error.to_string()),
        }
    }
}

/// The greatest number of problems of one file that are listed, as for a model.
const LISTED: usize = 200;

/// The problems that an error about a policy is: a mismatch lists several.
#[must_use]
pub fn policy_findings(error: &PolicyError) -> Vec<Finding> {
    match error {
        PolicyError::Mismatch { file, problems } => {
            let at = if file.is_empty() { String::new() } else { format!("{file}: ") };
            let finding = |text: &str| Finding {
                file: path(file),
                ..Finding::invalid(format!("{at}{text}"))
            };
            let mut listed: Vec<Finding> =
                problems.iter().take(LISTED).map(|text| finding(text)).collect();
            if let Some(more) = problems.len().checked_sub(LISTED).filter(|more| *more > 0) {
                listed.push(finding(&format!("{more} more problems are not listed")));
            }
            listed
        }
        PolicyError::Unsupported { file, .. } => {
            let finding = Finding::new(FindingKind::Unsupported, error.to_string());
            vec![Finding { file: path(file), ..finding }]
        }
        PolicyError::Io { file, .. } | PolicyError::Invalid { file, .. } => {
            vec![Finding { file: path(file), ..Finding::invalid(error.to_string()) }]
        }
        other => vec![Finding::invalid(other.to_string())],
    }
}

fn path(file: &str) -> Option<PathBuf> {
    (!file.is_empty()).then(|| PathBuf::from(file))
}
