//! Verdicts about every evaluation in single precision, their evidence, and what is refused.

use std::path::Path;

use crate::support::example::Example;
use crate::support::program::{code, policert, text};
use crate::tree_policies::with_thresholds;
use policert_testkit::cases_folder;
use serde_json::{Value, json};

/// Copies the case whose label `keep` leads by a summand, with another weight and other summands.
fn copied(folder: &Path, weight: &str, summands: [&str; 2], outputs: &str) {
    let case = cases_folder().join("ppa/margin-1e-12");
    for name in ["model.jani", "net.nnet", "p.jani2nnet"] {
        let read = std::fs::read_to_string(case.join(name)).expect("a file of the case");
        let changed = match name {
            "net.nnet" => {
                let [first, second] = summands;
                let weights = format!("{weight},\n{weight},\n{first},\n{second},");
                read.replace("1,\n1,\n0,\n1e-12,", &weights)
            }
            "p.jani2nnet" => read.replace(r#"["risk", "keep"]"#, outputs),
            _ => read,
        };
        std::fs::write(folder.join(name), changed).expect("a file");
    }
}

/// The exit code and all text of a command.
fn run(folder: &Path, command: &str) -> (i32, String) {
    let output = policert(folder, command).output().expect("policert runs");
    (code(&output), text(&output))
}

const RISK_FIRST: &str = r#"["risk", "keep"]"#;
const VERIFY: &str = "verify model.jani --interface p.jani2nnet --numbers f32";

#[test]
fn a_label_that_every_evaluation_chooses_is_proved_with_evidence() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    // 1.1·x and 1.1·x + 0.5, for x up to 1000.
    copied(folder, "1.1", ["0", "0.5"], RISK_FIRST);
    for engine in ["auto", "explicit", "bmc", "cegar", "ic3", "ppa"] {
        let command = format!("{VERIFY} --engine {engine} --evidence e.json");
        let (code, shown) = run(folder, &command);
        assert_eq!(code, 0, "{engine}: {shown}");
        assert!(shown.contains("apart"), "{engine}: {shown}");
        let (code, shown) = run(folder, "certify e.json");
        assert_eq!(code, 0, "{engine}: {shown}");
    }
    let (code, shown) = run(folder, &format!("{VERIFY} --engine explicit"));
    assert!(code == 0 && shown.contains("narrowest lead of a best score is 5.000e-1"), "{shown}");
    // What is proved for a lead of 0.5 does not hold for a smaller one.
    copied(folder, "1.1", ["0", "1e-6"], RISK_FIRST);
    assert_ne!(run(folder, "certify e.json").0, 0);
}

#[test]
fn a_run_that_the_plain_evaluation_takes_is_evidence() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    copied(folder, "1", ["0", "1e-12"], RISK_FIRST);
    for engine in ["auto", "explicit", "bmc", "cegar", "ic3", "ppa"] {
        let command = format!("{VERIFY} --engine {engine} --evidence e.json");
        let (code, shown) = run(folder, &command);
        assert!(code == 10 || code == 20, "{engine}: {shown}");
        if code == 10 {
            let (code, shown) = run(folder, "certify e.json");
            assert_eq!(code, 0, "{engine}: {shown}");
        }
    }
    assert_eq!(run(folder, &format!("{VERIFY} --evidence e.json")).0, 10);
    // Over the reals the policy keeps.
    let evidence = std::fs::read_to_string(folder.join("e.json")).expect("evidence");
    let mut real: serde_json::Value = serde_json::from_str(&evidence).expect("JSON");
    assert_eq!(real["semantics"]["policy"]["numbers"], "f32");
    real["semantics"]["policy"]["numbers"] = "real".into();
    std::fs::write(folder.join("e.json"), real.to_string()).expect("evidence");
    assert_eq!(run(folder, "certify e.json").0, 51);
}

#[test]
fn where_evaluations_differ_the_answer_names_state_and_labels() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    // The first label is chosen by the plain evaluation, and over the reals too.
    copied(folder, "1.1", ["0", "-1e-9"], r#"["keep", "risk"]"#);
    for engine in ["auto", "explicit", "bmc", "ic3", "ppa", "cegar"] {
        let (code, shown) = run(folder, &format!("{VERIFY} --engine {engine}"));
        assert_eq!(code, 20, "{engine}: {shown}");
        if ["explicit", "bmc"].contains(&engine) {
            assert!(shown.contains("scores of keep, risk are closer"), "{engine}: {shown}");
        }
    }
    let (code, shown) = run(folder, &VERIFY.replace("f32", "real"));
    assert_eq!(code, 0, "{shown}");
    let simulated = "simulate model.jani --interface p.jani2nnet --numbers f32 --runs 20";
    assert_eq!(run(folder, simulated).0, 0);
}

