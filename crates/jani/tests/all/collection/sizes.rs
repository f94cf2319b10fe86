//! The tables of sizes in the descriptions of the collection.

use std::{collections::BTreeSet, path::Path};

use policert_jani::JaniSummary;

use super::inputs::{jani_files, load_with};
use policert_testkit::shared_folder;

/// Rows of the tables whose header starts with some words, cell by cell.
fn rows(readme: &Path, header: &str) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(readme).expect("README");
    let mut rows = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        if line.starts_with(header) {
            inside = true;
        } else if !line.starts_with('|') {
            inside = false;
        } else if inside && !line.starts_with("|-") {
            let cells = line.trim_matches('|').split(" | ").map(|c| c.trim().to_owned());
            rows.push(cells.collect());
        }
    }
    rows
}

/// The cells of a table's row that a model has.
fn cells(summary: &JaniSummary) -> [String; 8] {
    [
        summary.model_type.clone(),
        summary.variables_text(),
        match &*summary.open_constants {
            [] => "-".to_owned(),
            names => names.join(", "),
        },
        summary.automata_text(),
        format!("{} ({})", summary.edges, summary.silent_edges),
        format!("{} (max {})", summary.destinations, summary.max_destinations),
        summary.labels.to_string(),
        summary.operators.to_string(),
    ]
}

#[test]
fn every_model_has_the_sizes_of_its_description() {
    let Some(shared) = shared_folder("") else { return };
    let benchmarks = shared.join("benchmarks");
    let mut compared = BTreeSet::new();
    for folder in [
        "beluga",
        "blocksworld",
        "bouncing_ball",
        "inverted_pendulum",
        "linetrack",
        "mogym",
        "npuzzle",
        "racetrack",
        "transport",
        "unit",
    ] {
        let folder = benchmarks.join(folder);
        for row in rows(&folder.join("README.md"), "| model | type | variables |") {
            let named = folder.join(&row[0]);
            let file = if named.is_file() {
                named
            } else {
                // Tables name files by their ends.
                let all = jani_files(&folder);
                all.into_iter().find(|f| f.ends_with(&row[0])).expect("file of a row")
            };
            let loaded = load_with(&file, &[]);
            let summary = loaded.summary().expect("a model");
            assert_eq!(cells(summary).as_slice(), &row[1..], "{}", file.display());
            compared.insert(file);
        }
    }
    assert!(compared.len() >= 60, "only {} rows", compared.len());
}

#[test]
fn planning_models_have_the_sizes_of_their_description() {
    let Some(shared) = shared_folder("") else { return };
    let folder = shared.join("benchmarks/qcomp_mdp");
    let mut compared = 0;
    let files = jani_files(&folder);
    for row in rows(&folder.join("README.md"), "| file | variables | automata |") {
        let file = files.iter().find(|f| f.ends_with(&row[0])).expect("file of a row");
        let loaded = load_with(file, &[]);
        let s = loaded.summary().expect("a model");
        let cells = [
            s.globals.to_string(),
            format!("{}/{}", s.automata, s.instances),
            s.edges.to_string(),
            s.operators.to_string(),
        ];
        assert_eq!(cells.as_slice(), &row[1..5], "{}", file.display());
        compared += 1;
    }
    assert!(compared >= 35, "only {compared} rows");
}

/// The table of features: vectors with their nulls, and operators again.
#[test]
fn models_have_the_counts_of_the_feature_table() {
    let Some(shared) = shared_folder("") else { return };
    let files = jani_files(&shared.join("benchmarks"));
    let mut compared = 0;
    for row in rows(&shared.join("FORMATS.md"), "| file | type | variables | locals |") {
        // Paths are shortened: `blocksworld/icaps22/…/blocksworld_6_5.jani`.
        let (front, back) = row[0].split_once("/…/").unwrap_or(("", &row[0]));
        let file = files
            .iter()
            .find(|f| f.ends_with(back) && f.display().to_string().contains(&format!("/{front}")));
        // Not all of them are there.
        let Some(file) = file else { continue };
        let loaded = load_with(file, &[]);
        let s = loaded.summary().expect("a model");
        let vectors = if s.vectors == 0 && row[8].starts_with("None") {
            "None (0)".to_owned()
        } else {
            format!("{} ({})", s.vectors, s.nulls)
        };
        assert_eq!(s.locals.to_string(), row[3], "{}", file.display());
        assert_eq!(vectors, row[8], "{}", file.display());
        assert_eq!(s.operators.to_string(), row[9], "{}", file.display());
        compared += 1;
    }
    assert!(compared >= 30, "only {compared} rows");
}
