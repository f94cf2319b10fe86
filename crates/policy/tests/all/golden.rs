//! Scores of the cases against their golden values, which are exact.

use std::path::Path;

use policert_numeric::Rational;
use policert_policy::{Evaluator, ExactEvaluator, precise_scores, read_network};
use serde_json::Value;

use policert_testkit::cases_folder;

fn rational(value: &Value) -> Rational {
    Rational::parse_decimal(&value.to_string()).expect("a number")
}

fn rows(value: &Value) -> Vec<Vec<Rational>> {
    let rows = value.as_array().expect("a list");
    rows.iter().map(|row| row.as_array().expect("a row").iter().map(rational).collect()).collect()
}

/// Compares one network with its golden scores; gives the number of scores.
fn check(file: &Path, inputs: &[Vec<Rational>], outputs: &[Vec<Rational>]) -> usize {
    let network = read_network(file).expect("supported").network;
    let exact = ExactEvaluator::new(&network).expect("piecewise linear");
    let mut evaluator = Evaluator::new(&network);
    assert_eq!(inputs.len(), outputs.len());
    for (inputs, outputs) in inputs.iter().zip(outputs) {
        let integers: Vec<i64> =
            inputs.iter().map(|input| input.to_i64().expect("an integer")).collect();
        assert_eq!(exact.scores(&integers).to_rationals(), *outputs, "{}", file.display());
        for (enclosure, score) in
            precise_scores(&network, &integers, 60).expect("enclosed").scores().iter().zip(outputs)
        {
            assert!(enclosure.contains(score));
        }
        // The weights are short, so double precision is exact.
        let doubles: Vec<f64> = inputs.iter().map(Rational::to_f64).collect();
        let mut scores = Vec::new();
        evaluator.evaluate(&doubles, &mut scores);
        let scores: Vec<Rational> =
            scores.into_iter().map(|score| Rational::from_f64(score).expect("finite")).collect();
        assert_eq!(scores, *outputs);
    }
    outputs.iter().map(Vec::len).sum()
}

#[test]
fn golden_scores() {
    let mut compared = 0;
    for case in ["onnx-batch-and-flatten", "onnx-clip-one-bound", "onnx-gemm-forms"] {
        let folder = cases_folder().join("policy").join(case);
        let text = std::fs::read(folder.join("golden.json")).expect("golden values");
        let golden: Value = serde_json::from_slice(&text).expect("JSON");
        assert_eq!(golden["abs_tol"], 0);
        let inputs = rows(&golden["inputs"]);
        for file in crate::files_below::files_below(&folder, &["onnx", "nnet"]) {
            let name = file.file_name().and_then(|name| name.to_str()).expect("a name");
            let outputs = match &golden["files"] {
                Value::Null => &golden["outputs"],
                files => &files[name],
            };
            compared += check(&file, &inputs, &rows(outputs));
        }
    }
    assert!(compared >= 13 * 16, "{compared}");
}
