//! Interfaces: a first one that the program writes, inputs that are computed, and files that only other
//! programs read.

use serde_json::Value;

use crate::support::example::Example;
use crate::support::program::{code, text};
use crate::tree_policies::with_thresholds;

/// The text without line breaks and indents of the terminal.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The verdict and the number of reachable states of a run of `verify`.
fn verdict(example: &Example, arguments: &str) -> (String, u64) {
    let run =
        example.run(&format!("verify model.jani {arguments} --engine explicit --json r.json"));
    assert!(matches!(code(&run), 0 | 10), "{arguments}: {}", text(&run));
    let result: Value = serde_json::from_str(&example.read("r.json")).expect("JSON");
    let states = result["statistics"]["reachable_states"].as_u64().expect("a count");
    (result["verdict"].as_str().expect("a word").to_owned(), states)
}

#[test]
fn a_first_interface_works_where_names_and_sizes_suffice() {
    let example = Example::new();
    example.write("trees.json", &with_thresholds([5.0, 8.0], 1).to_string());
    let own = verdict(&example, "");
    let run = example.run("interface model.jani policy.nnet");
    assert_eq!(code(&run), 0, "{}", text(&run));
    let shown = words(&text(&run));
    assert!(shown.contains("policy.interface.json is written"), "{shown}");
    assert!(shown.contains("note: input: all variables of the model, in its order"), "{shown}");
    assert!(!shown.contains("warning"), "{shown}");
    assert_eq!(verdict(&example, "--interface policy.interface.json"), own);
    let again = example.run("interface model.jani policy.nnet");
    assert_eq!(code(&again), 42, "{}", text(&again));
    assert!(words(&text(&again)).contains("--force replaces it"), "{}", text(&again));
    let forced = example.run("interface model.jani policy.nnet --force");
    assert_eq!(code(&forced), 0, "{}", text(&forced));
    // One score, and two labels.
    let run = example.run("interface model.jani trees.json --output t.json");
    assert_eq!(code(&run), 0, "{}", text(&run));
    assert!(words(&text(&run)).contains("the policy has one score"), "{}", text(&run));
    verdict(&example, "--interface t.json");
}

#[test]
fn what_a_first_interface_lacks_is_said() {
    let example = Example::new();
    example.write("trees.json", &with_thresholds([5.0, 8.0], 3).to_string());
    let run = example.run("interface model.jani trees.json --output t.json");
    assert_eq!(code(&run), 0, "{}", text(&run));
    let shown = words(&text(&run));
    assert!(shown.contains("the policy has 3 inputs and the model has 1 variables"), "{shown}");
    assert!(shown.contains("warning: the policy cannot be read with it yet"), "{shown}");
    let written: Value = serde_json::from_str(&example.read("t.json")).expect("JSON");
    assert_eq!(written["input"], serde_json::json!(["x"]));
    assert_eq!(written["output"], serde_json::json!(["go", "rest"]));
}

#[test]
fn trees_read_computed_inputs() {
    let example = Example::new();
    example.write("trees.json", &with_thresholds([5.0, 8.0], 1).to_string());
    example.write("halves.json", &with_thresholds([2.5, 4.0], 1).to_string());
    let write = |name: &str, file: &str, input: &str, keys: &str| {
        let text = format!(
            r#"{{"version": 2, "file": "{file}", {keys} "input": [{input}], "output": ["go", "rest"]}}"#
        );
        example.write(name, &text);
    };
    let rounds = r#""rounds": 1,"#;
    for keys in ["", rounds] {
        write("plain.json", "trees.json", r#""x""#, keys);
        let plain = verdict(&example, "--interface plain.json");
        write("half.json", "halves.json", r#""x / 2""#, keys);
        assert_eq!(verdict(&example, "--interface half.json"), plain);
        // The same function, written otherwise.
        write("other.json", "halves.json", r#""max(x, 0) / 2""#, keys);
        assert_eq!(verdict(&example, "--interface other.json"), plain);
    }
    let run = example.run("check model.jani --interface half.json");
    assert!(words(&text(&run)).contains("they are meant exactly"), "{}", text(&run));
}

#[test]
fn problems_of_computed_inputs_have_their_line() {
    let example = Example::new();
    let text_of = |input: &str| {
        format!(
            "{{\"version\": 2, \"file\": \"policy.nnet\",\n \"input\": [\n  {input}],\n \"output\": [\"go\", \"rest\"]}}"
        )
    };
    for (input, exit, expected) in [
        (r#""x +""#, 40, "i.json: line 3: /input/0: `x +`: an operand expected"),
        (r#""y""#, 40, "i.json: line 3: /input/0: `y`:"),
        (r#""one_hot(x, 0, 3)""#, 40, "i.json: line 3: /input/0: `x` may lie between 0 and 9"),
        (r#""flatten(A)""#, 40, "i.json: line 3: /input/0: the model has no array `A`"),
        (
            r#"{"normalise": ["x"], "mean": [0], "variance": [1, 2]}"#,
            40,
            "i.json: line 3: /input/0: `variance` has 2 numbers for 1 inputs",
        ),
        (r#""1 / x""#, 41, "/input/0: this input cannot be computed: it has no value at 0"),
    ] {
        example.write("i.json", &text_of(input));
        let run = example.run("verify model.jani --interface i.json");
        assert_eq!(code(&run), exit, "{input}: {}", text(&run));
        assert!(words(&text(&run)).contains(expected), "{input}: {}", text(&run));
    }
}

#[test]
fn files_of_other_programs_are_refused_by_their_content() {
    let example = Example::new();
    std::fs::write(example.path("policy.onnx"), b"PK\x03\x04..stable_baselines3_version")
        .expect("a file");
    std::fs::write(example.path("tree.joblib"), b"\x80\x04\x95..sklearn.tree").expect("a file");
    for (file, expected) in [
        ("policy.onnx", "policy.onnx: this is a file of Stable-Baselines3; export the policy"),
        ("tree.joblib", "tree.joblib: this is a pickled object of scikit-learn; export it"),
    ] {
        let run = example.run(&format!("verify model.jani --policy {file}"));
        assert_eq!(code(&run), 41, "{}", text(&run));
        assert!(words(&text(&run)).contains(expected), "{}", text(&run));
    }
    // A network by another name.
    std::fs::copy(example.path("policy.nnet"), example.path("policy.txt")).expect("a copy");
    assert_eq!(verdict(&example, "--policy policy.txt"), verdict(&example, ""));
}

#[test]
fn an_interface_that_only_the_property_knows_is_said_to_be_missing() {
    let example = Example::new();
    std::fs::remove_file(example.path("policy.jani2nnet")).expect("the file is there");
    let run = example.run("verify model.jani --policy policy.nnet");
    assert_eq!(code(&run), 40, "{}", text(&run));
    let shown = words(&text(&run));
    assert!(shown.contains("the property names it as the policy's interface"), "{shown}");
    assert!(shown.contains("`policert interface MODEL POLICY` writes a first one"), "{shown}");
}
