//! A cursor into the text of a source: one value.

use std::{borrow::Cow, ops::Range};

use super::{Content, JsonKind, JsonNodeId, extent::skip_space, position, reader};
use crate::source::{At, Source, Sources};

/// A cursor: one value of a source.
#[derive(Clone, Copy, Debug)]
pub struct Json<'s> {
    source: &'s Source,
    pub(super) node: JsonNodeId,
    /// The first byte behind it.
    end: u32,
}

impl<'s> Json<'s> {
    pub(crate) fn new(source: &'s Source, node: JsonNodeId) -> Self {
        let end = match &source.document().0 {
            Content::Json { extents, .. } => {
                position(extents.end(source.text().as_bytes(), node.start()))
            }
            Content::Pieces(_) => node.0,
        };
        Self { source, node, end }
    }

    /// Returns where it stands.
    #[must_use]
    pub fn at(self) -> At {
        At { source: self.source.id(), node: self.node }
    }

    /// The source in which it stands.
    #[must_use]
    pub fn source(self) -> &'s Source {
        self.source
    }

    /// Returns what it is.
    #[must_use]
    pub fn kind(self) -> JsonKind {
        if let Content::Pieces(_) = self.source.document().0 {
            return JsonKind::Null;
        }
        match self.bytes().get(self.node.start()) {
            Some(b'{') => JsonKind::Object,
            Some(b'[') => JsonKind::Array,
            Some(b'"') => JsonKind::String,
            Some(b't') => JsonKind::Bool(true),
            Some(b'f') => JsonKind::Bool(false),
            Some(b'-' | b'0'..=b'9') => JsonKind::Number,
            _ => JsonKind::Null,
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
        if self.kind() != JsonKind::String {
            return None;
        }
        let text = self.text();
        let inner = text.get(1..text.len() - 1)?;
        let escaped = inner.as_bytes().contains(&b'\\');
        Some(if escaped { Cow::Owned(reader::unescape(inner)) } else { Cow::Borrowed(inner) })
    }

    /// The elements of an array; none for any other value.
    pub fn elements(self) -> impl Iterator<Item = Json<'s>> + use<'s> {
        let first = (self.kind() == JsonKind::Array).then(|| self.first()).flatten();
        std::iter::successors(first, |element| element.next_element())
    }

    /// Keys and values of an object, in the order of the text; none for any other value.
    pub fn members(self) -> impl Iterator<Item = (Json<'s>, Json<'s>)> + use<'s> {
        let first = (self.kind() == JsonKind::Object).then(|| self.first()).flatten();
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
        (!is_empty).then(|| Self::new(self.source, JsonNodeId::new(at)))
    }

    /// The element, or the key, behind this value in its container.
    pub(crate) fn next_element(self) -> Option<Self> {
        let at = skip_space(self.bytes(), self.end as usize);
        let is_followed = self.bytes().get(at) == Some(&b',');
        let next = || Self::new(self.source, JsonNodeId::new(skip_space(self.bytes(), at + 1)));
        is_followed.then(next)
    }

    /// The value of this key.
    fn behind_colon(self) -> Self {
        let colon = skip_space(self.bytes(), self.end as usize);
        Self::new(self.source, JsonNodeId::new(skip_space(self.bytes(), colon + 1)))
    }

    /// The value of member `key`; the last one, if there are several.
    #[must_use]
    pub fn get(self, key: &str) -> Option<Json<'s>> {
        self.members().filter(|(k, _)| k.is_key(key)).map(|(_, value)| value).last()
    }

    /// Returns whether it is a string, and this one.
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

impl Source {
    /// The value that the whole file is.
    #[must_use]
    pub fn root(&self) -> Json<'_> {
        Json::new(self, self.document().root())
    }
}

impl Sources {
    /// The value at a place; `None` for a file of another load.
    #[must_use]
    pub fn get(&self, at: At) -> Option<Json<'_>> {
        self.by_id(at.source).map(|source| Json::new(source, at.node))
    }
}
