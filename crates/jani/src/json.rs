//! A JSON reader that keeps the place of every value.
//!
//! A text is read once, to see that it is JSON and to find keys that stand twice; the tree of its
//! values is the text itself. [`Json`] is a cursor into it: the byte at which a value starts. A
//! [`Document`] keeps the ends of long containers, to step over them. Reading is a loop without
//! recursion, whatever the nesting. Numbers keep their text.

mod extent;
mod members;
mod pointer;
mod reader;

use std::{borrow::Cow, ops::Range};

use extent::{Extents, skip_space};
use thiserror::Error;

use crate::{
    source::{At, Source},
    stop::Watch,
};

pub(crate) use members::Members;
pub(crate) use pointer::pointers;

/// Deepest nesting of arrays and objects that is read.
pub const MAX_DEPTH: usize = 2000;

/// A value or key of a [`Document`]: the byte at which it starts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(u32);

impl NodeId {
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

/// What a value is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
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

impl Kind {
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

/// Why a text is no JSON.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{message}")]
pub struct JsonError {
    /// Byte offset into the text.
    pub offset: usize,
    /// What is wrong.
    pub message: String,
    /// Whether it is only nested too deeply for this reader.
    pub too_deep: bool,
}

/// What is known about one text.
#[derive(Clone, Debug)]
pub struct Document(Content);

#[derive(Clone, Debug)]
enum Content {
    Json {
        /// Where the value starts.
        root: NodeId,
        /// Number of values, keys included.
        values: u64,
        extents: Extents,
        duplicate_keys: Vec<NodeId>,
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
    pub fn root(&self) -> NodeId {
        match &self.0 {
            Content::Json { root, .. } => *root,
            Content::Pieces(_) => NodeId(0),
        }
    }

    /// Keys that stand in an object that has the same key further up.
    #[must_use]
    pub fn duplicate_keys(&self) -> &[NodeId] {
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

/// A cursor: one value of a source.
#[derive(Clone, Copy, Debug)]
pub struct Json<'s> {
    source: &'s Source,
    node: NodeId,
    /// The first byte behind it.
    end: u32,
}

impl<'s> Json<'s> {
    pub(crate) fn new(source: &'s Source, node: NodeId) -> Self {
        let end = match &source.document().0 {
            Content::Json { extents, .. } => {
                position(extents.end(source.text().as_bytes(), node.start()))
            }
            Content::Pieces(_) => node.0,
        };
        Self { source, node, end }
    }

    /// Where it stands.
    #[must_use]
    pub fn at(self) -> At {
        At { source: self.source.id(), node: self.node }
    }

    /// The source in which it stands.
    #[must_use]
    pub fn source(self) -> &'s Source {
        self.source
    }

    /// What it is.
    #[must_use]
    pub fn kind(self) -> Kind {
        if let Content::Pieces(_) = self.source.document().0 {
            return Kind::Null;
        }
        match self.bytes().get(self.node.start()) {
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            Some(b'"') => Kind::String,
            Some(b't') => Kind::Bool(true),
            Some(b'f') => Kind::Bool(false),
            Some(b'-' | b'0'..=b'9') => Kind::Number,
            _ => Kind::Null,
        }
    }

    /// Its bytes in the source, quotes included.
    #[must_use]
    pub fn span(self) -> Range<usize> {
        match &self.source.document().0 {
            Content::Json { .. } => self.node.start()..self.end as usize,
            Content::Pieces(pieces) => pieces.get(self.node.start()).cloned().unwrap_or_default(),
        }
    }

    /// Its text in the source, quotes included.
    #[must_use]
    pub fn text(self) -> &'s str {
        self.source.text().get(self.span()).unwrap_or_default()
    }

    /// The string it is, escapes resolved.
    #[must_use]
    pub fn as_str(self) -> Option<Cow<'s, str>> {
        if self.kind() != Kind::String {
            return None;
        }
        let text = self.text();
        let inner = text.get(1..text.len() - 1)?;
        let escaped = inner.as_bytes().contains(&b'\\');
        Some(if escaped { Cow::Owned(reader::unescape(inner)) } else { Cow::Borrowed(inner) })
    }

    /// The elements of an array; none for any other value.
    pub fn elements(self) -> impl Iterator<Item = Json<'s>> + use<'s> {
        let first = (self.kind() == Kind::Array).then(|| self.first()).flatten();
        std::iter::successors(first, |element| element.next_element())
    }

    /// Keys and values of an object, in the order of the text; none for any other value.
    pub fn members(self) -> impl Iterator<Item = (Json<'s>, Json<'s>)> + use<'s> {
        let first = (self.kind() == Kind::Object).then(|| self.first()).flatten();
        let member = |key: Self| (key, key.behind_colon());
        std::iter::successors(first.map(member), move |(_, value)| value.next_element().map(member))
    }

    fn bytes(self) -> &'s [u8] {
        self.source.text().as_bytes()
    }

    /// The first element, or the first key, of this container.
    fn first(self) -> Option<Self> {
        let at = skip_space(self.bytes(), self.node.start() + 1);
        let is_empty = matches!(self.bytes().get(at), None | Some(b']' | b'}'));
        (!is_empty).then(|| Self::new(self.source, NodeId::new(at)))
    }

    /// The element, or the key, behind this value in its container.
    pub(crate) fn next_element(self) -> Option<Self> {
        let at = skip_space(self.bytes(), self.end as usize);
        let is_followed = self.bytes().get(at) == Some(&b',');
        let next = || Self::new(self.source, NodeId::new(skip_space(self.bytes(), at + 1)));
        is_followed.then(next)
    }

    /// The value of this key.
    fn behind_colon(self) -> Self {
        let colon = skip_space(self.bytes(), self.end as usize);
        Self::new(self.source, NodeId::new(skip_space(self.bytes(), colon + 1)))
    }

    /// The value of member `key`; the last one, if there are several.
    #[must_use]
    pub fn get(self, key: &str) -> Option<Json<'s>> {
        self.members().filter(|(k, _)| k.is_key(key)).map(|(_, value)| value).last()
    }

    /// Whether it is a string, and this one.
    #[must_use]
    pub fn is_key(self, key: &str) -> bool {
        let (bytes, key) = (self.bytes(), key.as_bytes());
        let text = bytes.get(self.node.start()..self.end as usize).unwrap_or_default();
        let [b'"', inner @ .., b'"'] = text else { return false };
        if inner.len() <= key.len() {
            return inner == key;
        }
        // What is escaped is longer than what it stands for.
        let same = inner.iter().zip(key).take_while(|(a, b)| a == b).count();
        inner[same] == b'\\' && self.as_str().is_some_and(|s| s.as_bytes() == key)
    }
}

#[cfg(test)]
mod tests;
