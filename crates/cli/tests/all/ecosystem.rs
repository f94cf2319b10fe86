//! What other programs call: the scripts of VNN-COMP.

use std::path::{Path, PathBuf};
use std::process::Command;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the root").to_path_buf()
}

/// Runs a script of VNN-COMP; true if it ended with 0.
fn script(name: &str, arguments: &[&str]) -> bool {
    Command::new(repository().join("tools/ecosystem/vnncomp").join(name))
        .args(arguments)
        .current_dir(repository())
        .env("POLICERT", env!("CARGO_BIN_EXE_policert"))
        .status()
        .expect("a script")
        .success()
}

#[test]
fn vnncomp_gets_one_word_and_a_witness() {
    let folder = tempfile::tempdir().expect("a folder");
    let answer = folder.path().join("answer.txt");
    let results = answer.to_str().expect("UTF-8");
    let property = "examples/queries/brakes_on_ice.vnnlib";
    for (network, word) in [
        ("examples/icy_road/careful.onnx", "sat"),
        ("examples/icy_road/no_such.onnx", "error"),
        ("examples/icy_road/model.jani", "error"),
    ] {
        let instance = ["v1", "icy", network, property];
        assert_eq!(script("prepare_instance.sh", &instance), !network.contains("no_such"));
        assert!(script("run_instance.sh", &["v1", "icy", network, property, results, "60"]));
        let text = std::fs::read_to_string(&answer).expect("an answer");
        assert_eq!(text.lines().next(), Some(word), "{network}: {text}");
        assert_eq!(text.contains("X_0"), word == "sat", "{text}");
    }
    assert!(!script("run_instance.sh", &["v2"]), "another version of the scripts");
}
