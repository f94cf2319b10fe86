//! Scores of tree ensembles against those of the libraries that define the formats.

use std::path::Path;

use policert_policy::PolicyError;
use policert_policy::trees::{Ensemble, IntegerTrees, Rounds, parse_onnx_trees, parse_trees};
use serde_json::Value;

use policert_testkit::{cases_folder, shared_folder};

fn read(cases: &Path, case: &str, file: &str) -> Vec<u8> {
    let path = cases.join(case).join(file);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn parse(cases: &Path, case: &str, file: &str, rounds: Rounds) -> Result<Ensemble, PolicyError> {
    let bytes = read(cases, case, file);
    let read = match file.ends_with(".onnx") {
        true => parse_onnx_trees(file, &bytes),
        false => parse_trees(file, &bytes, rounds),
    };
    read.map(|read| read.ensemble)
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

/// Inputs, and the scores of each file for them.
struct Golden {
    inputs: Vec<Vec<f64>>,
    files: Vec<(String, Rounds, Vec<Vec<f64>>)>,
    tolerance: f64,
}

impl Golden {
    fn read(cases: &Path, case: &str) -> Self {
        let golden: Value =
            serde_json::from_slice(&read(cases, case, "golden.json")).expect("JSON");
        let rows = |value: &Value| value.as_array().expect("a list").iter().map(numbers).collect();
        let mut files = Vec::new();
        for (key, rounds) in [("files", Rounds::Best), ("all_rounds", Rounds::All)] {
            for (file, scores) in golden[key].as_object().into_iter().flatten() {
                files.push((file.clone(), rounds, rows(scores)));
            }
        }
        if files.is_empty() {
            let names = ["policy.json", "policy.txt", "policy.onnx"];
            let exists = |name: &&str| cases.join(case).join(name).exists();
            let file = names.into_iter().find(exists).expect("a policy");
            files.push((file.to_owned(), Rounds::Best, rows(&golden["outputs"])));
        }
        let tolerance = golden["abs_tol"].as_f64().unwrap_or(0.0);
        Self { inputs: rows(&golden["inputs"]), files, tolerance }
    }

    /// Compares scores with those of an ensemble; returns how many were compared.
    fn compare(&self, ensemble: &Ensemble, outputs: &[Vec<f64>], what: &str) -> usize {
        assert_eq!(self.inputs.len(), outputs.len());
        // Linear leaves are for inputs whose bounds are known.
        let trees = match ensemble.linear_leaves() {
            [] => Some(IntegerTrees::new(ensemble).expect("it fits")),
            _ => None,
        };
        let mut compared = 0;
        for (input, expected) in self.inputs.iter().zip(outputs) {
            let scores = ensemble.approximate_scores(input);
            assert_eq!(scores.len(), expected.len(), "{what}");
            for (score, expected) in scores.iter().zip(expected) {
                assert!(
                    (score - expected).abs() <= self.tolerance,
                    "{what}: {score} for {expected} at {input:?}"
                );
                compared += 1;
            }
            let whole = input.iter().all(|x| x.fract() == 0.0 && x.abs() < 1e15);
            if let Some(trees) = trees.as_ref().filter(|_| whole) {
                let unit = trees.unit().to_f64();
                #[expect(clippy::cast_possible_truncation, reason = "checked above")]
                let input: Vec<i64> = input.iter().map(|&x| x as i64).collect();
                let mut exact = Vec::new();
                trees.scores(&input, &mut exact);
                for (exact, score) in exact.iter().zip(&scores) {
                    #[expect(clippy::cast_precision_loss, reason = "compared with a tolerance")]
                    let exact = *exact as f64 * unit;
                    assert!((exact - score).abs() <= 1e-12 * score.abs().max(1.0), "{what}");
                }
            }
        }
        compared
    }
}

/// Compares all files of a case; returns how many scores were compared.
fn compare(cases: &Path, case: &str) -> usize {
    let golden = Golden::read(cases, case);
    let mut compared = 0;
    for (file, rounds, outputs) in &golden.files {
        let what = format!("{case}, {file}, {rounds:?}");
        let ensemble = parse(cases, case, file, *rounds);
        let ensemble = ensemble.unwrap_or_else(|error| panic!("{what}: {error}"));
        compared += golden.compare(&ensemble, outputs, &what);
    }
    compared
}

#[test]
fn scores_are_those_of_the_libraries() {
    let cases = cases_folder().join("trees");
    for case in [
        "lightgbm-classes",
        "lightgbm-thresholds",
        "xgboost-logistic-objectives",
        "xgboost-logitraw-half",
        "xgboost-logitraw-low",
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
    assert!(cases.len() >= 34, "{cases:?}");
    for case in cases {
        assert!(compare(&golden, &case) >= 80, "{case}");
    }
}

#[test]
fn base_scores_mean_the_same_in_all_ways_of_writing_them() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/trees");
    let golden = Golden::read(&cases, "xgboost-objectives");
    // Twenty objectives with three base scores each.
    assert_eq!(golden.files.len(), 60);
    for (file, _, outputs) in &golden.files {
        let bytes = read(&cases, "xgboost-objectives", file);
        let mut value: Value = serde_json::from_slice(&bytes).expect("JSON");
        let score = file.trim_end_matches(".json").rsplit_once('-').expect("a base score").1;
        let number: f64 = score.parse().expect("a number");
        let scientific = format!("{}E-1", &score[2..]);
        for written in [
            Value::from(number),
            Value::from(score),
            Value::from(scientific.as_str()),
            Value::from(format!("[{scientific}]")),
            Value::from(format!(" [ {score} ] ")),
            Value::from(vec![number]),
        ] {
            value["learner"]["learner_model_param"]["base_score"] = written.clone();
            let read = parse_trees(file, value.to_string().as_bytes(), Rounds::Best);
            let ensemble = read.unwrap_or_else(|error| panic!("{written}: {error}")).ensemble;
            let what = format!("{file}, {written}");
            assert!(golden.compare(&ensemble, outputs, &what) >= 60, "{what}");
        }
    }
}

#[test]
fn base_scores_that_an_objective_does_not_allow_are_invalid() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/trees");
    for (objective, base_scores) in [
        ("binary-logistic", &["0", "1", "-0.5", "nan", "inf"][..]),
        ("reg-gamma", &["0", "-1", "inf"]),
        ("reg-squarederror", &["nan", "-inf"]),
    ] {
        let bytes = read(&cases, "xgboost-objectives", &format!("{objective}-0.5.json"));
        let mut value: Value = serde_json::from_slice(&bytes).expect("JSON");
        for &base_score in base_scores {
            value["learner"]["learner_model_param"]["base_score"] = Value::from(base_score);
            let read = parse_trees("f", value.to_string().as_bytes(), Rounds::Best);
            let error = read.expect_err(base_score);
            assert!(matches!(error, PolicyError::Invalid { .. }), "{objective}: {error}");
            assert!(error.to_string().contains("/base_score: objective"), "{error}");
        }
    }
}

#[test]
fn published_ensembles_are_read() {
    let Some(shared) = shared_folder("") else { return };
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
        let read = parse_trees(file, &bytes, Rounds::Best);
        let ensemble = read.unwrap_or_else(|error| panic!("{error}")).ensemble;
        assert_eq!((ensemble.outputs(), ensemble.trees().len()), (outputs, count), "{file}");
        IntegerTrees::new(&ensemble).unwrap_or_else(|error| panic!("{file}: {error}"));
    }
}
