//! The files of `--json` and `--evidence`: held against their schemas, and against what they say.

use crate::support::example::Example;
use crate::support::json_schema::{breaches, schema};
use crate::support::program::{code, text};
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

fn assert_valid(name: &str, value: &Value) {
    let found = breaches(&schema(name), value);
    assert!(found.is_empty(), "{name}: {found:#?}\n{value:#}");
}

/// Runs and returns the result file.
fn result(example: &Example, arguments: &str) -> Value {
    let output = example.run(&format!("{arguments} --json result.json"));
    let result = json(&example.read("result.json"));
    assert_eq!(result["exit_code"], code(&output), "{}", text(&output));
    result
}

#[test]
fn results_of_all_kinds_keep_the_schema() {
    let example = Example::new();
    for (arguments, verdict) in [
        ("verify model.jani", "safe"),
        ("verify model.jani --property 1 --engine ppa", "unsafe"),
        ("verify model.jani --property 2 --engine ppa --no-policy --terminal x>=9", "unknown"),
        ("verify model.jani --no-policy --state-limit 2", "unknown"),
        ("verify model.jani --ties strict --filter applicable", "safe"),
        ("verify model.jani --property 9", "invalid"),
        ("verify model.jani --numbers f32 --choice sample", "unsupported"),
        ("verify model.jani --preset magic", "error"),
    ] {
        let result = result(&example, arguments);
        assert_valid("result", &result);
        assert_eq!(result["verdict"], verdict, "{arguments}: {result:#}");
    }
}

#[test]
fn recorded_queries_keep_the_schema_and_the_order() {
    let example = Example::new();
    let arguments = "verify model.jani --engine ppa --record-queries queries.jsonl";
    let result = result(&example, &format!("{arguments} --filter applicable"));
    let lines: Vec<Value> = example.read("queries.jsonl").lines().map(json).collect();
    for line in &lines {
        assert_valid("queries", line);
    }
    let (header, queries) = lines.split_first().expect("a header");
    assert_eq!(header["format"], "policert-queries");
    assert_eq!(header["network_sha256"], result["inputs"][2]["sha256"]);
    assert_eq!(header["applicable"].as_array().map(Vec::len), Some(2), "{header:#}");
    let tests = &result["statistics"]["ppa"]["tests"];
    let asked = ["is_select_pi", "t_sat_pi"].map(|kind| tests[kind]["asked"].as_u64());
    let refuted = ["is_select_pi", "t_sat_pi"].map(|kind| tests[kind]["refuted"].as_u64());
    let total = |counts: [Option<u64>; 2]| counts.iter().flatten().sum::<u64>();
    assert_eq!(queries.len() as u64, total(asked));
    let is_refuted = |query: &&Value| query["answer"] == "refuted";
    assert_eq!(queries.iter().filter(is_refuted).count() as u64, total(refuted));
    assert!(!queries.is_empty() && total(refuted) > 0, "{tests:#}");
    let regions: Vec<u64> = queries.iter().filter_map(|q| q["region"].as_u64()).collect();
    assert!(regions.is_sorted() && regions.first() == Some(&0), "{regions:?}");
    // Where the policy chooses, the recorded point lies in the recorded box.
    for query in queries.iter().filter(|query| query["answer"] == "possible") {
        let (sides, witness) = (query["box"].as_array(), query["witness"].as_array());
        for (side, value) in sides.expect("sides").iter().zip(witness.expect("a witness")) {
            assert!(side[0].as_i64() <= value.as_i64() && value.as_i64() <= side[1].as_i64());
        }
    }
}

#[test]
fn recording_needs_a_policy_and_a_file() {
    let example = Example::new();
    for arguments in [
        "verify model.jani --no-policy --record-queries q",
        "verify model.jani --record-queries -",
        // Explicit search asks about single states only.
        "verify model.jani --engine explicit --record-queries q",
    ] {
        assert_eq!(code(&example.run(arguments)), 42, "{arguments}");
    }
    assert!(!example.path("q").exists());
}

