//! What can be wrong with a property file.

use std::fmt;

/// Says why a property cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VnnlibError {
    /// The file cannot be read.
    #[error("{file}: {source}")]
    Io {
        file: String,
        /// The error of the operating system.
        #[source]
        source: std::io::Error,
    },
    /// The file breaks the rules of the format.
    #[error("{place}: {message}")]
    Invalid {
        /// The place in the file.
        place: Place,
        /// The fault, and what would be right.
        message: String,
    },
    /// The file means something that is not supported.
    #[error("{place}: {message}")]
    Unsupported {
        /// The place in the file.
        place: Place,
        /// The unsupported feature, and what is supported instead.
        message: String,
    },
}

/// A place in a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// Says what is wrong at a position of a text whose name is not known yet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Fault {
    /// Offset in bytes.
    at: usize,
    message: String,
    supported: bool,
}

impl Fault {
    pub fn invalid(at: usize, message: impl Into<String>) -> Self {
        Self { at, message: message.into(), supported: true }
    }

    pub fn unsupported(at: usize, message: impl Into<String>) -> Self {
        Self { at, message: message.into(), supported: false }
    }

    pub fn in_file(self, file: &str, bytes: &[u8]) -> VnnlibError {
        let before = &bytes[..self.at.min(bytes.len())];
        let start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        let place = Place {
            file: file.to_owned(),
            line: 1 + before.iter().filter(|&&byte| byte == b'\n').count(),
            column: 1 + String::from_utf8_lossy(&before[start..]).chars().count(),
        };
        let message = self.message;
        if self.supported {
            VnnlibError::Invalid { place, message }
        } else {
            VnnlibError::Unsupported { place, message }
        }
    }
}
