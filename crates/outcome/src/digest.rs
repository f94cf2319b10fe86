//! The inputs of a run and their SHA-256.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use policert_engine_api::{Budget, StopReason};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use thiserror::Error;

use crate::known_digests::{KnownDigests, Stamp};

/// A file that a run read.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Input {
    /// The role that it had.
    pub role: InputRole,
    /// Its path, as it was given or included.
    pub path: PathBuf,
    /// SHA-256 of its bytes, in lower-case hexadecimal digits.
    pub sha256: String,
}

/// A file and its SHA-256.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FileDigest {
    /// Its path.
    pub path: PathBuf,
    /// SHA-256 of its bytes, in lower-case hexadecimal digits.
    pub sha256: String,
}

/// Says what a file was read as.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InputRole {
    /// The model.
    Model,
    /// The property, or a file that it includes.
    Property,
    /// The interface between model and policy.
    Interface,
    /// The policy.
    Policy,
    /// A network that is no policy.
    Network,
}

/// Says why there is no digest of a file.
#[derive(Debug, Error)]
pub enum DigestError {
    /// It cannot be read.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The budget was used up.
    #[error(transparent)]
    Stop(#[from] StopReason),
}

/// The digests of files, in the order of their roles; a file that was read twice counts once.
///
/// # Errors
/// The path of a file that cannot be read, with the reason, which may be a stop of the budget.
pub fn digests(
    files: impl IntoIterator<Item = (InputRole, PathBuf)>,
    budget: &Budget,
) -> Result<Vec<Input>, (PathBuf, DigestError)> {
    KnownDigests::default().digests(files, budget)
}

/// The same for files that something else reads: if one cannot be read there are no digests, since
/// whoever reads it says what is wrong.
///
/// # Errors
/// A stop of the budget.
pub fn digests_if_readable(
    files: impl IntoIterator<Item = (InputRole, PathBuf)>,
    budget: &Budget,
) -> Result<Vec<Input>, StopReason> {
    KnownDigests::default().digests_if_readable(files, budget)
}

impl KnownDigests {
    /// As [`digests`], but those that are known are not computed again.
    ///
    /// # Errors
    /// As [`digests`].
    pub fn digests(
        &self,
        files: impl IntoIterator<Item = (InputRole, PathBuf)>,
        budget: &Budget,
    ) -> Result<Vec<Input>, (PathBuf, DigestError)> {
        let mut budget = budget.fork();
        let mut by_path: BTreeMap<PathBuf, InputRole> = BTreeMap::new();
        for (role, path) in files {
            by_path.entry(path).and_modify(|known| *known = role.min(*known)).or_insert(role);
        }
        let mut inputs = Vec::with_capacity(by_path.len());
        for (path, role) in by_path {
            match digest(&path, self, || budget.poll_clock().map_err(DigestError::from)) {
                Ok(sha256) => inputs.push(Input { role, path, sha256 }),
                Err(error) => return Err((path, error)),
            }
        }
        inputs.sort_by_key(|input| input.role);
        Ok(inputs)
    }

    /// As [`digests_if_readable`], but those that are known are not computed again.
    ///
    /// # Errors
    /// As [`digests_if_readable`].
    pub fn digests_if_readable(
        &self,
        files: impl IntoIterator<Item = (InputRole, PathBuf)>,
        budget: &Budget,
    ) -> Result<Vec<Input>, StopReason> {
        match self.digests(files, budget) {
            Ok(inputs) => Ok(inputs),
            Err((_, DigestError::Stop(reason))) => Err(reason),
            Err((_, DigestError::Io(_))) => Ok(Vec::new()),
        }
    }
}

/// SHA-256 of the bytes of a file, in lower-case hexadecimal digits.
///
/// # Errors
/// If it is no regular file, or cannot be read.
pub fn file_digest(path: &Path) -> std::io::Result<String> {
    digest(path, &KnownDigests::default(), || Ok(()))
}

/// SHA-256 of a text, in lower-case hexadecimal digits.
#[must_use]
pub fn text_digest(text: &str) -> String {
    hexadecimal(Sha256::new_with_prefix(text))
}

/// SHA-256 of bytes.
#[must_use]
pub fn bytes_digest(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

fn hexadecimal(hasher: Sha256) -> String {
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Bytes that are hashed at once.
const BLOCK: usize = 1 << 14;

fn digest<E: From<std::io::Error>>(
    path: &Path,
    known: &KnownDigests,
    mut go_on: impl FnMut() -> Result<(), E>,
) -> Result<String, E> {
    let mut file = policert_files::open(path)?;
    let stamp = Stamp::before(SystemTime::now(), &file);
    if let Some(digest) = stamp.and_then(|stamp| known.find(path, &stamp)) {
        go_on()?;
        return Ok(digest);
    }
    let mut hasher = Sha256::new();
    let mut block = vec![0; BLOCK];
    loop {
        go_on()?;
        match file.read(&mut block)? {
            0 => break,
            n => hasher.update(&block[..n]),
        }
    }
    let digest = hexadecimal(hasher);
    if let Some(stamp) = stamp {
        known.keep(path, stamp, &digest);
    }
    Ok(digest)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use policert_engine_api::{CancelFlag, Limits};

    use super::*;

    #[test]
    fn a_digest_ends_at_the_limit_of_time() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("abc");
        std::fs::write(&path, "abc").expect("a file");
        let limits = Limits { time: Some(Duration::ZERO), ..Limits::default() };
        let budget = Budget::new(limits, CancelFlag::default());
        let stopped = digests([(InputRole::Model, path)], &budget);
        assert!(matches!(stopped, Err((_, DigestError::Stop(StopReason::Time)))), "{stopped:?}");
    }

    #[test]
    fn a_known_digest() -> std::io::Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("abc");
        std::fs::write(&path, "abc")?;
        let files = [(InputRole::Policy, path.clone()), (InputRole::Model, path)];
        let inputs = digests(files, &Budget::unlimited()).expect("files that are there");
        assert_eq!(inputs.len(), 1);
        assert_eq!(inputs[0].role, InputRole::Model);
        assert_eq!(
            inputs[0].sha256,
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        Ok(())
    }
}
