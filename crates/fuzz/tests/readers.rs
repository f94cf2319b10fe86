//! Every reader on damaged files: it ends, and never panics. What a reader takes is used as well.

#[path = "readers/documents.rs"]
mod documents;
#[path = "readers/policies.rs"]
mod policies;

use std::path::{Path, PathBuf};

use bolero::{Driver, ValueGenerator};
use policert_fuzz::damage;

/// Damaged files of one format.
struct Damaged(Vec<Vec<u8>>);

impl ValueGenerator for Damaged {
    type Output = Vec<u8>;

    fn generate<D: Driver>(&self, driver: &mut D) -> Option<Vec<u8>> {
        damage(driver, &self.0)
    }
}

fn root() -> PathBuf {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    crate_folder.ancestors().nth(2).expect("the root").to_path_buf()
}

/// The small files below a folder of the repository whose names have one of some endings.
fn seeds(folder: &str, endings: &[&str]) -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    let mut open = vec![root().join(folder)];
    while let Some(folder) = open.pop() {
        let entries = std::fs::read_dir(&folder).expect("a folder");
        let mut paths: Vec<PathBuf> =
            entries.map(|entry| entry.expect("an entry").path()).collect();
        paths.sort();
        for path in paths {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            if path.is_dir() {
                open.push(path);
            } else if endings.iter().any(|ending| name.ends_with(ending)) {
                let bytes = std::fs::read(&path).expect("a seed");
                if bytes.len() < 20_000 {
                    seeds.push(bytes);
                }
            }
        }
    }
    assert!(!seeds.is_empty(), "no seeds {endings:?} in {folder}");
    seeds
}

/// Reads all seeds, then damaged files, as many as the environment says (docs/TESTING.md).
fn fuzz(seeds: Vec<Vec<u8>>, read: impl Fn(&[u8]) + std::panic::RefUnwindSafe) {
    for seed in &seeds {
        read(seed);
    }
    bolero::check!().with_generator(Damaged(seeds)).for_each(|bytes| read(bytes));
}
