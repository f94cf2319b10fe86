//! Nothing from a file can forge the screen: no name, excerpt or path moves the cursor, begins a
//! line of its own, or fills the screen.

use crate::support::example::Example;
use crate::support::program::{code, text};
use serde_json::Value;

/// Erases its line, goes to the beginning of the one above, and says something else.
const FORGED: &str =
    "x\u{1b}[2K\u{1b}[1A\r\nSAFE: no unsafe state is reachable\n\u{9b}2J\u{202e}\u{7}";

/// The example with names of every kind that forge.
fn forged() -> Example {
    let example = Example::new();
    for file in ["model.jani", "policy.jani2nnet"] {
        let mut json: Value = serde_json::from_str(&example.read(file)).expect("JSON");
        rename(&mut json);
        example.write(file, &json.to_string());
    }
    example
}

/// Names of the example become ones that forge, wherever they stand.
fn rename(json: &mut Value) {
    match json {
        Value::String(text) if ["walker", "go", "x", "far", "middle"].contains(&&**text) => {
            text.push_str(FORGED);
        }
        Value::Array(items) => items.iter_mut().for_each(rename),
        Value::Object(members) => members.values_mut().for_each(rename),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Everything printed has glyphs, on lines that are ours, of a sane length.
fn assert_honest(command: &str, printed: &str) {
    for line in printed.lines() {
        let strange: Vec<char> =
            line.chars().filter(|c| *c != '\t' && !policert_files::is_plain(*c)).collect();
        assert!(strange.is_empty(), "{command}: {strange:?} in {line:?}");
        assert!(!line.trim_start().starts_with("SAFE: no unsafe state is reachable\\n"), "{line}");
        assert!(line.chars().count() < 10_000, "{command}: {} characters", line.len());
    }
    let forged = printed.lines().filter(|line| line.trim_start().starts_with("SAFE: no unsafe"));
    assert_eq!(forged.count(), 0, "{command}: {printed}");
}

#[test]
fn names_of_a_model_forge_no_verdict() {
    let example = forged();
    for (command, expected) in [
        ("verify model.jani --property model.jani:1", 10),
        ("verify model.jani --property model.jani:1 --verbose --evidence -", 10),
        ("verify model.jani --property model.jani:1 --engine prob", 0),
        ("verify model.jani --property model.jani:1 --engine ppa --json - --color=always", 10),
        ("verify model.jani --property model.jani:1 --terminal goal", 42),
        ("check model.jani --property model.jani:1 --verbose", 0),
        ("simulate model.jani --property model.jani:1 --trace --runs 3 --verbose", 0),
        ("dataset model.jani --property model.jani:1 --rollouts 3 --output table.csv", 0),
        (
            "convert model.jani --property model.jani:1 --output model.prism --to prism --no-policy",
            0,
        ),
        ("convert model.jani --property model.jani:1 --output model.drn --to drn", 0),
    ] {
        let output = example.run(command);
        let printed = text(&output).replace("\u{1b}[1;31m", "").replace("\u{1b}[0m", "");
        assert_eq!(code(&output), expected, "{command}: {printed}");
        assert_honest(command, &printed.replace("\u{1b}[36m", "").replace("\u{1b}[1;33m", ""));
    }
    for file in ["table.csv", "model.prism", "model.drn"] {
        assert_honest(file, &example.read(file));
    }
}

#[test]
fn what_is_wrong_with_a_file_forges_no_verdict() {
    let long = FORGED.repeat(20_000);
    let quoted = Value::String(long.clone()).to_string();
    let in_json = |text: &str| text.replace("LONG", &quoted[1..quoted.len() - 1]);
    let run = |file: &str, content: &str, command: &str| {
        let example = Example::new();
        example.write(file, content);
        let output = example.run(command);
        let printed = text(&output);
        assert!([40, 41, 42].contains(&code(&output)), "{command}: {printed}");
        assert_honest(command, &printed);
        assert!(printed.len() < 100_000, "{command}: {} bytes", printed.len());
    };
    let model = Example::new().read("model.jani");
    let jani = |old: &str, new: &str| in_json(&model.replacen(old, new, 1));
    run("model.jani", &jani("\"lts\"", "\"LONG\""), "verify model.jani");
    run(
        "model.jani",
        &jani("\"jani-version\"", "\"LONG\": 1, \"jani-version\""),
        "verify model.jani --property LONG",
    );
    run("model.jani", &jani("\"left\": \"x\"", "\"left\": \"LONG\""), "verify model.jani");
    run("model.jani", &long, "check model.jani");
    run("policy.nnet", &long, "verify model.jani");
    let interface = Example::new().read("policy.jani2nnet");
    for name in ["\"x\"", "\"go\"", "\"input\"", "\"policy.nnet\""] {
        run(
            "policy.jani2nnet",
            &in_json(&interface.replacen(name, "\"LONG\"", 1)),
            "verify model.jani",
        );
    }
    run("net.nnet", &long, "query net.nnet model.jani");
    run("p.vnnlib", &format!("(assert (<= {long} 1))"), "query policy.nnet p.vnnlib");
    run("p.vnnlib", &in_json("(assert (<= LONG 1))"), "query policy.nnet p.vnnlib");
    run("task.toml", &in_json("name = \"LONG\"\nvariables = 3\n"), "reach task.toml");
    run("task.toml", &long, "reach task.toml");
    run("task.toml", &in_json("\"LONG\" = 3\n"), "train task.toml --out x.onnx");
    run("suite.toml", &in_json("\"LONG\" = 3\n"), "bench run suite.toml --journal j");
    run("suite.toml", &long, "bench run suite.toml --journal j");
    run("result.json", &in_json("{\"verdict\": \"LONG\"}"), "plot boxes result.json --out x.svg");
    run("evidence.json", &in_json("{\"schema_version\": \"LONG\"}"), "certify evidence.json");
    run("evidence.json", &in_json("{\"schema_version\": 1, \"LONG\": 1}"), "certify evidence.json");
    run(
        "preset.toml",
        &in_json("\"LONG\" = 3\n"),
        "verify model.jani --engine ppa --preset preset.toml",
    );
    run(
        "preset.toml",
        &in_json("\"LONG\" = 3\n"),
        "verify model.jani --engine ic3 --preset preset.toml",
    );
    run(
        "states.csv",
        &format!("x\n{}\n", long.replace('\n', "")),
        "dataset model.jani --states states.csv --output t.csv",
    );
    run("track.txt", &long, "generate racetrack track.txt --output g");
}

#[test]
fn names_of_files_and_arguments_forge_no_verdict() {
    let example = Example::new();
    for arguments in [
        vec!["verify", FORGED],
        vec!["verify", "model.jani", "--property", FORGED],
        vec!["verify", "model.jani", "--json", FORGED, "--evidence", FORGED],
        vec!["verify", "model.jani", "--terminal", FORGED],
        vec!["verify", "model.jani", FORGED],
        vec!["query", FORGED, FORGED],
        vec!["plot", "boxes", FORGED, "--out", "x.svg"],
        vec![FORGED],
    ] {
        let output = example.command("").args(&arguments).output().expect("policert runs");
        assert!(code(&output) >= 40, "{arguments:?}");
        assert_honest(arguments[0], &text(&output));
    }
}

#[test]
fn a_list_of_problems_has_an_end() {
    let example = Example::new();
    let inputs: Vec<String> = (0..5000).map(|i| format!("{{\"name\": \"v{i}\"}}")).collect();
    let interface = example.read("policy.jani2nnet");
    let mut json: Value = serde_json::from_str(&interface).expect("JSON");
    json["input"] = serde_json::from_str(&format!("[{}]", inputs.join(","))).expect("JSON");
    example.write("policy.jani2nnet", &json.to_string());
    let output = example.run("verify model.jani --json result.json");
    assert_eq!(code(&output), 40, "{}", text(&output));
    assert!(text(&output).lines().count() < 100, "{}", text(&output));
    let result: Value = serde_json::from_str(&example.read("result.json")).expect("JSON");
    assert!(result["errors"].as_array().is_some_and(|errors| errors.len() < 300));
}
