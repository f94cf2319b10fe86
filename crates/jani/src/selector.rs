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
    /// Reads `NAME`, `#N`, `N`, `FILE` (its first property), `FILE:N`, `FILE:#N` or `FILE:NAME`; `own`
    /// are the names of the model's own properties, which go first.
    #[must_use]
    pub fn parse(text: &str, own: &[String]) -> Self {
        let name = || PropertyKey::Name(text.to_owned());
        if own.iter().any(|own| own == text) {
            return Self::Own(name());
        }
        if let Some(index) = position(text) {
            return Self::Own(PropertyKey::Index(index));
        }
        if let Some((file, key)) = text.rsplit_once(':').filter(|(file, key)| {
            !file.is_empty() && (position(key).is_some() || Path::new(file).is_file())
        }) {
            let key = match position(key) {
                Some(index) => PropertyKey::Index(index),
                None => PropertyKey::Name(key.to_owned()),
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

/// A position: `N` or `#N`.
fn position(text: &str) -> Option<usize> {
    text.strip_prefix('#').unwrap_or(text).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_a_number_goes_before_the_position() {
        let own = ["2", "1", "0"].map(str::to_owned);
        let parse = |text: &str| Selector::parse(text, &own);
        let name = |text: &str| Selector::Own(PropertyKey::Name(text.to_owned()));
        assert_eq!(parse("2"), name("2"));
        assert_eq!(parse("#2"), Selector::Own(PropertyKey::Index(2)));
        assert_eq!(parse("3"), Selector::Own(PropertyKey::Index(3)));
        let file = |index| Selector::File(PathBuf::from("m.jani"), PropertyKey::Index(index));
        assert_eq!(parse("m.jani:2"), file(2));
        assert_eq!(parse("m.jani:#2"), file(2));
    }
}