#[test]
fn statistics_and_semantics() {
    let example = Example::new();
    let result = result(&example, "verify model.jani --property far --engine explicit");
    assert_eq!(result["engine"], "explicit");
    assert_eq!(result["property"], "far");
    assert_eq!(result["reason"], Value::Null);
    let statistics = &result["statistics"];
    assert_eq!(statistics["predicates"], Value::Null);
    for (name, count) in [
        ("start_states", 1),
        ("reachable_states", 6),
        ("expanded_states", 6),
        // Five steps to go, and a rest at the end.
        ("transitions", 6),
        ("unsafe_states", 0),
        ("dropped_outcomes", 0),
    ] {
        assert_eq!(statistics[name], count, "{name}: {statistics:#}");
    }
    assert!(statistics["explicit"].is_object());
    let semantics = &result["semantics"];
    assert_eq!(semantics["policy"]["ties"], "first");
    assert_eq!(semantics["start"], "initial");
    let roles: Vec<&Value> =
        result["inputs"].as_array().expect("inputs").iter().map(|input| &input["role"]).collect();
    assert_eq!(roles, ["model", "interface", "policy"]);
}

/// With a million values of a variable that never changes, auto begins with guided search.
#[test]
fn guided_search_that_met_all_states_does_not_speak_of_its_limit() {
    let example = Example::new();
    let x = r#"{"name": "x", "initial"#;
    let idle = r#"{"name": "idle", "initial-value": 0, "type": {"kind": "bounded", "base": "int",
   "lower-bound": 0, "upper-bound": 1000000}}, "#;
    example.replace("model.jani", x, &format!("{idle}{x}"));
    let result = result(&example, "verify model.jani");
    assert_eq!(result["verdict"], "safe");
    let guided = &result["attempts"][0];
    assert_eq!(guided["engine"], "guided", "{result:#}");
    let said = guided["result"].as_str().expect("a text");
    assert!(said.contains("no unsafe state among the 6 that the search met"), "{said}");
    let limited = self::result(&example, "verify model.jani --state-limit 3");
    let said = limited["attempts"][0]["result"].to_string();
    assert!(said.contains("the limit of 3 states was reached"), "{said}");
}

#[test]
fn predicates_by_binary_search_replace_those_of_the_property() {
    let example = Example::new();
    // x has nine thresholds; with each of them told apart, every property is decided. That of the
    // unsafe condition is always there.
    for (arguments, predicates, verdict) in [
        ("--predicates none", 1, "unknown"),
        ("--predicates splits:10", 2, "unknown"),
        ("--predicates splits:50 --last x", 6, "unknown"),
        ("--predicates splits:100", 9, "unsafe"),
    ] {
        let line =
            format!("verify model.jani --property coarse --engine ppa --no-policy {arguments}");
        let result = result(&example, &line);
        assert_eq!(result["statistics"]["predicates"], predicates, "{arguments}: {result:#}");
        assert_eq!(result["verdict"], verdict, "{arguments}: {result:#}");
    }
}

#[test]
fn ppa_counts_predicates_and_start_states() {
    let example = Example::new();
    let result = result(&example, "verify model.jani --engine ppa");
    let statistics = &result["statistics"];
    assert_eq!(result["preset"], "native");
    // Two are listed, and the unsafe condition has an atom that is none of them.
    assert_eq!(statistics["predicates"], 3);
    assert_eq!(statistics["start_states"], 1);
    assert_eq!(statistics["start_states_proved_safe"], 1);
    assert!(statistics["ppa"]["tests"].is_object(), "{statistics:#}");
    let without = self::result(&example, "verify model.jani --engine ppa --predicates none");
    assert_eq!(without["statistics"]["predicates"], 1);
}

/// Without the atom of the unsafe condition the start state would count as unsafe.
#[test]
fn ppa_proves_safety_with_predicates_that_lack_the_unsafe_condition() {
    let example = Example::new();
    for engine in ["ppa", "prob-ppa"] {
        let line = format!("verify model.jani --property coarse --engine {engine}");
        let result = result(&example, &line);
        let statistics = &result["statistics"];
        assert_eq!(statistics["predicates"], 1, "{result:#}");
        let notes = result["notes"].to_string();
        assert!(notes.contains("atoms of the unsafe condition added: 1"), "{notes}");
        match engine {
            "ppa" => assert_eq!(result["verdict"], "safe"),
            _ => assert_eq!(result["value"], "0"),
        }
    }
}

