//! The tests of the package, which are Python: `crates/python/tests/test_*.py`, on the library that
//! was built with this program.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The interpreter with what the tests need: `./x python` makes it.
fn interpreter(root: &Path) -> PathBuf {
    let named = std::env::var_os("POLICERT_PYTHON").map(PathBuf::from);
    let path = named.unwrap_or_else(|| root.join(".tools/python/bin/python"));
    assert!(path.exists(), "{} is missing: `./x python` makes it", path.display());
    path
}

/// The package as it will be installed, in a folder of its own.
fn package(root: &Path, folder: &Path) {
    let program = std::env::current_exe().expect("this program");
    let library = program.parent().expect("its folder").join("lib_policert.so");
    let source = root.join("crates/python/python/policert");
    copy(&source, &folder.join("policert"));
    std::fs::copy(&library, folder.join("policert/_policert.abi3.so")).expect("the library");
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("the package") {
        let path = entry.expect("an entry").path();
        let Some(name) = path.file_name() else { continue };
        if path.is_dir() {
            copy(&path, &to.join(name));
        } else if path.extension().is_none_or(|ending| ending != "so") {
            std::fs::copy(&path, to.join(name)).expect("a file of the package");
        }
    }
}

#[test]
fn the_tests_of_the_package_pass() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("root");
    let folder = tempfile::tempdir().expect("a folder");
    package(&root, folder.path());
    let done = Command::new(interpreter(&root))
        .args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "crates/python/tests"])
        .current_dir(&root)
        .env("PYTHONPATH", folder.path())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .expect("pytest");
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(done.status.success(), "{text}\n{}", String::from_utf8_lossy(&done.stderr));
}
