//! A JSON reader that keeps the place of every value.
//!
//! A text is read once, to see that it is JSON and to find keys that stand twice; the tree of its
//! values is the text itself. [`Json`] is a cursor into it: the byte at which a value starts. A
//! [`Document`] keeps the ends of long containers, to step over them. Reading is a loop without
//! recursion, whatever the nesting. Numbers keep their text.

mod cursor;
mod extent;
mod members;
mod pointer;
mod reader;

use std::ops::Range;

use extent::{Extents, skip_space};
use thiserror::Error;

use crate::stop::Watch;

pub use cursor::Json;
pub(crate) use members::Members;
pub(crate) use pointer::pointers;

/// Deepest nesting of arrays and objects that is read.
pub const MAX_DEPTH: usize = 2000;

/// A value or key of a [`Document`]: the byte at which it starts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct JsonNodeId(u32);

impl JsonNodeId {
    /// The value at a byte, or the piece at a position.
    pub(crate) fn new(at: usize) -> Self {
        Self(position(at))
    }

    fn start(self) -> usize {
        self.0 as usize
    }
}

/// An offset as it is stored; texts of more than 4 GiB are refused at the start.
fn position(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

/// Says what a value is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum JsonKind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number; its text says which.
    Number,
    /// A string or the key of a member.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl JsonKind {
    /// The kind with its article, for messages.
    #[must_use]
    pub fn describe(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a truth value",
            Self::Number => "a number",
            Self::String => "a string",
            Self::Array => "an array",
            Self::Object => "an object",
        }
    }
}

/// Says why a text is no JSON.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{message}")]
pub struct JsonError {
    /// Byte offset into the text.
    pub offset: usize,
    /// The problem in words.
    pub message: String,
    /// True if it is only nested too deeply for this reader.
    pub too_deep: bool,
}

/// Holds what is known about one text.
#[derive(Clone, Debug)]
pub struct Document(Content);

#[derive(Clone, Debug)]
enum Content {
    Json {
        /// The start of the value.
        root: JsonNodeId,
        /// Number of values, keys included.
        values: u64,
        extents: Extents,
        duplicate_keys: Vec<JsonNodeId>,
    },
    /// The pieces of a text that is no JSON.
    Pieces(Vec<Range<usize>>),
}

impl Document {
    /// Reads `text`, which must be one JSON value, after an optional byte-order mark.
    ///
    /// # Errors
    /// The first place that is no JSON, or lies deeper than [`MAX_DEPTH`]; any place, if `watch`
    /// stops.
    pub fn parse(text: &str, watch: &mut Watch) -> Result<Self, JsonError> {
        reader::read(text, watch)
    }

    /// The pieces of a text that is no JSON, so that each has a place.
    pub(crate) fn of_spans(spans: Vec<Range<usize>>) -> Self {
        Self(Content::Pieces(spans))
    }

    /// The value that the whole document is.
    #[must_use]
    pub fn root(&self) -> JsonNodeId {
        match &self.0 {
            Content::Json { root, .. } => *root,
            Content::Pieces(_) => JsonNodeId(0),
        }
    }

    /// Keys that stand in an object that has the same key further up.
    #[must_use]
    pub fn duplicate_keys(&self) -> &[JsonNodeId] {
        match &self.0 {
            Content::Json { duplicate_keys, .. } => duplicate_keys,
            Content::Pieces(_) => &[],
        }
    }

    /// Number of its values, keys included.
    #[must_use]
    pub fn values(&self) -> u64 {
        match &self.0 {
            Content::Json { values, .. } => *values,
            Content::Pieces(pieces) => pieces.len() as u64,
        }
    }
}

#[cfg(test)]
mod tests;
