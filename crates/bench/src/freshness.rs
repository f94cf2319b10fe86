//! Whether a finished run still says something: whether its arguments, its files, its limits and the
//! program are what they were.

use std::path::{Path, PathBuf};

use policert_outcome::{FileDigest, VERSION, file_digest};

use crate::journal::{JournalEntry, RunKey};
use crate::suite::{Suite, WORK};

/// A word of a command with the folder of generated files in it.
pub(crate) fn in_work(word: &str, work: &Path) -> String {
    if !word.contains(WORK) {
        return word.to_owned();
    }
    let work = std::path::absolute(work).unwrap_or_else(|_| work.to_owned());
    word.replace(WORK, &work.display().to_string())
}

/// The files that the arguments of a run name, with their hashes.
pub(crate) fn named_files(suite: &Suite, key: &RunKey, work: &Path) -> Vec<FileDigest> {
    let folder = suite.data(key);
    let mut files: Vec<FileDigest> = Vec::new();
    for argument in suite.arguments(key).iter().skip(1) {
        let value = match argument.split_once('=') {
            Some((option, value)) if option.starts_with("--") => value,
            _ => argument,
        };
        // `FILE:N` names a property of a file.
        let file = value.rsplit_once(':').map_or(value, |(file, _)| file);
        for name in [value, file] {
            let known = files.iter().any(|known| known.path == Path::new(name));
            if !known && folder.join(in_work(name, work)).is_file() {
                files.extend(digest(folder, Path::new(name), work));
            }
        }
    }
    files
}

/// The hash of a file, whose path is relative to a folder; none if it cannot be read.
fn digest(folder: &Path, path: &Path, work: &Path) -> Option<FileDigest> {
    let sha256 = file_digest(&folder.join(in_work(path.to_str()?, work))).ok()?;
    Some(FileDigest { path: PathBuf::from(path), sha256 })
}

/// Returns why a run has to be made again; `None` if it need not.
pub(crate) fn changed(
    suite: &Suite,
    entry: &JournalEntry,
    work: &Path,
    limits: Option<&(f64, String)>,
) -> Option<String> {
    let JournalEntry { key, .. } = entry;
    if entry.arguments != suite.arguments(key) {
        return Some("other options".to_owned());
    }
    if limits.is_some_and(|limits| entry.limits != *limits) {
        return Some(format!("other limits ({} s, {})", entry.limits.0, entry.limits.1));
    }
    if entry.version != VERSION {
        return Some(format!("another version of the program ({})", entry.version));
    }
    let folder = suite.data(key);
    let is_other = |known: &&FileDigest| digest(folder, &known.path, work).as_ref() != Some(*known);
    if let Some(other) = entry.files.iter().find(is_other) {
        return Some(format!("{} was another file", policert_files::path(&other.path)));
    }
    let is_new = |named: &&FileDigest| !entry.files.contains(named);
    named_files(suite, key, work)
        .iter()
        .find(is_new)
        .map(|new| format!("{} was not there", policert_files::path(&new.path)))
}
