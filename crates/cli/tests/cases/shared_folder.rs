//! Where the collection of models, policies and cases is.

use std::io::Write as _;
use std::path::{Path, PathBuf};

/// The folder that the environment variable `POLICERT_SHARED` names, or `../shared` beside the
/// repository. Without either there is nothing to test: the repository stands on its own.
pub fn shared_folder() -> Option<PathBuf> {
    let named = std::env::var_os("POLICERT_SHARED").map(PathBuf::from);
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let folder = named.clone().unwrap_or(beside);
    let found = folder.join("cases").is_dir();
    assert!(found || named.is_none(), "POLICERT_SHARED has no folder `cases`");
    if !found {
        let message = "no collection of cases beside the repository: nothing to compare with";
        writeln!(std::io::stderr(), "{message}").expect("standard error");
    }
    found.then_some(folder)
}
