//! What is wrong with a text, before its name is known.

/// Says what is wrong at a position of a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// Offset in bytes.
    pub at: usize,
    /// The fault, and what would be right.
    pub message: String,
    /// Whether the text is wrong, or means something that is not supported.
    pub kind: FaultKind,
}

/// Says whose fault it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FaultKind {
    /// The text breaks the rules of its format.
    Invalid,
    /// The text means something that is not supported.
    Unsupported,
}

impl Fault {
    /// The text breaks the rules of its format.
    #[must_use]
    pub fn invalid(at: usize, message: impl Into<String>) -> Self {
        Self { at, message: message.into(), kind: FaultKind::Invalid }
    }

    /// The text means something that is not supported.
    #[must_use]
    pub fn unsupported(at: usize, message: impl Into<String>) -> Self {
        Self { at, message: message.into(), kind: FaultKind::Unsupported }
    }
}
