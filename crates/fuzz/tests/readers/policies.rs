//! Policies and their interfaces.

use policert_policy::interface::Interface;
use policert_policy::nnet::parse_nnet;
use policert_policy::onnx::parse_onnx;
use policert_policy::trees::{Rounds, TreesFile, parse_onnx_trees, parse_trees};
use policert_policy::{Evaluator, Network};

use super::{fuzz, seeds};

const TREES: &str = "crates/policy/tests/golden/trees";

/// The new layout and the old one.
const VERITAS: [&str; 2] = [
    r#"{"at_type": "REGR", "base_scores": [0.5], "trees": [{"structure": {"leaf_value": [0.125]}},
        {"num_leaf_values": 1, "structure": {"feat_id": 0, "split_value": 2.5,
            "left": {"leaf_value": [1.5]}, "right": {"leaf_value": [-0.25]}}}]}"#,
    r#"{"base_score": 0.5, "trees": [{"feat_id": 0, "split_value": 2.5,
        "lt": {"leaf_value": 1.5}, "gteq": {"leaf_value": -0.25}}]}"#,
];

fn evaluate(network: &Network) {
    let inputs = vec![1.0; network.input_width()];
    Evaluator::new(network).evaluate(&inputs, &mut Vec::new());
}

fn evaluate_trees(file: &TreesFile) {
    let ensemble = &file.ensemble;
    if ensemble.inputs() < 1000 {
        let scores = ensemble.approximate_scores(&vec![1.0; ensemble.inputs()]);
        assert_eq!(scores.len(), ensemble.outputs());
    }
}

fn trees(bytes: &[u8]) {
    for rounds in [Rounds::Best, Rounds::All] {
        if let Ok(file) = parse_trees("policy", bytes, rounds) {
            evaluate_trees(&file);
        }
    }
}

#[test]
fn nnet() {
    fuzz(seeds("examples", &[".nnet"]), |bytes| {
        if let Ok(file) = parse_nnet("policy.nnet", bytes) {
            evaluate(&file.network);
        }
    });
}

#[test]
fn onnx() {
    fuzz(seeds("examples", &[".onnx"]), |bytes| {
        if let Ok(network) = parse_onnx("policy.onnx", bytes) {
            evaluate(&network);
        }
    });
}

#[test]
fn interfaces() {
    let mut all = seeds("examples", &[".jani2nnet"]);
    all.extend(seeds("benchmarks/blocksworld_4_ci", &[".jani2ensemble"]));
    fuzz(all, |bytes| {
        let _ = Interface::parse("policy.jani2nnet", bytes);
    });
}

#[test]
fn trees_in_json_of_xgboost() {
    fuzz(seeds(TREES, &["policy.json"]), trees);
}

#[test]
fn trees_in_json_of_veritas() {
    for text in VERITAS {
        let file = parse_trees("policy", text.as_bytes(), Rounds::Best);
        assert!(file.is_ok(), "{file:?}");
    }
    fuzz(VERITAS.map(|text| text.as_bytes().to_vec()).to_vec(), trees);
}

#[test]
fn trees_in_ubjson_of_xgboost() {
    fuzz(seeds(TREES, &[".ubj"]), trees);
}

#[test]
fn trees_in_text_of_lightgbm() {
    fuzz(seeds(TREES, &[".txt"]), trees);
}

#[test]
fn trees_in_onnx() {
    fuzz(seeds(TREES, &[".onnx"]), |bytes| {
        if let Ok(file) = parse_onnx_trees("policy.onnx", bytes) {
            evaluate_trees(&file);
        }
    });
}
