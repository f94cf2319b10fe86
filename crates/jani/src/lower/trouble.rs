//! Why an expression cannot be lowered.

use crate::{
    diagnostic::{DiagnosticCode, Diagnostics},
    names::{NameId, Names},
    source::At,
};

/// Says why an expression cannot be lowered.
#[derive(Clone, Debug)]
pub(crate) enum Trouble {
    /// It needs something about which a diagnostic was given already.
    Known,
    /// It must be constant, but reads a variable.
    NotConstant(At, NameId),
    /// It is against the rules.
    Invalid(At, DiagnosticCode, String),
    /// It uses something that is not supported.
    Unsupported(At, String),
}

impl Trouble {
    /// Returns what does not fit, although types were checked: only after an error elsewhere.
    pub fn ill_typed(at: At) -> Self {
        Self::Invalid(at, DiagnosticCode::Type, "types do not fit".to_owned())
    }

    /// Returns what it is, in a few words.
    pub fn text(&self, names: &Names) -> String {
        match self {
            Self::Known => "it has no initial value".to_owned(),
            Self::NotConstant(_, name) => format!("it reads variable `{}`", names.text(*name)),
            Self::Invalid(_, _, message) => message.clone(),
            Self::Unsupported(_, what) => format!("not supported: {what}"),
        }
    }

    /// Adds the diagnostic, unless there is one already.
    pub fn report(self, names: &Names, diagnostics: &mut Diagnostics) {
        match self {
            Self::Known => {}
            Self::NotConstant(at, name) => {
                let message =
                    format!("a constant expression cannot read variable `{}`", names.text(name));
                diagnostics.invalid(DiagnosticCode::NotConstant, at, message);
            }
            Self::Invalid(at, code, message) => diagnostics.invalid(code, at, message),
            Self::Unsupported(at, what) => diagnostics.unsupported(at, what),
        }
    }
}
