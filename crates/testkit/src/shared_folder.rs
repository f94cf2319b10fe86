//! Where the collection of published models, policies and cases is.

use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Returns the folder `inside` the collection that the environment variable `POLICERT_SHARED` names,
/// or that is `../shared` beside the repository; with the empty text the collection itself.
///
/// Without a collection there is nothing to compare with, which is said on standard error: the
/// repository stands on its own.
///
/// # Panics
/// If `POLICERT_SHARED` names a folder that lacks `inside`.
#[must_use]
pub fn shared_folder(inside: &str) -> Option<PathBuf> {
    let named = std::env::var_os("POLICERT_SHARED").map(PathBuf::from);
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let folder = named.clone().unwrap_or(beside).join(inside);
    let found = folder.is_dir();
    assert!(found || named.is_none(), "POLICERT_SHARED has no {}", folder.display());
    if !found {
        let message = "no collection beside the repository: nothing to compare with";
        writeln!(std::io::stderr(), "{message}").expect("standard error");
    }
    found.then_some(folder)
}

/// Returns the folder of small cases with known answers: that of the collection, else the one that
/// the repository ships, `tests/data/cases`.
#[must_use]
pub fn cases_folder() -> PathBuf {
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/cases");
    shared_folder("cases").unwrap_or(shipped)
}
