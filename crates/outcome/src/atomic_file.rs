//! Writing a result so that nobody ever sees half of it: a temporary file, then renamed.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use tempfile::NamedTempFile;

use crate::Failure;

/// Says where a text goes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TextDestination {
    /// Standard output, written as `-`.
    StandardOutput,
    /// A file.
    File(PathBuf),
}

impl From<&Path> for TextDestination {
    fn from(path: &Path) -> Self {
        if path == Path::new("-") { Self::StandardOutput } else { Self::File(path.to_owned()) }
    }
}

/// Writes `value` as JSON with a line end after it.
///
/// # Errors
/// If it cannot be written; then a file that was there before is unchanged.
pub fn write_json(to: &TextDestination, value: &impl Serialize) -> io::Result<()> {
    let mut text = on_screen(serde_json::to_string_pretty(value)?);
    text.push('\n');
    let text = text.into_bytes();
    match to {
        TextDestination::StandardOutput => {
            let mut out = io::stdout().lock();
            unless_closed(out.write_all(&text).and_then(|()| out.flush()))
        }
        TextDestination::File(path) => write_file(path, &text),
    }
}

/// What came of writing to standard output. Whoever reads may stop reading, as in `policert … | head -1`:
/// that is no failure.
///
/// # Errors
/// Any other failure.
pub fn unless_closed(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// JSON with what has no glyph of its own written as escapes, which are the same JSON: such
/// characters stand in strings only, and a terminal would obey them.
fn on_screen(json: String) -> String {
    let is_plain = |c: char| c == '\n' || policert_files::is_plain(c);
    if json.chars().all(is_plain) {
        return json;
    }
    let mut text = String::with_capacity(json.len() + json.len() / 8);
    for c in json.chars() {
        if is_plain(c) {
            text.push(c);
        } else {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                text.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    text
}

/// Writes a text into a file, all of it or nothing.
///
/// # Errors
/// If the file cannot be written.
pub fn write_text(path: &Path, text: &str) -> Result<(), Failure> {
    write_file(path, text.as_bytes())
        .map_err(|source| Failure::Output { what: path.display().to_string(), source })
}

/// Writes a file, all of it or nothing.
///
/// # Errors
/// If it cannot be written; then a file that was there before is unchanged.
pub fn write_file(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut file = AtomicFile::create(path)?;
    file.write_all(text)?;
    file.finish()
}

/// The greatest number of symbolic links that may name each other in a row, as in Linux.
const MAX_LINKS: usize = 40;

/// The file that symbolic links lead to, which may not exist yet.
///
/// # Errors
/// If they lead nowhere.
pub(crate) fn followed(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        match std::fs::read_link(&path) {
            Ok(target) => path = folder_of(&path).join(target),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("symbolic links that lead in a circle"))
}

/// The folder in which a file is.
pub(crate) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// Returns what went wrong, without the name of a temporary file.
pub(crate) fn without_name(error: &io::Error) -> io::Error {
    error.raw_os_error().map_or_else(|| error.kind().into(), io::Error::from_raw_os_error)
}

/// A file that appears under its name when it is finished; until then, and if it never is, what
/// was there before stays.
pub struct AtomicFile(Target);

/// Files that are not finished, by their temporary names.
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn unfinished() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes files that are being written: for a process that ends in the middle of it.
pub fn remove_unfinished() {
    for path in std::mem::take(&mut *unfinished()) {
        // It may be finished or gone by now.
        let _ = std::fs::remove_file(path);
    }
}

/// A temporary file, known as unfinished.
struct Unfinished(NamedTempFile);

impl Unfinished {
    fn new(folder: &Path) -> io::Result<Self> {
        let file = tempfile::Builder::new().prefix(".policert-").tempfile_in(folder);
        let file = file.map_err(|error| without_name(&error))?;
        unfinished().insert(file.path().to_owned());
        Ok(Self(file))
    }

    fn persist(mut self, path: &Path) -> io::Result<()> {
        unfinished().remove(self.0.path());
        let result = std::fs::rename(self.0.path(), path);
        if result.is_ok() {
            self.0.disable_cleanup(true);
        }
        result
    }
}

enum Target {
    /// A device or a pipe cannot be replaced by a file: it is written into.
    Device(File),
    /// Renamed to this path at the end.
    Temporary(Unfinished, PathBuf),
}

impl AtomicFile {
    /// Begins to write a file.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn create(path: &Path) -> io::Result<Self> {
        if path.exists() && !path.is_file() {
            return Ok(Self(Target::Device(File::options().write(true).open(path)?)));
        }
        // The file that a link names is replaced, not the link.
        let path = followed(path)?;
        let file = Unfinished::new(folder_of(&path))?;
        Ok(Self(Target::Temporary(file, path)))
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(self) -> io::Result<()> {
        let Target::Temporary(file, path) = self.0 else { return Ok(()) };
        file.0.as_file().sync_data()?;
        let kept = std::fs::metadata(&path).ok().map(|metadata| metadata.permissions());
        file.0.as_file().set_permissions(kept.unwrap_or_else(ordinary))?;
        file.persist(&path)
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        unfinished().remove(self.0.path());
    }
}

impl io::Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            Target::Device(file) => file.write(bytes),
            Target::Temporary(file, _) => file.0.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Target::Device(file) => file.flush(),
            Target::Temporary(file, _) => file.0.flush(),
        }
    }
}

/// Readable by all, as a file made by the shell is; a temporary file is private.
#[cfg(unix)]
fn ordinary() -> std::fs::Permissions {
    std::os::unix::fs::PermissionsExt::from_mode(0o644)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_symbolic_link_stays_and_its_file_is_written() -> io::Result<()> {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir()?;
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir(at("there"))?;
        symlink("there/second", at("first"))?;
        symlink("file", at("there/second"))?;
        symlink("circle", at("circle"))?;
        for text in ["new", "replaced"] {
            write_file(&at("first"), text.as_bytes())?;
            assert_eq!(std::fs::read_to_string(at("there/file"))?, text);
            assert!(at("first").is_symlink() && at("there/second").is_symlink());
        }
        assert!(write_file(&at("circle"), b"text").is_err());
        Ok(())
    }

    #[test]
    fn what_is_not_finished_can_be_removed() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let file = AtomicFile::create(&folder.path().join("result"))?;
        assert_eq!(std::fs::read_dir(folder.path())?.count(), 1);
        remove_unfinished();
        assert_eq!(std::fs::read_dir(folder.path())?.count(), 0);
        assert!(file.finish().is_err());
        Ok(())
    }

    #[test]
    fn json_moves_no_cursor() -> serde_json::Result<()> {
        let name = "x\u{9b}2K\u{7f}\n\u{202e}\u{e0041}ü";
        let json = on_screen(serde_json::to_string_pretty(&[name])?);
        assert!(json.chars().all(|c| c == '\n' || policert_files::is_plain(c)), "{json:?}");
        assert_eq!(serde_json::from_str::<[String; 1]>(&json)?, [name]);
        Ok(())
    }

    #[test]
    fn a_file_is_replaced_as_a_whole() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("result.json");
        for value in ["first", "second"] {
            write_json(&TextDestination::File(path.clone()), &value)?;
            assert_eq!(std::fs::read_to_string(&path)?, format!("\"{value}\"\n"));
        }
        assert_eq!(std::fs::read_dir(folder.path())?.count(), 1, "no temporary file stays");
        let missing = folder.path().join("no/such/folder");
        assert!(write_json(&TextDestination::File(missing), &1).is_err());
        Ok(())
    }
}
