//! Files: the model, property files, and the parts that properties take from other files.

use std::{
    io::Read,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::Parser;
use crate::{
    diagnostic::{DiagnosticCode, DiagnosticKind},
    json::{Json, JsonError},
    source::{At, Source, SourceText},
};

/// The greatest number of files that may refer to each other in a row.
const MAX_INCLUDES: usize = 16;

/// Bytes that are read at once.
const PIECE: u64 = 4 << 20;

impl Parser {
    /// Reads a file, once; `from` is the place that names it, if one does.
    pub fn file(&mut self, path: &Path, from: Option<At>) -> Option<Arc<Source>> {
        if let Some(source) = self.diagnostics.sources.by_path(path) {
            return Some(source);
        }
        match policert_files::regular(path).and_then(|()| self.content(path)) {
            Ok(bytes) => self.bytes(path, bytes),
            Err(error) => {
                let message = format!("cannot read `{}`: {error}", path.display());
                match from {
                    Some(at) => self.diagnostics.invalid(DiagnosticCode::File, at, message),
                    None => self.diagnostics.general(
                        DiagnosticCode::File,
                        DiagnosticKind::Invalid,
                        message,
                    ),
                }
                None
            }
        }
    }

    /// The bytes of a file; some of them, if the watch stops.
    fn content(&mut self, path: &Path) -> std::io::Result<Vec<u8>> {
        let mut file = std::fs::File::open(path)?;
        let size = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX);
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(size).map_err(|_| std::io::ErrorKind::OutOfMemory)?;
        while !self.watch.ask() && Read::take(&mut file, PIECE).read_to_end(&mut bytes)? > 0 {}
        Ok(bytes)
    }

    /// Reads what stands in a file.
    pub fn bytes(&mut self, path: &Path, bytes: Vec<u8>) -> Option<Arc<Source>> {
        if self.watch.ask() {
            return None;
        }
        match String::from_utf8(bytes) {
            Ok(text) => self.text(path, text),
            Err(error) => {
                let offset = error.utf8_error().valid_up_to();
                let valid = String::from_utf8_lossy(&error.into_bytes()).into_owned();
                let error = JsonError {
                    offset,
                    message: "the file is not UTF-8".to_owned(),
                    too_deep: false,
                };
                self.diagnostics.syntax(&SourceText::new(path, valid), &error);
                None
            }
        }
    }

    /// Reads a text as JSON; warns of keys that stand twice in one object.
    pub fn text(&mut self, path: &Path, text: String) -> Option<Arc<Source>> {
        let id = self.diagnostics.sources.next_id();
        match Source::from_text(id, path, text, &mut self.watch) {
            Ok(source) => {
                let source = self.diagnostics.sources.push(source);
                self.duplicate_keys(&source);
                Some(source)
            }
            Err(_) if self.watch.is_stopped() => None,
            Err(failed) => {
                let (text, error) = *failed;
                self.diagnostics.syntax(&text, &error);
                None
            }
        }
    }

    fn duplicate_keys(&mut self, source: &Source) {
        for &key in source.document().duplicate_keys() {
            let key = Json::new(source, key);
            let name = key.as_str().unwrap_or_default();
            let message = format!("key `{name}` stands twice in one object; the last one counts");
            self.diagnostics.warning(DiagnosticCode::DuplicateKey, key.at(), message);
        }
    }

    /// A member that stands in place or in a file of its own, `{"file": …}`, which is looked for
    /// from the folder of the file that names it.
    pub(super) fn included<T>(
        &mut self,
        json: Json<'_>,
        read: &mut dyn FnMut(&mut Self, Json<'_>) -> Option<T>,
    ) -> Option<T> {
        self.included_from(json, read, 0)
    }

    fn included_from<T>(
        &mut self,
        json: Json<'_>,
        read: &mut dyn FnMut(&mut Self, Json<'_>) -> Option<T>,
        depth: usize,
    ) -> Option<T> {
        let Some(file) = json.get("file").filter(|_| json.get("op").is_none()) else {
            return read(self, json);
        };
        let path = self.path(file)?;
        if depth >= MAX_INCLUDES {
            let message = format!("more than {MAX_INCLUDES} files that name each other");
            self.diagnostics.invalid(DiagnosticCode::File, file.at(), message);
            return None;
        }
        let source = self.file(&path, Some(file.at()))?;
        self.included_from(source.root(), read, depth + 1)
    }

    /// A path, relative to the folder of the file in which it stands.
    pub(super) fn path(&mut self, json: Json<'_>) -> Option<PathBuf> {
        let path = self.string(json)?;
        Some(json.source().resolve(&path))
    }
}
