//! Diagnostics as text: one line, or with an excerpt of the source.

use std::{fmt, ops::Range};

use policert_files::{name, path, shown};

use super::{Diagnostic, DiagnosticKind, Severity};
use crate::source::SourceText;

/// Characters of a line that are shown.
const WIDTH: usize = 100;
/// Characters shown before the place, where the line is longer.
const BEFORE: usize = 40;

/// The part of a line that a diagnostic is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Excerpt {
    text: String,
    /// The start and the number of the marks, in characters of `text`.
    marks: Range<usize>,
}

impl Excerpt {
    pub fn new(source: &SourceText, span: Range<usize>) -> Self {
        let (line, start) = source.line_around(span.start);
        // Only what is shown is looked at: a line may be as long as the file.
        let is_longer = |text: &str| text.chars().nth(WIDTH).is_some();
        let (before, rest) =
            line.split_at_checked(span.start.saturating_sub(start)).unwrap_or((line, ""));
        let end = span.end.saturating_sub(span.start).min(rest.len());
        let marked = rest.get(..end).unwrap_or(rest).chars().take(WIDTH + 1).count();
        let cut = match before.char_indices().rev().nth(BEFORE - 1) {
            Some((at, _)) if is_longer(line) => at,
            _ => 0,
        };
        let shown = |c: char| if policert_files::is_plain(c) { c } else { ' ' };
        let mut text: String = line[cut..].chars().take(WIDTH).map(shown).collect();
        let mut from = before[cut..].chars().count();
        let mut to = (from + marked.max(1)).min(WIDTH + 1);
        if cut > 0 {
            text.insert(0, '…');
            (from, to) = (from + 1, to + 1);
        }
        if is_longer(&line[cut..]) {
            text.push('…');
        }
        // Indentation says nothing.
        let indent = text.chars().take_while(|c| *c == ' ').count().min(from);
        Self {
            text: text.chars().skip(indent).collect::<String>().trim_end().to_owned(),
            marks: from - indent..to - indent,
        }
    }
}

impl Diagnostic {
    /// `error: unsupported` and the like.
    fn head(&self) -> String {
        let kind = match (self.severity, self.kind) {
            (Severity::Error, DiagnosticKind::Invalid) => "error",
            (Severity::Error, DiagnosticKind::Unsupported) => "unsupported",
            (Severity::Warning, _) => "warning",
            (Severity::Note, _) => "note",
        };
        let message = match self.kind {
            DiagnosticKind::Unsupported => self.message.trim_start_matches("unsupported: "),
            DiagnosticKind::Invalid => &self.message,
        };
        let times = match self.repeated {
            0 => String::new(),
            n => format!(" (and at {n} more places)"),
        };
        format!("{kind}[{}]: {}{times}", self.code.as_str(), shown(message))
    }

    /// The diagnostic with the line of the source that it is about, several lines, without a
    /// line end after the last one.
    #[must_use]
    pub fn render(&self) -> String {
        let mut lines = vec![self.head()];
        let mut gutter = 1;
        if let Some(place) = &self.place {
            let number = place.line.to_string();
            gutter = number.len();
            let pointer = name(place.pointer.as_deref().unwrap_or_default());
            let space = " ".repeat(gutter);
            lines.push(
                format!(
                    "{space}--> {}:{}:{}  {pointer}",
                    path(&place.file),
                    place.line,
                    place.column
                )
                .trim_end()
                .to_owned(),
            );
            lines.push(format!("{space} |"));
            lines.push(format!("{number} | {}", place.excerpt.text).trim_end().to_owned());
            let Range { start, end } = place.excerpt.marks;
            let marks = "^".repeat(end.saturating_sub(start).max(1));
            lines.push(format!("{space} | {}{marks}", " ".repeat(start)));
        }
        if let Some(help) = &self.help {
            lines.push(format!("{} = help: {}", " ".repeat(gutter), shown(help)));
        }
        lines.join("\n")
    }
}

/// The one-line form: `file:line:column: error[code]: message (at /pointer)`.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{}:{}:{}: ", path(&place.file), place.line, place.column)?;
        }
        f.write_str(&self.head())?;
        match self.place.as_ref().and_then(|p| p.pointer.as_deref()) {
            Some(pointer) if !pointer.is_empty() => write!(f, " (at {})", name(pointer)),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for Diagnostic {}
