//! Labels that an interface lists as never chosen: no engine takes them, and every result says so.

use std::path::Path;

use crate::support::program::{code, policert, text};
use policert_testkit::cases_folder;

/// Copies a case, with a change of its interface.
fn copied(case: &Path, folder: &Path, change: impl Fn(&str) -> String) {
    for name in ["model.jani", "net.nnet", "p.jani2nnet"] {
        let read = std::fs::read_to_string(case.join(name)).expect("a file of the case");
        let text = if name == "p.jani2nnet" { change(&read) } else { read };
        std::fs::write(folder.join(name), text).expect("a file");
    }
}

#[test]
fn a_label_that_is_never_chosen_is_not_left_to_the_environment() {
    let case = cases_folder().join("policy/label-not-in-interface");
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    copied(&case, folder, str::to_owned);
    let command = "verify model.jani --interface p.jani2nnet";
    let output = policert(folder, command).output().expect("policert runs");
    assert_eq!(code(&output), 10, "{}", text(&output));
    assert!(text(&output).contains("the environment takes them: eject"), "{}", text(&output));

    copied(&case, folder, |interface| interface.replacen('{', r#"{"never": ["eject"], "#, 1));
    for engine in ["auto", "explicit", "bmc", "cegar", "ic3", "prob"] {
        let command = format!("{command} --engine {engine} --json result.json");
        let output = policert(folder, &command).output().expect("policert runs");
        assert_eq!(code(&output), 0, "{engine}: {}", text(&output));
        assert!(text(&output).contains("never chosen: eject"), "{engine}: {}", text(&output));
        let result = std::fs::read_to_string(folder.join("result.json")).expect("the result");
        let result: serde_json::Value = serde_json::from_str(&result).expect("JSON");
        assert_eq!(result["semantics"]["never_chosen"], serde_json::json!(["eject"]));
        assert_eq!(result["semantics"]["unlearned_labels"], serde_json::json!([]));
    }
}
