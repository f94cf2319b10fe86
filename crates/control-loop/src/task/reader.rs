//! Typed access to TOML, with exact numbers and places in the messages.

use std::cell::RefCell;

use policert_numeric::Rational;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use crate::error::ReachError;

/// The text that tables come from.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) file: &'a str,
    pub(super) text: &'a str,
}

impl Source<'_> {
    /// An error at a position in bytes.
    pub(super) fn error(&self, at: usize, message: impl Into<String>) -> ReachError {
        let before = self.text.get(..at).unwrap_or(self.text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        ReachError::Invalid {
            file: self.file.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            message: message.into(),
        }
    }
}

/// A table, and which of its keys were read.
pub(super) struct Section<'a, 'i> {
    source: Source<'a>,
    table: &'a DeTable<'i>,
    name: String,
    at: usize,
    read: RefCell<Vec<&'a str>>,
}

/// A value with the place where it stands.
#[derive(Clone, Copy)]
pub(super) struct Entry<'a, 'i> {
    source: Source<'a>,
    key: &'a str,
    value: &'a Spanned<DeValue<'i>>,
}

impl<'a, 'i> Section<'a, 'i> {
    pub(super) fn root(source: Source<'a>, table: &'a Spanned<DeTable<'i>>) -> Self {
        Self {
            source,
            table: table.get_ref(),
            name: String::new(),
            at: 0,
            read: RefCell::new(Vec::new()),
        }
    }

    /// The value of a key, if it is there.
    pub(super) fn get(&self, key: &'a str) -> Option<Entry<'a, 'i>> {
        self.read.borrow_mut().push(key);
        let (_, value) = self.table.iter().find(|(name, _)| name.get_ref() == key)?;
        Some(Entry { source: self.source, key, value })
    }

    /// All values, in the order of their keys.
    pub(super) fn entries(&self) -> Vec<Entry<'a, 'i>> {
        let entry = |(key, value): (&'a Spanned<DeString<'i>>, &'a Spanned<DeValue<'i>>)| Entry {
            source: self.source,
            key: key.get_ref().as_ref(),
            value,
        };
        self.table.iter().map(entry).collect()
    }

    /// The value of a key that must be there.
    pub(super) fn need(&self, key: &'a str) -> Result<Entry<'a, 'i>, ReachError> {
        self.get(key).ok_or_else(|| self.missing(key))
    }

    pub(super) fn missing(&self, key: &str) -> ReachError {
        let place =
            if self.name.is_empty() { String::new() } else { format!(" in [{}]", self.name) };
        self.source.error(self.at, format!("`{key}` is missing{place}"))
    }

    /// A table under a key.
    pub(super) fn section(&self, key: &'a str) -> Result<Option<Section<'a, 'i>>, ReachError> {
        self.get(key).map(|entry| entry.section()).transpose()
    }

    /// A table that must be there.
    pub(super) fn need_section(&self, key: &'a str) -> Result<Section<'a, 'i>, ReachError> {
        self.section(key)?.ok_or_else(|| self.missing(key))
    }

    /// Refuses keys that were not read, except those that only inform.
    pub(super) fn finish(&self, informative: &[&str]) -> Result<(), ReachError> {
        let read = self.read.borrow();
        for (key, _) in self.table {
            let name = key.get_ref().as_ref();
            if !read.contains(&name) && !informative.contains(&name) {
                let place = match self.name.as_str() {
                    "" => String::new(),
                    name => format!(" in [{name}]"),
                };
                let message = format!("the key `{name}` has no meaning{place}");
                return Err(self.source.error(key.span().start, message));
            }
        }
        Ok(())
    }

    /// An error about the section.
    pub(super) fn error(&self, message: impl Into<String>) -> ReachError {
        self.source.error(self.at, message)
    }
}

impl<'a, 'i> Entry<'a, 'i> {
    /// Its key.
    pub(super) fn key(&self) -> &'a str {
        self.key
    }

    pub(super) fn error(&self, message: impl Into<String>) -> ReachError {
        self.source.error(self.value.span().start, message)
    }

    /// An error at a position inside a text value.
    pub(super) fn error_inside(&self, at: usize, message: impl Into<String>) -> ReachError {
        // One quotation mark before the text; where there are three, or escapes, the place is only
        // about right.
        self.source.error(self.value.span().start + 1 + at, message)
    }

    fn wrong(&self, wanted: &str) -> ReachError {
        self.error(format!("`{}` must be {wanted}", self.key))
    }

    pub(super) fn section(&self) -> Result<Section<'a, 'i>, ReachError> {
        let DeValue::Table(table) = self.value.get_ref() else { return Err(self.wrong("a table")) };
        Ok(Section {
            source: self.source,
            table,
            name: self.key.to_owned(),
            at: self.value.span().start,
            read: RefCell::new(Vec::new()),
        })
    }

    pub(super) fn items(&self) -> Result<Vec<Entry<'a, 'i>>, ReachError> {
        let DeValue::Array(array) = self.value.get_ref() else { return Err(self.wrong("a list")) };
        Ok(array.iter().map(|value| Entry { value, ..*self }).collect())
    }

    pub(super) fn is_list(&self) -> bool {
        matches!(self.value.get_ref(), DeValue::Array(_))
    }

    pub(super) fn text(&self) -> Result<&'a str, ReachError> {
        match self.value.get_ref() {
            DeValue::String(text) => Ok(text.as_ref()),
            _ => Err(self.wrong("a text")),
        }
    }

    /// An exact number: as TOML writes it, or a decimal or fraction as text.
    pub(super) fn number(&self) -> Result<Rational, ReachError> {
        let text = match self.value.get_ref() {
            DeValue::Float(float) => float.as_str(),
            DeValue::Integer(integer) if integer.radix() == 10 => integer.as_str(),
            DeValue::String(text) => text.as_ref(),
            _ => return Err(self.wrong("a number")),
        };
        let plain = text.trim().replace('_', "");
        let plain = plain.strip_prefix('+').unwrap_or(&plain);
        let number = match plain.split_once('/') {
            Some((a, b)) => {
                match (Rational::parse_decimal(a.trim()), Rational::parse_decimal(b.trim())) {
                    (Some(a), Some(b)) => a.checked_div(&b),
                    _ => None,
                }
            }
            None => Rational::parse_decimal(plain),
        };
        number.ok_or_else(|| self.wrong("a number"))
    }

    pub(super) fn numbers(&self) -> Result<Vec<Rational>, ReachError> {
        self.items()?.iter().map(Entry::number).collect()
    }

    /// A list of numbers of a certain length.
    pub(super) fn exactly(&self, count: usize) -> Result<Vec<Rational>, ReachError> {
        let numbers = self.numbers()?;
        if numbers.len() == count {
            Ok(numbers)
        } else {
            Err(self.error(format!(
                "`{}` needs {count} numbers, it has {}",
                self.key,
                numbers.len()
            )))
        }
    }

    /// A whole number in a range.
    pub(super) fn count(&self, least: u32, most: u32) -> Result<u32, ReachError> {
        self.number()?
            .to_i64()
            .and_then(|value| u32::try_from(value).ok())
            .filter(|value| (least..=most).contains(value))
            .ok_or_else(|| self.wrong(&format!("a whole number from {least} to {most}")))
    }

    pub(super) fn texts(&self) -> Result<Vec<&'a str>, ReachError> {
        self.items()?.iter().map(Entry::text).collect()
    }
}
