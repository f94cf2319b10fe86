//! What is wrong, or worth knowing, about files that were read: all of it, each with its place.

mod render;

use std::{collections::BTreeMap, fmt, path::PathBuf};

use crate::{
    json::{Json, JsonError, JsonNodeId, pointers},
    source::{At, SourceText, Sources},
};

/// The severity of a diagnostic.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    /// The model, or the property, cannot be used.
    Error,
    /// Probably not what was meant.
    Warning,
    /// Worth knowing.
    Note,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        })
    }
}

/// Whose fault it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum DiagnosticKind {
    /// The input breaks the rules of the format.
    Invalid,
    /// The input is right, as far as we can tell, but uses what this program does not do.
    Unsupported,
}

/// The rule behind a diagnostic.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum DiagnosticCode {
    /// A file cannot be read.
    File,
    /// A file is no JSON.
    Syntax,
    /// Nested too deeply.
    Nesting,
    /// A key that must be there is missing.
    MissingKey,
    /// A key that means nothing here.
    UnknownKey,
    /// A key that means nothing here, where one of nearly the same name is missing.
    MisspeltKey,
    /// A key twice in one object.
    DuplicateKey,
    /// A value of another kind than must stand here.
    Value,
    /// An operator, type or word that does not exist.
    UnknownWord,
    /// Two things of one name.
    DuplicateName,
    /// A name that nothing has.
    UnknownName,
    /// Types do not fit.
    Type,
    /// A constant without value.
    ConstantMissing,
    /// A value given for a constant is of no use.
    ConstantGiven,
    /// An expression that must be constant is not.
    NotConstant,
    /// A constant expression without value.
    Evaluation,
    /// A value outside the bounds of its type.
    OutOfBounds,
    /// Functions or values that need themselves.
    Recursion,
    /// Probabilities that are no distribution.
    Probability,
    /// Two values are assigned to one variable at once.
    ConflictingWrites,
    /// A synchronisation vector that does not fit the system.
    Synchronisation,
    /// Something that can never happen.
    NeverFires,
    /// Something that is skipped.
    Skipped,
    /// A feature that this program does not support.
    Feature,
    /// A property that does not fit.
    Property,
    /// More diagnostics than are shown.
    More,
}

impl DiagnosticCode {
    /// Its name, as it is printed.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Syntax => "syntax",
            Self::Nesting => "nesting",
            Self::MissingKey => "missing-key",
            Self::UnknownKey => "unknown-key",
            Self::MisspeltKey => "misspelt-key",
            Self::DuplicateKey => "duplicate-key",
            Self::Value => "value",
            Self::UnknownWord => "unknown-word",
            Self::DuplicateName => "duplicate-name",
            Self::UnknownName => "unknown-name",
            Self::Type => "type",
            Self::ConstantMissing => "constant-missing",
            Self::ConstantGiven => "constant-given",
            Self::NotConstant => "not-constant",
            Self::Evaluation => "evaluation",
            Self::OutOfBounds => "out-of-bounds",
            Self::Recursion => "recursion",
            Self::Probability => "probability",
            Self::ConflictingWrites => "conflicting-writes",
            Self::Synchronisation => "synchronisation",
            Self::NeverFires => "never-fires",
            Self::Skipped => "skipped",
            Self::Feature => "feature",
            Self::Property => "property",
            Self::More => "more",
        }
    }
}

/// The place of a diagnostic.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// The file.
    pub file: PathBuf,
    /// JSON pointer of the value (RFC 6901); `None` where the text is no JSON.
    pub pointer: Option<String>,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The line itself, or a part of a long one.
    excerpt: render::Excerpt,
}

/// One thing that is wrong, or worth knowing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// The rule behind it.
    pub code: DiagnosticCode,
    /// The severity.
    pub severity: Severity,
    /// Whose fault it is.
    pub kind: DiagnosticKind,
    /// The place in the file, if there is one.
    pub place: Option<Place>,
    /// The problem, in words.
    pub message: String,
    /// Advice on how to mend it.
    pub help: Option<String>,
    /// The number of further places with the same problem.
    pub repeated: usize,
    /// The same place, to find those of one place.
    at: Option<At>,
}

impl Diagnostic {
    /// Returns whether it makes the content that was read unusable.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    fn new(
        code: DiagnosticCode,
        severity: Severity,
        kind: DiagnosticKind,
        message: String,
    ) -> Self {
        Self { code, severity, kind, place: None, message, help: None, repeated: 0, at: None }
    }
}

/// The greatest number of errors, and of warnings and notes, that are kept.
const LIMIT: usize = 200;

/// Collects diagnostics; knows the sources, so that each gets its place.
#[derive(Clone, Default, Debug)]
pub(crate) struct Diagnostics {
    pub sources: Sources,
    items: Vec<Diagnostic>,
    /// Warnings that were given already, by code and message.
    known: BTreeMap<(DiagnosticCode, String), usize>,
    /// The number of warnings and notes, and that of errors.
    kept: [usize; 2],
    dropped: usize,
    errors: usize,
    muted: bool,
}

impl Diagnostics {
    pub fn invalid(&mut self, code: DiagnosticCode, at: At, message: impl Into<String>) {
        self.add(code, Severity::Error, DiagnosticKind::Invalid, at, message.into(), None);
    }

    pub fn invalid_with_help(
        &mut self,
        code: DiagnosticCode,
        at: At,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.add(
            code,
            Severity::Error,
            DiagnosticKind::Invalid,
            at,
            message.into(),
            Some(help.into()),
        );
    }

