//! Writing a result so that nobody ever sees half of it: a temporary file, then renamed.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::Serialize;
use tempfile::NamedTempFile;

use crate::Failure;

/// Where a text goes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Destination {
    /// Standard output, written as `-`.
    StandardOutput,
    /// A file.
    File(PathBuf),
}

impl From<&Path> for Destination {
    fn from(path: &Path) -> Self {
        if path == Path::new("-") { Self::StandardOutput } else { Self::File(path.to_owned()) }
    }
}

/// Writes `value` as JSON with a line end after it.
///
/// # Errors
/// If it cannot be written; then a file that was there before is unchanged.
pub fn write_json(to: &Destination, value: &impl Serialize) -> io::Result<()> {
    let mut text = serde_json::to_vec_pretty(value)?;
    text.push(b'\n');
    match to {
        Destination::StandardOutput => {
            let mut out = io::stdout().lock();
            out.write_all(&text)?;
            out.flush()
        }
        Destination::File(path) => write_file(path, &text),
    }
}

/// Writes a text into a file, all of it or nothing.
///
/// # Errors
/// If the file cannot be written.
pub fn write_text(path: &Path, text: &str) -> Result<(), Failure> {
    write_file(path, text.as_bytes())
        .map_err(|source| Failure::Output { what: path.display().to_string(), source })
}

pub(crate) fn write_file(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut file = AtomicFile::create(path)?;
    file.write_all(text)?;
    file.finish()
}

/// The folder in which a file is.
pub(crate) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// What went wrong, without the name of a temporary file.
pub(crate) fn without_name(error: &io::Error) -> io::Error {
    error.raw_os_error().map_or_else(|| error.kind().into(), io::Error::from_raw_os_error)
}

/// A file that appears under its name when it is finished; until then, and if it never is, what
/// was there before stays.
pub(crate) struct AtomicFile(Target);

enum Target {
    /// A device or a pipe cannot be replaced by a file: it is written into.
    Device(File),
    /// Renamed to this path at the end.
    Temporary(NamedTempFile, PathBuf),
}

impl AtomicFile {
    /// Begins to write a file.
    pub fn create(path: &Path) -> io::Result<Self> {
        if path.exists() && !path.is_file() {
            return Ok(Self(Target::Device(File::options().write(true).open(path)?)));
        }
        let file = tempfile::Builder::new().prefix(".policert-").tempfile_in(folder_of(path));
        let file = file.map_err(|error| without_name(&error))?;
        Ok(Self(Target::Temporary(file, path.to_owned())))
    }

    /// Gives the file its name.
    pub fn finish(self) -> io::Result<()> {
        let Target::Temporary(file, path) = self.0 else { return Ok(()) };
        file.as_file().sync_data()?;
        let kept = std::fs::metadata(&path).ok().map(|metadata| metadata.permissions());
        file.as_file().set_permissions(kept.unwrap_or_else(ordinary))?;
        file.persist(&path).map_err(|error| error.error)?;
        Ok(())
    }
}

impl io::Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            Target::Device(file) => file.write(bytes),
            Target::Temporary(file, _) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Target::Device(file) => file.flush(),
            Target::Temporary(file, _) => file.flush(),
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
    fn a_file_is_replaced_as_a_whole() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("result.json");
        for value in ["first", "second"] {
            write_json(&Destination::File(path.clone()), &value)?;
            assert_eq!(std::fs::read_to_string(&path)?, format!("\"{value}\"\n"));
        }
        assert_eq!(std::fs::read_dir(folder.path())?.count(), 1, "no temporary file stays");
        let missing = folder.path().join("no/such/folder");
        assert!(write_json(&Destination::File(missing), &1).is_err());
        Ok(())
    }
}
