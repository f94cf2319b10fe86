//! Files of the collection, and values for the open constants of its models.

use std::path::{Path, PathBuf};

use policert_jani::{LoadOptions, Loaded, load_model};

/// All files below `folder` with the extension `jani`, sorted.
pub fn jani_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).expect("folder") {
            let path = entry.expect("entry").path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|e| e == "jani") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// Loads a model with a value for each of its open constants: `given`, or else 1 or true or 1/2.
pub fn load_with(path: &Path, given: &[(&str, &str)]) -> Loaded {
    let plain = load_model(path, &LoadOptions::default());
    let open = plain.summary().map(|s| s.open_constants.clone()).unwrap_or_default();
    if open.is_empty() && given.is_empty() {
        return plain;
    }
    let mut constants: Vec<(String, String)> =
        given.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
    for name in open {
        if !constants.iter().any(|(n, _)| *n == name) {
            let value = match &*name {
                "reset" | "cost_terminal" => "true",
                "failing_probability" | "p" | "q" => "0.5",
                _ => "2",
            };
            constants.push((name, value.to_owned()));
        }
    }
    load_model(path, &LoadOptions { constants, ..LoadOptions::default() })
}
