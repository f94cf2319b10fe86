//! Digests that are known already: those of files that have not changed since, as the system says.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

/// Digests of files that need not be computed again while the files do not change; or no place for any, by
/// default.
#[derive(Clone, Debug, Default)]
pub struct KnownDigests(Option<Arc<Mutex<Place>>>);

/// By path: the state of the file that was read, and the digest.
type Place = BTreeMap<PathBuf, (Stamp, String)>;

/// More files are not remembered at once.
const MOST: usize = 1 << 12;

impl KnownDigests {
    /// A place for digests, which its copies share.
    #[must_use]
    pub fn place() -> Self {
        Self(Some(Arc::default()))
    }

    /// The digest of an open file, if it is known.
    pub(crate) fn find(&self, path: &Path, stamp: &Stamp) -> Option<String> {
        let known = self.0.as_ref()?.lock().ok()?;
        let (known_stamp, digest) = known.get(path)?;
        (known_stamp == stamp).then(|| digest.clone())
    }

    /// Keeps the digest of a file whose stamp was taken before it was read.
    pub(crate) fn keep(&self, path: &Path, stamp: Stamp, digest: &str) {
        if let Some(Ok(mut known)) = self.0.as_ref().map(|place| place.lock()) {
            if known.len() >= MOST {
                known.clear();
            }
            known.insert(path.to_owned(), (stamp, digest.to_owned()));
        }
    }
}

/// The state of a file as the system tells it. While it is the same, so is the content.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

/// Two changes within this time may leave the same stamp: clocks of file systems are coarse.
const COARSE: Duration = Duration::from_secs(2);

impl Stamp {
    /// The stamp of a file that has not changed for a while before a time; of others it says nothing.
    #[cfg(unix)]
    pub(crate) fn before(time: SystemTime, file: &File) -> Option<Self> {
        use std::os::unix::fs::MetadataExt as _;

        let metadata = file.metadata().ok()?;
        let seconds = u64::try_from(metadata.ctime()).ok()?;
        let changed = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds + 1);
        (changed + COARSE < time).then_some(Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        })
    }

    /// Where a time of modification is all that the system tells, and programs may set that, nothing is
    /// known.
    #[cfg(not(unix))]
    pub(crate) fn before(_: SystemTime, _: &File) -> Option<Self> {
        None
    }
}

/// Returns whether a file is certain to be as it was at a time.
#[must_use]
pub fn unchanged_since(path: &Path, time: SystemTime) -> bool {
    policert_files::open(path).is_ok_and(|file| Stamp::before(time, &file).is_some())
}

#[cfg(test)]
mod tests {
    use policert_engine_api::Budget;

    use super::*;
    use crate::digest::{InputRole, text_digest};

    /// Long after all changes.
    fn later() -> SystemTime {
        SystemTime::now() + Duration::from_secs(3600)
    }

    fn stamp(path: &Path) -> Option<Stamp> {
        Stamp::before(later(), &File::open(path).expect("a file"))
    }

    fn digest(known: &KnownDigests, path: &Path) -> String {
        let files = [(InputRole::Model, path.to_owned())];
        let mut inputs = known.digests(files, &Budget::unlimited()).expect("a file that is there");
        inputs.remove(0).sha256
    }

    #[test]
    fn a_file_that_has_not_changed_is_not_read_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        std::fs::write(&path, "abc").expect("a file");
        let known = KnownDigests::place();
        let old = stamp(&path).expect("a stamp");
        // A digest that no content has shows where it comes from.
        known.keep(&path, old, "kept");
        assert_eq!(known.find(&path, &old).as_deref(), Some("kept"));
        assert_eq!(KnownDigests::default().find(&path, &old), None);
        // The file has just been written: its stamp says nothing, and it is read.
        assert_eq!(digest(&known, &path), text_digest("abc"));
        assert!(!unchanged_since(&path, SystemTime::now()));
        assert!(unchanged_since(&path, later()));
        // Of the same length, with the old time of modification.
        let modified = std::fs::metadata(&path).and_then(|m| m.modified()).expect("a time");
        std::thread::sleep(Duration::from_millis(20));
        std::fs::write(&path, "abd").expect("a file");
        File::options()
            .write(true)
            .open(&path)
            .and_then(|file| file.set_modified(modified))
            .expect("a time");
        let new = stamp(&path).expect("a stamp");
        assert_ne!(old, new);
        assert_eq!(known.find(&path, &new), None);
    }
}
