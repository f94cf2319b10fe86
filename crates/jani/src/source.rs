//! The files that were read, and places in them.

use std::{
    ops::Range,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use crate::{
    json::{Document, JsonError, JsonNodeId},
    stop::Watch,
};

/// One of the files that were read.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SourceId(pub u32);

/// A place: a value of a file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct At {
    /// The file.
    pub source: SourceId,
    /// The value.
    pub node: JsonNodeId,
}

/// A file that is JSON.
#[derive(Debug)]
pub struct Source {
    id: SourceId,
    text: SourceText,
    document: Document,
}

impl Source {
    /// Reads `text` as JSON; `path` is its name for people, and what includes are relative to.
    ///
    /// # Errors
    /// If it is no JSON, or `watch` stops.
    pub fn from_text(
        id: SourceId,
        path: &Path,
        text: String,
        watch: &mut Watch,
    ) -> Result<Self, Box<(SourceText, JsonError)>> {
        let text = SourceText::new(path, text);
        match Document::parse(text.text(), watch) {
            Ok(document) => Ok(Self { id, text, document }),
            Err(error) => Err(Box::new((text, error))),
        }
    }

    /// A text that is no JSON, with places for its pieces (at least one).
    pub(crate) fn of_spans(
        id: SourceId,
        path: &Path,
        text: String,
        spans: Vec<Range<usize>>,
    ) -> Self {
        let text = SourceText::new(path, text);
        Self { id, text, document: Document::of_spans(spans) }
    }

    /// Returns which of the files it is.
    #[must_use]
    pub fn id(&self) -> SourceId {
        self.id
    }

    /// Its path, as it was given or included.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.text.path
    }

    /// Its text.
    #[must_use]
    pub fn text(&self) -> &str {
        self.text.text()
    }

    /// Its text with lines.
    #[must_use]
    pub fn lines(&self) -> &SourceText {
        &self.text
    }

    /// Its values.
    #[must_use]
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// A path written in this file, relative to its folder.
    #[must_use]
    pub fn resolve(&self, path: &str) -> PathBuf {
        match self.path().parent() {
            Some(folder) => folder.join(path),
            None => PathBuf::from(path),
        }
    }
}

/// A text with its name and lines.
#[derive(Debug)]
pub struct SourceText {
    path: PathBuf,
    text: String,
    line_starts: OnceLock<Vec<usize>>,
    /// Number of characters before each block of [`BLOCK`] bytes: a line may be as long as the file.
    characters: OnceLock<Vec<usize>>,
}

/// Bytes of which the characters are counted once and for all.
const BLOCK: usize = 1 << 16;

/// Number of characters that start in these bytes of a UTF-8 text.
fn characters(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| byte & 0xc0 != 0x80).count()
}

impl SourceText {
    /// A text named `path`.
    #[must_use]
    pub fn new(path: &Path, text: String) -> Self {
        let path = path.to_owned();
        Self { path, text, line_starts: OnceLock::new(), characters: OnceLock::new() }
    }

    /// Its name.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Line and column of a byte offset, both from 1; columns count characters.
    #[must_use]
    pub fn line_column(&self, offset: usize) -> (usize, usize) {
        let (line, start) = self.line_at(offset);
        let mark = usize::from(self.text[start..].starts_with('\u{feff}') && start < offset);
        let before = self.characters_before(offset) - self.characters_before(start);
        (line + 1, before.saturating_sub(mark) + 1)
    }

    /// Number of characters before a byte offset.
    fn characters_before(&self, offset: usize) -> usize {
        let bytes = self.text.as_bytes();
        let offset = offset.min(bytes.len());
        let blocks = self.characters.get_or_init(|| {
            let mut count = 0;
            let counts = bytes.chunks(BLOCK).map(|block| {
                let before = count;
                count += characters(block);
                before
            });
            counts.collect()
        });
        let block = offset / BLOCK;
        match blocks.get(block) {
            Some(before) => before + characters(&bytes[block * BLOCK..offset]),
            // The end of a text of whole blocks.
            None => blocks.last().map_or(0, |before| {
                before + characters(&bytes[(blocks.len() - 1) * BLOCK..offset])
            }),
        }
    }

    /// The line that holds a byte offset, without its end, and the offset of its first byte.
    #[must_use]
    pub fn line_around(&self, offset: usize) -> (&str, usize) {
        let (line, start) = self.line_at(offset);
        let end = self.starts().get(line + 1).map_or(self.text.len(), |next| next - 1);
        (self.text[start..end].trim_end_matches('\r'), start)
    }

    fn line_at(&self, offset: usize) -> (usize, usize) {
        let starts = self.starts();
        let line = starts.partition_point(|&start| start <= offset).saturating_sub(1);
        (line, starts[line])
    }

    fn starts(&self) -> &[usize] {
        self.line_starts.get_or_init(|| {
            let ends = self.text.bytes().enumerate().filter(|&(_, b)| b == b'\n');
            std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect()
        })
    }
}

/// The files of one load, by id.
#[derive(Clone, Default, Debug)]
pub struct Sources(Vec<Arc<Source>>);

impl Sources {
    /// The id that the next file gets.
    #[must_use]
    pub fn next_id(&self) -> SourceId {
        SourceId(u32::try_from(self.0.len()).unwrap_or(u32::MAX))
    }

    /// Number of files.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Number of values in all files, keys included.
    #[must_use]
    pub fn values(&self) -> u64 {
        self.0.iter().map(|source| source.document().values()).sum()
    }

    /// The paths of the files, in the order of reading.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.0.iter().map(|source| source.path())
    }

    /// Adds a file that was made with [`Sources::next_id`].
    pub fn push(&mut self, source: Source) -> Arc<Source> {
        let source = Arc::new(source);
        self.0.push(Arc::clone(&source));
        source
    }

    /// The file that was read from a path.
    #[must_use]
    pub fn by_path(&self, path: &Path) -> Option<Arc<Source>> {
        self.0.iter().find(|source| source.path() == path).cloned()
    }

    /// The file of an id; `None` for one of another load.
    #[must_use]
    pub fn source(&self, id: SourceId) -> Option<Arc<Source>> {
        self.by_id(id).cloned()
    }

    pub(crate) fn by_id(&self, id: SourceId) -> Option<&Arc<Source>> {
        self.0.get(id.0 as usize)
    }
}
