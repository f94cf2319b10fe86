//! The suites of the repository: each can be read, and names files that are there.

use std::path::{Path, PathBuf};

use policert_bench::Suite;

fn suites() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suites");
    let files =
        std::fs::read_dir(folder).expect("a folder").map(|file| file.expect("a file").path());
    let mut suites: Vec<PathBuf> =
        files.filter(|file| file.extension().is_some_and(|ending| ending == "toml")).collect();
    suites.sort();
    suites
}

/// Whether a word of a command is the name of a file, `FILE:N` among them.
fn file_of(word: &str) -> Option<&str> {
    let file = word.rsplit_once(':').map_or(word, |(file, _)| file);
    let ending = Path::new(file).extension()?.to_str()?;
    let known = ["jani", "jani2nnet", "jani2ensemble", "json", "toml", "onnx"];
    known.contains(&ending).then_some(file)
}

#[test]
fn suites_name_files_that_are_there() {
    let (mut files, mut quick) = (0, 0);
    for path in suites() {
        let name = path.display();
        // Published instances are in a folder of their own, which need not be there.
        let is_published = path.ends_with("coverage.toml");
        let suite = match Suite::read(&path) {
            Err(_) if is_published => continue,
            read => read.unwrap_or_else(|error| panic!("{name}: {error}")),
        };
        let runs = suite.runs();
        assert!(!runs.is_empty(), "{name}");
        if suite.quick.is_some() {
            let short = suite.quick().expect("it has one").runs();
            assert!(!short.is_empty() && short.len() < runs.len(), "{name}: {}", short.len());
            assert!(short.iter().all(|key| runs.contains(key)), "{name}");
            quick += 1;
        }
        for key in runs.iter().filter(|_| !is_published) {
            for word in suite.arguments(key).iter().filter(|word| !word.contains("{work}")) {
                let Some(file) = file_of(word) else { continue };
                assert!(suite.data(key).join(file).is_file(), "{name}: {file}");
                files += 1;
            }
        }
    }
    assert!(files > 1000 && quick == 5, "{files} files, {quick} quick studies");
}
