//! Which property is meant: one of the model's own, or one of a file.

use std::{
    fmt,
    path::{Path, PathBuf},
};

/// A property among others.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PropertyKey {
    /// By its position, from 0.
    Index(usize),
    /// By its name.
    Name(String),
}

impl fmt::Display for PropertyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Index(index) => write!(f, "{index}"),
            Self::Name(name) => write!(f, "`{name}`"),
        }
    }
}

/// A property of the model or of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Selector {
    /// One of the model's own.
    Own(PropertyKey),
    /// One of a file.
    File(PathBuf, PropertyKey),
}

impl Selector {
    /// Reads `N`, `NAME`, `FILE` (its first property), `FILE:N` or `FILE:NAME`; `own` are the
    /// names of the model's own properties, which go first.
    #[must_use]
    pub fn parse(text: &str, own: &[String]) -> Self {
        if let Ok(index) = text.parse() {
            return Self::Own(PropertyKey::Index(index));
        }
        let name = || PropertyKey::Name(text.to_owned());
        if own.iter().any(|own| own == text) {
            return Self::Own(name());
        }
        if let Some((file, key)) = text.rsplit_once(':').filter(|(file, key)| {
            !file.is_empty() && (key.parse::<usize>().is_ok() || Path::new(file).is_file())
        }) {
            let key = match key.parse() {
                Ok(index) => PropertyKey::Index(index),
                Err(_) => PropertyKey::Name(key.to_owned()),
            };
            return Self::File(PathBuf::from(file), key);
        }
        // What looks like a file is one, so that a missing one is called missing.
        if text.contains(['/', '\\']) || Path::new(text).extension().is_some() {
            return Self::File(PathBuf::from(text), PropertyKey::Index(0));
        }
        Self::Own(name())
    }
}