#[test]
fn start_states_proved_safe_are_listed() {
    let example = Example::new();
    // x counts up to five; the start condition allows all of its ten values.
    let line = "verify model.jani --property middle --engine ppa";
    let listed = format!("{line} --start-states starts.json --predicates splits:100");
    let result = result(&example, &listed);
    let starts = json(&example.read("starts.json"));
    let list = starts["start_states"].as_array().expect("start states");
    assert_eq!(starts["proved_safe"], result["statistics"]["start_states_proved_safe"]);
    assert_eq!(list.len(), result["statistics"]["start_states"]);
    assert_eq!(list[0]["ranges"], serde_json::json!({"x": [0, 0]}));
    assert_eq!(list[0]["proved_safe"], false);

    let quick = self::result(&example, &format!("{line} --stop-at-first-unsafe"));
    assert_eq!(quick["verdict"], "unsafe");
    assert!(quick["statistics"]["start_states_proved_safe"].is_null(), "{quick:#}");
    let output = example.run("verify model.jani --engine explicit --start-states starts.json");
    assert_eq!(code(&output), 42, "{}", text(&output));
}

#[test]
fn evidence_can_be_read_step_by_step() {
    let example = Example::new();
    let output = example.run("verify model.jani --property middle --evidence trace.json");
    assert_eq!(code(&output), 10, "{}", text(&output));
    assert!(text(&output).contains("trace.json"));
    let evidence = json(&example.read("trace.json"));
    assert_valid("evidence", &evidence);
    assert_eq!(evidence["steps"], 4);
    assert_eq!(evidence["start"], serde_json::json!({"x": 0}));
    let trace = evidence["trace"].as_array().expect("steps");
    for (k, step) in trace.iter().enumerate() {
        assert_eq!(step["step"], k + 1);
        assert_eq!(step["label"], "go");
        assert_eq!(step["by"], "policy");
        assert_eq!(step["changed"], serde_json::json!({"x": [k, k + 1]}));
        assert_eq!(step["policy"]["chosen"], serde_json::json!(["go"]));
        let scores = step["policy"]["scores"].as_array().expect("scores");
        assert_eq!(scores[0]["exact"], (5 - i64::try_from(k).expect("small")).to_string());
        assert_eq!(scores[1]["exact"], "1/2");
        assert_eq!(scores[1]["decimal"], 0.5);
    }
    let digests = evidence["inputs"].as_array().expect("inputs");
    assert_eq!(digests.len(), 3);
}

#[test]
fn safe_verdicts_of_every_engine_are_certified() {
    let example = Example::new();
    for engine in ["explicit", "bmc", "ppa", "cegar", "ic3", "auto"] {
        let safe = format!("verify model.jani --engine {engine} --evidence safe.json");
        assert_eq!(code(&example.run(&safe)), 0, "{engine}");
        let mut evidence = json(&std::fs::read_to_string(example.path("safe.json")).expect("text"));
        assert_valid("evidence", &evidence);
        assert_eq!(evidence["verdict"], "safe", "{engine}");
        assert_eq!(code(&example.run("certify safe.json")), 0, "{engine}");
        evidence["invariant"] = serde_json::json!([{"x": [3, 3]}]);
        std::fs::write(example.path("safe.json"), evidence.to_string()).expect("it is written");
        assert_eq!(code(&example.run("certify safe.json")), 51, "{engine}");
        std::fs::remove_file(example.path("safe.json")).expect("it is there");
    }
}

#[test]
fn checks_keep_the_schema() {
    let example = Example::new();
    let check = result(&example, "check model.jani");
    assert_valid("check", &check);
    assert_eq!(check["model"]["operators"], 2);
    assert_eq!(check["model"]["initial_states"], 1);
    assert_eq!(check["labels"][0]["learned"], true);
    assert_eq!(check["policy"]["hidden"], serde_json::json!([2]));
    assert_eq!(check["property"]["predicates"], 2);
    assert_eq!(check["domain_exits"]["found"], serde_json::json!([]));
    example.replace("policy.jani2nnet", r#""name": "x""#, r#""name": "speed""#);
    example.replace("policy.jani2nnet", r#""go", "#, r#""run", "#);
    let check = result(&example, "check model.jani");
    assert_valid("check", &check);
    assert_eq!(check["exit_code"], 40);
    assert_eq!(check["errors"].as_array().map(Vec::len), Some(2), "all at once: {check:#}");
    assert_eq!(check["model"]["operators"], 2, "sizes are there all the same");
    assert_valid("check", &result(&example, "check nothing.jani"));
}

#[test]
fn data_on_standard_output_stays_alone() {
    let example = Example::new();
    let output = example.run("verify model.jani --json -");
    let result = json(&String::from_utf8_lossy(&output.stdout));
    assert_eq!(result["verdict"], "safe");
    assert!(String::from_utf8_lossy(&output.stderr).contains("SAFE"));
}
