//! `policert query`: what it prints, its exit codes, its result file, and what it says of spoilt
//! inputs.

use std::process::Output;

use crate::support::json_schema::{breaches, schema};
use crate::support::program::interrupted;
use crate::support::query_example::{QueryExample, add_hard_query};
use serde_json::Value;

const QUERY: &str = "net.nnet property.vnnlib";

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Runs with these arguments: the exit code, standard output, standard error, and the result file,
/// which keeps its schema.
fn run(example: &QueryExample, arguments: &str) -> (i32, String, String, Value) {
    let output = example.run(&format!("{arguments} --json result.json"));
    let result: Value = serde_json::from_str(&example.read("result.json")).expect("a result");
    let found = breaches(&schema("query"), &result);
    assert!(found.is_empty(), "{found:#?}\n{result:#}");
    let code = output.status.code().unwrap_or(-1);
    assert_eq!(result["exit_code"], code, "{}", errors(&output));
    (code, out(&output), errors(&output), result)
}

#[test]
fn sat_shows_a_witness() {
    let example = QueryExample::new();
    let (code, out, errors, result) = run(&example, QUERY);
    assert_eq!(code, 10, "{errors}");
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[0], "sat");
    let inputs = [&lines[1..3]];
    let expected = [["((X_0 1)", " (X_1 0)"], ["((X_0 0)", " (X_1 1)"]];
    assert!(expected.iter().any(|pair| inputs == [&pair[..]]), "{out}");
    assert_eq!(lines[3..], [" (Y_0 1))"]);
    assert_eq!(errors, "", "nothing else is to be said");
    assert_eq!(result["answer"], "sat");
    assert_eq!(result["verdict"], "unsafe");
    assert_eq!(result["witness"]["outputs"][0]["exact"], "1");
    assert_eq!(result["network"]["hidden"], serde_json::json!([2]));
    assert_eq!(result["property"]["inequalities"], 5);
    let roles: Vec<&Value> =
        result["inputs"].as_array().expect("inputs").iter().map(|input| &input["role"]).collect();
    assert_eq!(roles, ["property", "network"]);
}

#[test]
fn unsat() {
    let example = QueryExample::new();
    example.replace(">= Y_0 1", "> Y_0 1");
    let (code, out, errors, result) = run(&example, QUERY);
    assert_eq!((code, out.as_str()), (0, "unsat\n"), "{errors}");
    assert_eq!((&result["verdict"], &result["vacuous"]), (&"safe".into(), &false.into()));
    example.replace("<= 0 X_1 1", "<= 1 X_1 0");
    let (code, out, errors, result) = run(&example, QUERY);
    assert_eq!((code, out.as_str()), (0, "unsat\n"));
    assert!(errors.starts_with("warning: the answer is vacuous"), "{errors}");
    assert_eq!(result["vacuous"], true);
}

#[test]
fn unknown_gives_the_reason() {
    let example = QueryExample::new();
    example.replace("<= 0 X_1 1", "<= 0 X_1");
    let (code, out, errors, result) = run(&example, QUERY);
    assert_eq!((code, out.as_str()), (20, "unknown\n"));
    assert!(errors.contains("X_1 is not bounded"), "{errors}");
    assert_eq!(result["reason_code"], "unbounded_input");
}

#[test]
fn output_on_demand() {
    let example = QueryExample::new();
    let quiet = example.run(&format!("{QUERY} --quiet"));
    assert_eq!((out(&quiet).as_str(), errors(&quiet).as_str()), ("sat\n", ""));
    let verbose = errors(&example.run(&format!("{QUERY} --verbose")));
    for part in ["2-2-1", "inequalities: 5", "tolerance 0", "sha256:"] {
        assert!(verbose.contains(part), "{part}: {verbose}");
    }
    let data = example.run(&format!("{QUERY} --json -"));
    let result: Value = serde_json::from_str(&out(&data)).expect("JSON alone");
    assert_eq!(result["answer"], "sat");
    assert!(errors(&data).starts_with("sat\n((X_0 "), "{}", errors(&data));
    let missing = example.run(&format!("{QUERY} --json no/such/folder/result.json"));
    assert_eq!(missing.status.code(), Some(42));
    assert_eq!(out(&missing), "", "no answer if the result cannot be written");
}

