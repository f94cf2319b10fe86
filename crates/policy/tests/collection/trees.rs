//! Scores of tree ensembles against those of the libraries that define the formats.

use std::path::Path;

use policert_policy::PolicyError;
use policert_policy::trees::{Ensemble, IntegerTrees, parse_onnx_trees, parse_trees};
use serde_json::Value;

use crate::shared_folder::shared_folder;

fn read(cases: &Path, case: &str, file: &str) -> Vec<u8> {
    let path = cases.join(case).join(file);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn parse(cases: &Path, case: &str, file: &str) -> Result<Ensemble, PolicyError> {
    let bytes = read(cases, case, file);
    if file.ends_with(".onnx") { parse_onnx_trees(file, &bytes) } else { parse_trees(file, &bytes) }
}

fn ensemble(cases: &Path, case: &str, file: &str) -> Ensemble {
    parse(cases, case, file).unwrap_or_else(|error| panic!("{case}: {error}"))
}

fn number(value: &Value) -> f64 {
    match value {
        Value::String(text) => text.parse().expect("nan"),
        number => number.as_f64().expect("a number"),
    }
}

fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(list) => list.iter().map(number).collect(),
        single => vec![number(single)],
    }
}

/// Compares with a golden file; returns how many scores were compared.
fn compare(cases: &Path, case: &str) -> usize {
    let golden: Value = serde_json::from_slice(&read(cases, case, "golden.json")).expect("JSON");
    let tolerance = golden["abs_tol"].as_f64().unwrap_or(0.0);
    let inputs: Vec<Vec<f64>> =
        golden["inputs"].as_array().expect("inputs").iter().map(numbers).collect();
    let files: Vec<(String, Vec<Vec<f64>>)> = if let Some(files) = golden["files"].as_object() {
        let list = |value: &Value| value.as_array().expect("a list").iter().map(numbers).collect();
        files.iter().map(|(file, outputs)| (file.clone(), list(outputs))).collect()
    } else {
        let names = ["policy.json", "policy.txt", "policy.onnx"];
        let exists = |name: &&str| cases.join(case).join(name).exists();
        let file = names.into_iter().find(exists).expect("a policy");
        let outputs = golden["outputs"].as_array().expect("outputs");
        vec![(file.to_owned(), outputs.iter().map(numbers).collect())]
    };
    let mut compared = 0;
    for (file, outputs) in files {
        assert_eq!(inputs.len(), outputs.len());
        let ensemble = ensemble(cases, case, &file);
        let trees = IntegerTrees::new(&ensemble).expect("it fits");
        let unit = trees.unit().to_f64();
        for (input, expected) in inputs.iter().zip(&outputs) {
            let scores = ensemble.approximate_scores(input);
            assert_eq!(scores.len(), expected.len(), "{case}, {file}");
            for (score, expected) in scores.iter().zip(expected) {
                assert!(
                    (score - expected).abs() <= tolerance,
                    "{case}, {file}: {score} for {expected} at {input:?}"
                );
                compared += 1;
            }
            let whole = input.iter().all(|x| x.fract() == 0.0 && x.abs() < 1e15);
            if whole {
                #[expect(clippy::cast_possible_truncation, reason = "checked above")]
                let input: Vec<i64> = input.iter().map(|&x| x as i64).collect();
                let mut exact = Vec::new();
                trees.scores(&input, &mut exact);
                for (exact, score) in exact.iter().zip(&scores) {
                    #[expect(clippy::cast_precision_loss, reason = "compared with a tolerance")]
                    let exact = *exact as f64 * unit;
                    assert!(
                        (exact - score).abs() <= 1e-12 * score.abs().max(1.0),
                        "{case}, {file}"
                    );
                }
            }
        }
    }
    compared
}

#[test]
fn scores_are_those_of_the_libraries() {
    let Some(shared) = shared_folder() else { return };
    let cases = shared.join("cases/trees");
    for case in [
        "lightgbm-classes",
        "lightgbm-thresholds",
        "onnx-ml-node-modes",
        "sklearn-decision-tree",
        "veritas-layouts",
        "xgboost-base-score",
        "xgboost-class-order",
        "xgboost-f32-threshold",
    ] {
        assert!(compare(&cases, case) >= 20, "{case}");
    }
}

#[test]
fn scores_of_ensembles_made_for_the_tests() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/trees");
    let mut cases: Vec<String> = std::fs::read_dir(&golden)
        .expect("the folder is part of the repository")
        .map(|entry| entry.expect("readable").file_name().to_string_lossy().into_owned())
        .collect();
    cases.sort();
    assert!(cases.len() >= 23, "{cases:?}");
    // Splits by categories are refused, in both formats.
    let refused = "lightgbm-categories";
    for file in ["policy.txt", "policy.json"] {
        let error = parse(&golden, refused, file).expect_err("it has categories");
        assert!(error.to_string().contains("by categories"), "{file}: {error}");
    }
    for case in cases.into_iter().filter(|case| case != refused) {
        assert!(compare(&golden, &case) >= 80, "{case}");
    }
}

#[test]
fn published_ensembles_are_read() {
    let Some(shared) = shared_folder() else { return };
    let folder = shared.join("benchmarks/ensembles/veritas");
    let expected = [
        ("rf-img-multiclass.json", 4, 25),
        ("rf_model.json", 5, 24),
        ("xgb-img-easy-new.json", 1, 10),
        ("xgb-img-easy.json", 1, 10),
        ("xgb-img-hard-new.json", 1, 40),
        ("xgb-img-hard.json", 1, 50),
        ("xgb-img-multiclass-multivalue.json", 4, 20),
        ("xgb-img-multiclass-very-easy.json", 4, 4),
        ("xgb-img-multiclass.json", 4, 80),
        ("xgb-img-very-easy-new.json", 1, 3),
        ("xgb-img-very-easy.json", 1, 3),
    ];
    for (file, outputs, count) in expected {
        let bytes = std::fs::read(folder.join(file)).expect("it is there");
        let ensemble = parse_trees(file, &bytes).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((ensemble.outputs(), ensemble.trees().len()), (outputs, count), "{file}");
        IntegerTrees::new(&ensemble).unwrap_or_else(|error| panic!("{file}: {error}"));
    }
}