    pub fn unsupported(&mut self, at: At, what: impl fmt::Display) {
        let message = format!("unsupported: {what}");
        self.add(
            DiagnosticCode::Feature,
            Severity::Error,
            DiagnosticKind::Unsupported,
            at,
            message,
            None,
        );
    }

    pub fn warning(&mut self, code: DiagnosticCode, at: At, message: impl Into<String>) {
        self.add(code, Severity::Warning, DiagnosticKind::Invalid, at, message.into(), None);
    }

    pub fn note(&mut self, code: DiagnosticCode, at: At, message: impl Into<String>) {
        self.add(code, Severity::Note, DiagnosticKind::Invalid, at, message.into(), None);
    }

    /// Sets whether diagnostics are dropped from now on; returns whether they were before.
    pub fn mute(&mut self, muted: bool) -> bool {
        std::mem::replace(&mut self.muted, muted)
    }

    /// An error about no place in a file.
    pub fn general(
        &mut self,
        code: DiagnosticCode,
        kind: DiagnosticKind,
        message: impl Into<String>,
    ) {
        self.push(Diagnostic::new(code, Severity::Error, kind, message.into()));
    }

    /// A text that is no JSON.
    pub fn syntax(&mut self, text: &SourceText, error: &JsonError) {
        let (code, kind) = if error.too_deep {
            (DiagnosticCode::Nesting, DiagnosticKind::Unsupported)
        } else {
            (DiagnosticCode::Syntax, DiagnosticKind::Invalid)
        };
        let place = Place::new(text, error.offset..error.offset, None);
        let mut diagnostic = Diagnostic::new(code, Severity::Error, kind, error.message.clone());
        diagnostic.place = Some(place);
        self.push(diagnostic);
    }

    fn add(
        &mut self,
        code: DiagnosticCode,
        severity: Severity,
        kind: DiagnosticKind,
        at: At,
        message: String,
        help: Option<String>,
    ) {
        if self.muted {
            return;
        }
        if severity == Severity::Error {
            // One reason may stop several things.
            let again = |d: &Diagnostic| d.at == Some(at) && d.code == code && d.message == message;
            if self.items.iter().any(again) {
                self.errors += 1;
                return;
            }
        } else {
            if let Some(&first) = self.known.get(&(code, message.clone())) {
                self.items[first].repeated += 1;
                return;
            }
            self.known.insert((code, message.clone()), self.items.len());
        }
        let mut diagnostic = Diagnostic::new(code, severity, kind, message);
        diagnostic.at = Some(at);
        diagnostic.help = help;
        self.push(diagnostic);
    }

    fn push(&mut self, diagnostic: Diagnostic) {
        if self.muted {
            return;
        }
        self.errors += usize::from(diagnostic.is_error());
        let kept = &mut self.kept[usize::from(diagnostic.is_error())];
        *kept += 1;
        if *kept > LIMIT {
            // The first of a kind are enough; a dropped warning must not be found as known.
            self.known.retain(|_, &mut first| first < self.items.len());
            self.dropped += 1;
            return;
        }
        self.items.push(diagnostic);
    }

    /// Says of texts that are no JSON what was expected: a model.
    pub fn expect_jani(&mut self) {
        for diagnostic in self.items.iter_mut().filter(|d| d.code == DiagnosticCode::Syntax) {
            let help = "the model must be a JANI file: JSON with the keys `jani-version`, `name`, \
                        `type`, `automata`, `system`";
            diagnostic.help = Some(help.to_owned());
        }
    }

    /// Gives diagnostics their places: all at once, since each way to a place leads past others.
    fn find_places(&self, items: &mut [Diagnostic]) {
        let mut by_place: Vec<(At, &mut Diagnostic)> =
            items.iter_mut().filter_map(|d| Some((d.at?, d))).collect();
        by_place.sort_by_key(|(at, _)| *at);
        for of_source in by_place.chunk_by_mut(|(a, _), (b, _)| a.source == b.source) {
            let Some(json) = self.sources.get(of_source[0].0) else { continue };
            let source = json.source();
            let nodes: Vec<JsonNodeId> = of_source.iter().map(|(at, _)| at.node).collect();
            for ((at, diagnostic), pointer) in of_source.iter_mut().zip(pointers(source, &nodes)) {
                let span = Json::new(source, at.node).span();
                diagnostic.place = Some(Place::new(source.lines(), span, Some(pointer)));
            }
        }
    }

    pub fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// Number of errors since the last [`Diagnostics::take`].
    pub fn errors(&self) -> usize {
        self.errors
    }

    /// The diagnostics so far: errors, then warnings, then notes, each in the order found.
    pub fn take(&mut self) -> Vec<Diagnostic> {
        self.known.clear();
        self.errors = 0;
        self.kept = [0; 2];
        let mut items = std::mem::take(&mut self.items);
        self.find_places(&mut items);
        items.sort_by_key(|d| d.severity);
        if self.dropped > 0 {
            let message = format!("{} more are not shown", self.dropped);
            items.push(Diagnostic::new(
                DiagnosticCode::More,
                Severity::Note,
                DiagnosticKind::Invalid,
                message,
            ));
            self.dropped = 0;
        }
        items
    }
}

impl Place {
    fn new(text: &SourceText, span: std::ops::Range<usize>, pointer: Option<String>) -> Self {
        let (line, column) = text.line_column(span.start);
        let excerpt = render::Excerpt::new(text, span);
        Self { file: text.path().to_owned(), pointer, line, column, excerpt }
    }
}
