//! Every result as JSON keeps the schema that is published: of every command, of every engine, with an
//! answer, without one, stopped, and with inputs that are wrong.

use crate::support::example::Example;
use crate::support::json_schema::{breaches, schema};
use crate::support::program::{code, text};
use crate::support::small_files::{LOOP, PROPERTY, cell_network};
use serde_json::Value;

/// Runs a command; its result, which keeps the schema.
fn result(example: &Example, name: &str, command: &str) -> Value {
    let output = example.run(&format!("{command} --json result.json"));
    let result = std::fs::read_to_string(example.path("result.json"))
        .unwrap_or_else(|error| panic!("{command}: {error}: {}", text(&output)));
    std::fs::remove_file(example.path("result.json")).expect("a result");
    let result: Value = serde_json::from_str(&result).expect("JSON");
    let found = breaches(&schema(name), &result);
    assert!(found.is_empty(), "{command}: {name}: {found:#?}\n{result:#}");
    if name != "generate" {
        assert_eq!(result["exit_code"], code(&output), "{command}: {}", text(&output));
        let frame = [
            "schema_version",
            "version",
            "exit_code",
            "reason",
            "reason_code",
            "warnings",
            "notes",
            "errors",
            "inputs",
            "time_s",
            "peak_memory_mb",
        ];
        let missing: Vec<_> = frame.iter().filter(|name| result.get(name).is_none()).collect();
        assert!(missing.is_empty(), "{command}: {missing:?}");
        assert_eq!(result["reason"].is_null(), result["reason_code"].is_null(), "{command}");
    }
    result
}

#[test]
fn of_every_engine() {
    let example = Example::new();
    let mut words = Vec::new();
    for engine in
        ["auto", "explicit", "ppa", "cegar", "bmc", "ic3", "prob", "prob-ppa", "prob-cegar"]
    {
        for options in
            ["", "--property 1", "--property 2", "--no-policy", "--timeout 0", "--memory 1MB"]
        {
            let command = format!("verify model.jani --engine {engine} {options}");
            let result = result(&example, "result", &command);
            words.push(result["verdict"].as_str().unwrap_or_default().to_owned());
            let statistics = &result["statistics"];
            if options == "--property 1" && engine != "auto" {
                assert!(statistics[engine].is_object(), "{command}: {statistics:#}");
            }
        }
    }
    for word in ["safe", "unsafe", "unknown", "probability"] {
        assert!(words.iter().any(|found| found == word), "{word}: {words:?}");
    }
    // What an engine does not count is no number.
    let of = |engine: &str, name: &str| {
        let command = format!("verify model.jani --property 1 --engine {engine}");
        result(&example, "result", &command)["statistics"][name].clone()
    };
    assert_eq!(of("bmc", "transitions"), Value::Null);
    assert_eq!(of("ic3", "reachable_states"), Value::Null);
    assert_eq!(of("prob", "transitions"), Value::Null);
    assert_eq!(of("explicit", "transitions"), 4);
}

#[test]
fn of_every_command() {
    let example = Example::new();
    example.write("p.vnnlib", PROPERTY);
    example.write("some.vnnlib", &PROPERTY.replace("(>= Y_0 100)", "(<= Y_0 100)"));
    example.write("loop.toml", LOOP);
    example.write("missed.toml", &LOOP.replace("\"1\", \"1.25\"", "\"2.5\", \"3\""));
    example.write("cart.toml", &cell_network());
    for (name, command) in [
        ("check", "check model.jani"),
        ("check", "check model.jani --timeout 0"),
        ("check", "check policy.nnet"),
        ("query", "query policy.nnet p.vnnlib"),
        ("query", "query policy.nnet some.vnnlib --certify --evidence sat.json"),
        ("query", "query policy.nnet p.vnnlib --certify --evidence unsat.json"),
        ("certify", "certify sat.json"),
        ("certify", "certify unsat.json"),
        ("query", "query policy.nnet p.vnnlib --timeout 0"),
        ("query", "query policy.nnet model.jani"),
        ("reach", "reach loop.toml --record-boxes"),
        ("reach", "reach loop.toml --certify --evidence loop.json"),
        ("certify", "certify loop.json"),
        ("reach", "reach missed.toml --certify --evidence missed.json"),
        ("certify", "certify missed.json"),
        ("reach", "reach loop.toml --timeout 0"),
        ("reach", "reach model.jani"),
        ("simulate", "simulate model.jani --runs 3 --trace"),
        ("simulate", "simulate model.jani --memory 1MB"),
        ("simulate", "simulate policy.nnet"),
        ("dataset", "dataset model.jani --rollouts 3 --output t.csv"),
        ("dataset", "dataset model.jani --memory 1MB --output t.csv"),
        ("dataset", "dataset policy.nnet --output t.csv"),
        ("convert", "convert model.jani --no-policy --output m.jani"),
        ("convert", "convert model.jani --to drn --output m.drn"),
        ("convert", "convert model.jani --to drn --output m.drn --timeout 0"),
        ("convert", "convert policy.nnet --output m.jani"),
        ("certify", "certify policy.nnet"),
        ("certify", "certify model.jani --timeout 0"),
        ("generate", "generate npuzzle 2 2 --output g --count"),
        ("train", "train cart.toml --out n.onnx --timeout 0"),
        ("train", "train cart.toml --out n.onnx --memory 1MB"),
        ("train-model", "train model.jani --out n.nnet"),
        ("train-model", "train g/npuzzle_2_2.jani --out n.nnet --timeout 0"),
    ] {
        result(&example, name, command);
    }
    for (name, member) in [("sat", "witness"), ("unsat", "refutation")] {
        let evidence: Value =
            serde_json::from_str(&example.read(&format!("{name}.json"))).expect("JSON");
        let found = breaches(&schema("query-evidence"), &evidence);
        assert!(found.is_empty() && evidence.get(member).is_some(), "{found:#?}\n{evidence:#}");
        let certified = example.run(&format!("certify {name}.json"));
        assert!(text(&certified).contains("CONFIRMED"), "{}", text(&certified));
    }
    for (name, member) in [("loop", "parts"), ("missed", "violation")] {
        let evidence: Value =
            serde_json::from_str(&example.read(&format!("{name}.json"))).expect("JSON");
        let found = breaches(&schema("loop-evidence"), &evidence);
        assert!(found.is_empty() && evidence.get(member).is_some(), "{found:#?}\n{evidence:#}");
    }
    let evidence = example.run("verify model.jani --property 1 --engine prob --evidence e.json");
    assert_eq!(code(&evidence), 0, "{}", text(&evidence));
    result(&example, "certify", "certify e.json");
}