#[test]
fn what_single_precision_does_not_go_with_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    copied(folder, "1", ["0", "0.5"], RISK_FIRST);
    for (options, words) in [
        ("--choice sample", "choice sample"),
        ("--engine prob-ppa", "engine prob-ppa"),
        ("--engine explicit --record-queries q", "--record-queries"),
    ] {
        let (code, shown) = run(folder, &format!("{VERIFY} {options}"));
        assert!(code >= 41, "{options}: {shown}");
        assert!(shown.contains(words), "{options}: {shown}");
    }
}

/// The walker under an ensemble of XGBoost with two trees that have these values everywhere; `go` is chosen
/// where their sum with the base score 1 is not positive.
fn walker(values: [f64; 2], objective: &str) -> Example {
    let mut file = with_thresholds([5.0, 8.0], 1);
    file["learner"]["learner_model_param"]["base_score"] = "[1E0]".into();
    file["learner"]["objective"] = json!({"name": objective});
    let trees = file["learner"]["gradient_booster"]["model"]["trees"].as_array_mut();
    for (tree, value) in trees.expect("trees").iter_mut().zip(values) {
        let threshold = tree["split_conditions"][0].clone();
        tree["split_conditions"] = json!([threshold, value, value]);
    }
    let example = Example::new();
    example.write("policy.json", &file.to_string());
    let interface = r#"{"file": "policy.json", "input": [{"name": "x", "automaton": null}],
                        "output": ["go", "rest"]}"#;
    example.write("policy.jani2nnet", interface);
    example
}

#[test]
fn sums_of_leaves_that_single_precision_changes_change_the_verdict() {
    // 1 + 10⁻⁹ is 1 in single precision, and nothing is left of it after - 1.
    let example = walker([1e-9, -1.0], "reg:squarederror");
    assert_eq!(code(&example.run("verify model.jani")), 0);
    for engine in ["auto", "explicit", "bmc", "cegar", "ic3", "ppa"] {
        let options = format!("--numbers f32 --engine {engine} --evidence e.json");
        let run = example.run(&format!("verify model.jani {options}"));
        let shown = text(&run);
        assert!(code(&run) == 10 || code(&run) == 20, "{engine}: {shown}");
        if code(&run) == 10 {
            let run = example.run("certify e.json");
            assert_eq!(code(&run), 0, "{engine}: {}", text(&run));
        }
    }
    let run = example.run("verify model.jani --numbers f32 --evidence e.json");
    assert_eq!(code(&run), 10, "{}", text(&run));
    // Over the reals the policy rests.
    let mut real: Value = serde_json::from_str(&example.read("e.json")).expect("JSON");
    real["semantics"]["policy"]["numbers"] = "real".into();
    example.write("e.json", &real.to_string());
    assert_eq!(code(&example.run("certify e.json")), 51);
    let simulated = example.run("simulate model.jani --numbers f32 --runs 20");
    assert_eq!(code(&simulated), 0, "{}", text(&simulated));
}

#[test]
fn sums_of_leaves_that_every_evaluation_tells_apart_are_proved_with_evidence() {
    let example = walker([0.3, 0.3], "reg:squarederror");
    for engine in ["auto", "explicit", "bmc", "cegar", "ic3", "ppa"] {
        let options = format!("--numbers f32 --engine {engine} --evidence e.json");
        let run = example.run(&format!("verify model.jani {options}"));
        assert_eq!(code(&run), 0, "{engine}: {}", text(&run));
        let run = example.run("certify e.json");
        assert_eq!(code(&run), 0, "{engine}: {}", text(&run));
    }
    let run = example.run("verify model.jani --numbers f32 --engine explicit");
    let shown = text(&run).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains("narrowest lead of a best score is 1.600e0"), "{shown}");
    assert!(shown.contains("in every evaluation in single precision"), "{shown}");
    let run = example.run("verify model.jani --numbers f32 --engine prob-ppa");
    assert!(code(&run) >= 41, "{}", text(&run));
    let refused = walker([0.3, 0.3], "count:poisson");
    let run = refused.run("verify model.jani --numbers f32");
    assert!(code(&run) == 41 && text(&run).contains("multi:softprob"), "{}", text(&run));
}
