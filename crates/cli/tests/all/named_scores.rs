//! `--scores`: which of several outputs of a graph holds the scores.

use policert_policy::onnx::write_onnx;
use policert_policy::{ElementType, read_network};
use serde_json::Value;

use crate::support::example::Example;
use crate::support::program::{code, text};

/// A field of a message of protocol buffers, with a length.
fn field(number: u8, content: &[u8]) -> Vec<u8> {
    let length = u8::try_from(content.len()).expect("a short field");
    assert!(length < 128);
    [&[number << 3 | 2, length], content].concat()
}

/// Both outputs of the graph `both.onnx`: `output` has the scores of the example's policy, and `other` their
/// opposites.
fn example() -> Example {
    let example = Example::new();
    let network = read_network(&example.path("policy.nnet")).expect("a network").network;
    let written = write_onnx(&network, ElementType::F32).expect("single precision");
    // A message goes on with what is appended to it.
    let node = [field(1, b"output"), field(2, b"other"), field(4, b"Neg")].concat();
    let graph = [field(1, &node), field(12, &field(1, b"other"))].concat();
    let both = [written, field(7, &graph)].concat();
    std::fs::write(example.path("both.onnx"), both).expect("a file of the example");
    example
}

const MIDDLE: &str = "verify model.jani --property 1 --policy both.onnx --engine explicit";

#[test]
fn the_option_chooses_among_several_outputs() {
    let example = example();
    let open = example.run(MIDDLE);
    assert_eq!(code(&open), 41, "{}", text(&open));
    assert!(text(&open).contains("--scores"), "{}", text(&open));
    for (output, expected) in [("output", 10), ("other", 0)] {
        let run = example.run(&format!("{MIDDLE} --scores {output}"));
        assert_eq!(code(&run), expected, "{output}: {}", text(&run));
    }
    // It goes before what the interface says.
    let written = example.run("interface model.jani both.onnx --scores other --output i.json");
    assert_eq!(code(&written), 0, "{}", text(&written));
    let interface: Value = serde_json::from_str(&example.read("i.json")).expect("JSON");
    assert_eq!(interface["scores"], "other");
    let of_interface = format!("{MIDDLE} --interface i.json");
    assert_eq!(code(&example.run(&of_interface)), 0);
    assert_eq!(code(&example.run(&format!("{of_interface} --scores output"))), 10);
}

#[test]
fn a_name_that_no_output_has_is_refused_with_those_that_there_are() {
    let example = example();
    let none = example.run(&format!("{MIDDLE} --scores actions"));
    assert_eq!(code(&none), 40, "{}", text(&none));
    let shown = text(&none);
    assert!(shown.contains("`actions`") && shown.contains("`output`, `other`"), "{shown}");
    let nnet = example.run("verify model.jani --scores output");
    assert_eq!(code(&nnet), 41, "{}", text(&nnet));
    assert!(text(&nnet).contains("ONNX"), "{}", text(&nnet));
    let without = example.run("verify model.jani --no-policy --scores output");
    assert_eq!(code(&without), 42, "{}", text(&without));
}

#[test]
fn evidence_says_which_output_it_is_about() {
    let example = example();
    let run = example.run(&format!("{MIDDLE} --scores output --evidence e.json"));
    assert_eq!(code(&run), 10, "{}", text(&run));
    let evidence: Value = serde_json::from_str(&example.read("e.json")).expect("JSON");
    assert_eq!(evidence["task"]["scores"], "output");
    let confirmed = example.run("certify e.json");
    assert_eq!(code(&confirmed), 0, "{}", text(&confirmed));
    let mut lie = evidence;
    lie["task"]["scores"] = "other".into();
    example.write("lie.json", &lie.to_string());
    let rejected = example.run("certify lie.json");
    assert!(matches!(code(&rejected), 40 | 51), "{}", text(&rejected));
}