#[test]
fn limits() {
    let example = QueryExample::new();
    add_hard_query(&example);
    let (code, out, errors, result) = run(&example, "hard.nnet hard.vnnlib --timeout 300ms");
    assert_eq!((code, out.as_str()), (30, "timeout\n"), "{errors}");
    assert!(errors.contains("time limit"), "{errors}");
    assert_eq!((&result["answer"], &result["reason_code"]), (&"timeout".into(), &"time".into()));
    assert!(result["statistics"]["parts"].as_u64() > Some(0), "{result:#}");
    let (code, out, _, result) = run(&example, "hard.nnet hard.vnnlib --memory 1MB");
    assert_eq!((code, out.as_str()), (31, "unknown\n"));
    assert_eq!(result["reason_code"], "memory");
}

#[cfg(unix)]
#[test]
fn interrupts() {
    let example = QueryExample::new();
    add_hard_query(&example);
    let output = interrupted(example.command("hard.nnet hard.vnnlib --json result.json"));
    assert_eq!(out(&output), "unknown\n");
    let result: Value = serde_json::from_str(&example.read("result.json")).expect("a result");
    assert_eq!(result["reason_code"], "interrupted");
}

/// Exit code 40, or 41 where `supported` is false; nothing on standard output; one problem, which
/// mentions all of `parts`.
fn refused(example: &QueryExample, supported: bool, parts: &[&str]) {
    let (code, out, errors, result) = run(example, QUERY);
    assert_eq!(code, if supported { 40 } else { 41 }, "{errors}");
    assert_eq!(out, "");
    assert_eq!(result["answer"], Value::Null);
    assert_eq!(result["verdict"], if supported { "invalid" } else { "unsupported" });
    assert_eq!(result["errors"].as_array().map(Vec::len), Some(1), "{result:#}");
    for part in parts {
        assert!(errors.contains(part), "`{part}` is not in: {errors}");
    }
}

#[test]
fn spoilt_properties() {
    for (old, new, parts) in [
        ("(>= Y_0 1))\n", "(>= Y_0 1)\n", ["property.vnnlib:7:1", "1 `)` missing"]),
        ("(>= Y_0 1)", "(>= Y_0 foo)", ["property.vnnlib:7:17", "`foo`"]),
        ("(>= Y_0 1)", "(>= Y_1 1)", ["property.vnnlib:7:13", "Y_1 is not declared"]),
        ("(>= Y_0 1)", "(>= Y_0 (* X_0 X_1))", ["property.vnnlib:7:24", "not linear"]),
        ("(>= Y_0 1)", "(implies Y_0 1)", ["property.vnnlib:7:10", "`implies`"]),
        ("; Can", "Can", ["property.vnnlib:1:1", "`Can`"]),
        (
            "(declare-const X_1 Real)",
            "(declare-const X_1 Real)(declare-const X_2 Real)",
            ["property.vnnlib: the property declares X_0 to X_2 (3 inputs)", "has 2 inputs"],
        ),
        (
            "(declare-const Y_0 Real)",
            "(declare-const Y_0 Real)(declare-const Y_1 Real)",
            ["property.vnnlib: the property declares Y_0 to Y_1 (2 outputs)", "has 1 output"],
        ),
    ] {
        let example = QueryExample::new();
        example.replace(old, new);
        refused(&example, true, &parts);
    }
    let example = QueryExample::new();
    example.write("property.vnnlib", "");
    refused(&example, true, &["property.vnnlib:1:1", "no input X_0 is declared"]);
    example.write("property.vnnlib", b"\x00\x01(\xc3(");
    refused(&example, true, &["property.vnnlib:1:4", "not UTF-8"]);
    example.write("property.vnnlib", "\u{0}\u{1}(");
    refused(&example, true, &["property.vnnlib:1:1", "control character"]);
    example.write("property.vnnlib", "(vnnlib-version <2.0>)");
    refused(&example, false, &["property.vnnlib:1:1", "VNN-LIB 2.0"]);
    let network = example.read("net.nnet");
    let example = QueryExample::new();
    example.write("net.nnet", &network[..network.len() / 2]);
    refused(&example, true, &["net.nnet: line"]);
}

#[test]
fn files_that_are_missing() {
    let example = QueryExample::new();
    let (code, _, errors, result) = run(&example, "no.onnx no.vnnlib");
    assert_eq!(code, 40, "{errors}");
    assert!(errors.contains("no.onnx: ") && errors.contains("no.vnnlib: "), "{errors}");
    assert_eq!(result["errors"].as_array().map(Vec::len), Some(2));
    assert_eq!(example.run("net.nnet").status.code(), Some(42));
    assert_eq!(example.run(&format!("{QUERY} --ties any")).status.code(), Some(42));
}
