//! What can be wrong with a policy file or an interface file.

/// The reason for which a policy cannot be used. Each variant names the file and the place in it; a
/// network that is built in memory has no file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// The file cannot be read.
    #[error("{file}: {source}")]
    Io {
        /// The file.
        file: String,
        /// The error of the operating system.
        #[source]
        source: std::io::Error,
    },
    /// The file breaks the rules of its format, or says something without meaning.
    #[error("{}{message}", prefix(.file, .place))]
    Invalid {
        /// The file; empty if there is none.
        file: String,
        /// Line, node or JSON pointer; empty if it concerns the whole file.
        place: String,
        /// The fault, in words.
        message: String,
    },
    /// The file means something that is not supported.
    #[error("{}{message}", prefix(.file, .place))]
    Unsupported {
        /// The file; empty if there is none.
        file: String,
        /// Line, node or JSON pointer; empty if it concerns the whole file.
        place: String,
        /// The unsupported feature, in words, and what is supported instead.
        message: String,
    },
    /// Whoever asked stopped the reading, because of a limit.
    #[error("reading the policy was stopped")]
    Stopped,
    /// Policy, interface and model do not fit together. All problems that were found.
    #[error("{}{}", prefix(.file, ""), .problems.join("\n"))]
    Mismatch {
        /// The interface file, or the policy file if there is no interface.
        file: String,
        /// One problem each.
        problems: Vec<String>,
    },
}

/// `file: place: `, without what is empty.
fn prefix(file: &str, place: &str) -> String {
    let mut prefix = String::new();
    for part in [file, place] {
        if !part.is_empty() {
            prefix.push_str(part);
            prefix.push_str(": ");
        }
    }
    prefix
}

impl PolicyError {
    /// An [`Invalid`](Self::Invalid) whose file is not known yet.
    #[must_use]
    pub fn invalid(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Invalid { file: String::new(), place: place.into(), message: message.into() }
    }

    /// An [`Unsupported`](Self::Unsupported) whose file is not known yet.
    pub(crate) fn unsupported(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Unsupported { file: String::new(), place: place.into(), message: message.into() }
    }

    /// The same error, in this file if none is named yet.
    #[must_use]
    pub fn in_file(mut self, name: &str) -> Self {
        match &mut self {
            Self::Invalid { file, .. }
            | Self::Unsupported { file, .. }
            | Self::Io { file, .. }
            | Self::Mismatch { file, .. } => {
                if file.is_empty() {
                    name.clone_into(file);
                }
            }
            Self::Stopped => {}
        }
        self
    }

    /// The same error, at this place if none is named yet.
    #[must_use]
    pub(crate) fn at(mut self, name: &str) -> Self {
        if let Self::Invalid { place, .. } | Self::Unsupported { place, .. } = &mut self
            && place.is_empty()
        {
            name.clone_into(place);
        }
        self
    }
}
