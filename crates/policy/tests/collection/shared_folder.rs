//! Where the collection of models, policies and cases is.

use std::path::{Path, PathBuf};

/// The folder that the environment variable `POLICERT_SHARED` names, or `../shared` beside the
/// repository. Without either there is nothing to test: the repository stands on its own.
#[expect(clippy::print_stderr, reason = "says why nothing is tested")]
pub fn shared_folder() -> Option<PathBuf> {
    let named = std::env::var_os("POLICERT_SHARED").map(PathBuf::from);
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let folder = named.clone().unwrap_or(beside);
    let found = folder.join("cases").is_dir();
    assert!(found || named.is_none(), "POLICERT_SHARED has no folder `cases`");
    if !found {
        eprintln!("no collection of cases beside the repository: nothing to compare with");
    }
    found.then_some(folder)
}

/// All files below a folder with one of these endings, in order.
pub fn files_below(folder: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
            if path.is_dir() {
                folders.push(path);
            } else if endings.contains(&ending) {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}
