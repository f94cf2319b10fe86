//! A JSON reader that keeps the place of every value.
//!
//! A [`Document`] is one flat table of nodes in the order of the text (a container stands before
//! its content), so reading is a loop without recursion, whatever the nesting, and costs a few
//! allocations in all. [`Json`] is a cursor into it. Numbers keep their text.

mod members;
mod pointer;
mod reader;

use std::{borrow::Cow, ops::Range};

use thiserror::Error;

use crate::{
    source::{At, Source},
    stop::Watch,
};

pub(crate) use members::Members;
pub(crate) use pointer::pointers;

/// Deepest nesting of arrays and objects that is read.
pub const MAX_DEPTH: usize = 2000;

/// A value or key of a [`Document`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(u32);

impl NodeId {
    /// The value that the whole document is.
    pub const ROOT: Self = Self(0);

    /// The node at a position of the table.
    pub(crate) fn new(position: usize) -> Self {
        Self(u32::try_from(position).unwrap_or(u32::MAX))
    }
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
    /// A string or the key of a member; whether it holds escapes.
    String {
        /// Whether there is a backslash in it.
        escaped: bool,
    },
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
            Self::String { .. } => "a string",
            Self::Array => "an array",
            Self::Object => "an object",
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Node {
    kind: Kind,
    /// Bytes of the value, quotes included.
    start: u32,
    end: u32,
    /// The node after this one and all its content.
    next: u32,
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

/// The nodes of one JSON text.
#[derive(Clone, Debug)]
pub struct Document {
    nodes: Vec<Node>,
    duplicate_keys: Vec<NodeId>,
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
        let position = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
        let node = |(i, span): (usize, Range<usize>)| Node {
            kind: Kind::Null,
            start: position(span.start),
            end: position(span.end),
            next: position(i + 1),
        };
        let nodes = spans.into_iter().enumerate().map(node).collect();
        Self { nodes, duplicate_keys: Vec::new() }
    }

    /// Keys that stand in an object that has the same key further up.
    #[must_use]
    pub fn duplicate_keys(&self) -> &[NodeId] {
        &self.duplicate_keys
    }

    /// Number of its values, keys included.
    #[must_use]
    pub fn values(&self) -> usize {
        self.nodes.len()
    }

    /// Bytes of a value in the text.
    #[must_use]
    pub fn span(&self, node: NodeId) -> Range<usize> {
        let node = self.node(node);
        node.start as usize..node.end as usize
    }

    fn node(&self, node: NodeId) -> &Node {
        &self.nodes[node.0 as usize]
    }
}

/// A cursor: one value of a source.
#[derive(Clone, Copy, Debug)]
pub struct Json<'s> {
    source: &'s Source,
    node: NodeId,
}

impl<'s> Json<'s> {
    pub(crate) fn new(source: &'s Source, node: NodeId) -> Self {
        Self { source, node }
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
        self.source.document().node(self.node).kind
    }

    /// Its text in the source, quotes included.
    #[must_use]
    pub fn text(self) -> &'s str {
        &self.source.text()[self.source.document().span(self.node)]
    }

    /// The string it is, escapes resolved.
    #[must_use]
    pub fn as_str(self) -> Option<Cow<'s, str>> {
        let Kind::String { escaped } = self.kind() else { return None };
        let text = self.text();
        let inner = text.get(1..text.len() - 1)?;
        Some(if escaped { Cow::Owned(reader::unescape(inner)) } else { Cow::Borrowed(inner) })
    }

    /// The elements of an array; none for any other value.
    pub fn elements(self) -> impl Iterator<Item = Json<'s>> + use<'s> {
        let nodes = &self.source.document().nodes;
        let (mut at, end) = match self.kind() {
            Kind::Array => (self.node.0 + 1, nodes[self.node.0 as usize].next),
            _ => (0, 0),
        };
        std::iter::from_fn(move || {
            (at < end).then(|| {
                let element = Json::new(self.source, NodeId(at));
                at = nodes[at as usize].next;
                element
            })
        })
    }

    /// Keys and values of an object, in the order of the text; none for any other value.
    pub fn members(self) -> impl Iterator<Item = (Json<'s>, Json<'s>)> + use<'s> {
        let nodes = &self.source.document().nodes;
        let (mut at, end) = match self.kind() {
            Kind::Object => (self.node.0 + 1, nodes[self.node.0 as usize].next),
            _ => (0, 0),
        };
        std::iter::from_fn(move || {
            (at < end).then(|| {
                let key = Json::new(self.source, NodeId(at));
                let value = Json::new(self.source, NodeId(at + 1));
                at = nodes[at as usize + 1].next;
                (key, value)
            })
        })
    }

    /// The value of member `key`; the last one, if there are several.
    #[must_use]
    pub fn get(self, key: &str) -> Option<Json<'s>> {
        self.members().filter(|(k, _)| k.is_key(key)).map(|(_, value)| value).last()
    }

    /// Whether it is a string, and this one.
    #[must_use]
    pub fn is_key(self, key: &str) -> bool {
        match self.kind() {
            Kind::String { escaped: false } => {
                let text = self.text().as_bytes();
                text.len() == key.len() + 2 && &text[1..=key.len()] == key.as_bytes()
            }
            Kind::String { escaped: true } => self.as_str().is_some_and(|s| s == key),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests;
