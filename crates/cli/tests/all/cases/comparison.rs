//! Runs a command of a case and compares everything that is expected.

use std::path::Path;
use std::process::{Command, Output};

use policert_policy::{ExactEvaluator, read_network};
use serde_json::Value;

use super::case_file::{Case, Expect, Run};
use super::{probability, query, reach};
use crate::support::json_schema::{breaches, schema};

/// The differences from the expected result; none if all is well.
pub fn differences(case: &Case, run: &Run) -> Vec<String> {
    if matches!(arguments(&run.command).next(), Some("check" | "certify")) {
        return exit_code_differences(case, run);
    }
    let mut wrong = Vec::new();
    let scratch = tempfile::tempdir().expect("a folder for results");
    let (result, evidence) =
        (scratch.path().join("result.json"), scratch.path().join("trace.json"));
    let is_query = arguments(&run.command).next() == Some("query");
    let is_reach = arguments(&run.command).next() == Some("reach");
    // `TASK` stands for the file of the case.
    let words = arguments(&run.command).map(|word| if word == "TASK" { "case.toml" } else { word });
    let mut command = policert(&case.folder, words);
    command.arg("--json").arg(&result);
    if is_reach {
        command.arg("--record-boxes");
    } else if !is_query {
        command.arg("--evidence").arg(&evidence);
    }
    let output = command.output().expect("policert runs");
    let report = read_json(&result).unwrap_or(Value::Null);
    let evidence_file = evidence;
    let evidence = read_json(&evidence_file);
    if output.status.code() != Some(42) {
        let name = match (is_query, is_reach) {
            (true, _) => "query",
            (_, true) => "reach",
            _ => "result",
        };
        wrong.extend(breaches(&schema(name), &report));
    }
    if let Some(evidence) = &evidence {
        wrong.extend(breaches(&schema("evidence"), evidence));
        if evidence["verdict"] == "probability" {
            let mut certify = policert(&case.folder, ["certify"]);
            let certified = certify.arg(&evidence_file).output().expect("policert runs");
            if certified.status.code() != Some(0) {
                let text = String::from_utf8_lossy(&certified.stderr);
                wrong.push(format!("the evidence is not certified: {text}"));
            }
        }
    }
    let mut compare = Comparison { wrong: &mut wrong, output: &output, report: &report };
    compare.verdict(&run.expect);
    compare.messages(&run.expect);
    compare.counts(&run.expect);
    if is_query {
        let words: Vec<&str> = arguments(&run.command).collect();
        wrong.extend(query::differences(&case.folder, &words, &run.expect, &output, &report));
    } else if is_reach {
        wrong.extend(reach::differences(&run.expect, &report));
    } else {
        compare.evidence(&run.expect, evidence.as_ref());
    }
    if run.expect.value.is_some() {
        let words = arguments(&run.command).chain(["--exact", "--quiet", "--json"]);
        policert(&case.folder, words).arg(&result).output().expect("policert runs");
        let report = read_json(&result).unwrap_or(Value::Null);
        wrong.extend(probability::exact_differences(&run.expect, &report));
    }
    if asks_for_sizes(&run.expect) {
        sizes(case, run, &mut wrong);
    }
    if let Some(golden) = &run.expect.golden {
        golden_values(&case.folder, golden, &mut wrong);
    }
    wrong
}

/// Of `check` and `certify` the exit code is compared, and what the message mentions.
fn exit_code_differences(case: &Case, run: &Run) -> Vec<String> {
    let mut wrong = Vec::new();
    let scratch = tempfile::tempdir().expect("a folder for results");
    let result = scratch.path().join("result.json");
    let mut command = policert(&case.folder, arguments(&run.command));
    let output = command.arg("--json").arg(&result).output().expect("policert runs");
    if output.status.code() != Some(42) {
        let name = arguments(&run.command).next().unwrap_or_default();
        wrong.extend(breaches(&schema(name), &read_json(&result).unwrap_or(Value::Null)));
    }
    let mut compare = Comparison { wrong: &mut wrong, output: &output, report: &Value::Null };
    compare.expect("exit code", &run.expect.exit.into(), &output.status.code().into());
    compare.messages(&run.expect);
    let text = compare.text();
    if !wrong.is_empty() {
        wrong.push(format!("output: {}", text.replace('\n', "\n  ")));
    }
    wrong
}

fn policert<'a>(folder: &Path, arguments: impl IntoIterator<Item = &'a str>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_policert"));
    command.current_dir(folder).args(arguments);
    command
}

fn arguments(command: &str) -> impl Iterator<Item = &str> {
    let mut words = command.split_whitespace();
    assert_eq!(words.next(), Some("policert"), "{command}");
    words
}

fn read_json(path: &Path) -> Option<Value> {
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}

struct Comparison<'a> {
    wrong: &'a mut Vec<String>,
    output: &'a Output,
    report: &'a Value,
}

impl Comparison<'_> {
    fn expect(&mut self, what: &str, expected: &Value, found: &Value) {
        if expected != found {
            self.wrong.push(format!("{what}: {expected} expected, {found} found"));
        }
    }

    fn verdict(&mut self, expect: &Expect) {
        let exit = self.output.status.code();
        let word = match exit {
            Some(42) => "usage",
            _ => self.report["verdict"].as_str().unwrap_or("nothing"),
        };
        if expect.also_accepted.iter().any(|accepted| accepted == word) {
            return;
        }
        let before = self.wrong.len();
        self.expect("exit code", &Value::from(expect.exit), &Value::from(exit));
        if let Some(verdict) = &expect.verdict {
            self.expect("verdict", &Value::from(verdict.as_str()), &Value::from(word));
        }
        self.wrong.extend(probability::differences(expect, self.report));
        if self.wrong.len() > before {
            self.wrong.push(format!("output: {}", self.text().replace('\n', "\n  ")));
        }
    }

    fn text(&self) -> String {
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        text(&self.output.stdout) + &text(&self.output.stderr)
    }

    fn messages(&mut self, expect: &Expect) {
        let errors = String::from_utf8_lossy(&self.output.stderr).into_owned();
        for part in expect.mentions.iter().filter(|part| !errors.contains(part.as_str())) {
            self.wrong.push(format!("`{part}` is not mentioned in: {errors}"));
        }
        let text = self.text();
        let warnings: Vec<&str> = match self.report["warnings"].as_array() {
            Some(warnings) => warnings.iter().filter_map(Value::as_str).collect(),
            None => Vec::new(),
        };
        if expect.warning && warnings.is_empty() {
            self.wrong.push("no warning".to_owned());
        }
        for part in &expect.warning_mentions {
            let warned = warnings.iter().any(|w| w.contains(part.as_str()) && text.contains(w));
            if !warned {
                self.wrong.push(format!("no warning mentions `{part}`: {warnings:?}"));
            }
        }
        if expect.vacuous {
            self.expect("vacuous", &Value::Bool(true), &self.report["vacuous"].clone());
            if !text.contains("vacuous") {
                self.wrong.push("`vacuous` is not printed".to_owned());
            }
        }
    }

    fn counts(&mut self, expect: &Expect) {
        let is = |word| self.report["verdict"] == word;
        if let Some(states) = expect.reachable_states {
            let found = self.report["statistics"]["reachable_states"].clone();
            self.expect("reachable_states", &states.into(), &found);
        }
        if let (Some(steps), true) = (expect.steps, is("unsafe")) {
            let found = self.report["statistics"]["counterexample_steps"].clone();
            self.expect("steps", &steps.into(), &found);
        }
    }

    fn evidence(&mut self, expect: &Expect, evidence: Option<&Value>) {
        let Some(evidence) = evidence else {
            // Of a probability no run is a proof.
            if self.report["verdict"] == "unsafe" && self.report["probability"].is_null() {
                self.wrong.push("no evidence was written".to_owned());
            }
            return;
        };
        if evidence["verdict"] == "probability" {
            if self.report["probability"].is_null() {
                self.wrong.push("evidence of a probability that was not asked for".to_owned());
            }
            return;
        }
        let verdict = self.report["verdict"].clone();
        self.expect("verdict of the evidence", &verdict, &evidence["verdict"].clone());
        if verdict == "safe" {
            let boxes = self.report["statistics"]["ic3"]["invariant_boxes"].clone();
            let written = evidence["invariant"].as_array().map_or(0, Vec::len);
            if !boxes.is_null() {
                self.expect("boxes of the invariant", &boxes, &written.into());
            }
            return;
        }
        let steps = evidence["trace"].as_array().map_or(0, Vec::len);
        self.expect("steps of the evidence", &steps.into(), &evidence["steps"].clone());
        let counted = self.report["statistics"]["counterexample_steps"].clone();
        self.expect("steps of the evidence", &counted, &steps.into());
        if let Some(witness) = &expect.witness {
            let states = evidence["trace"].as_array().into_iter().flatten().map(|s| &s["state"]);
            let is_witness = |state: &Value| {
                witness.iter().all(|(name, value)| {
                    value.as_integer().is_some_and(|value| state[name] == value)
                })
            };
            if !std::iter::once(&evidence["start"]).chain(states).any(is_witness) {
                self.wrong.push(format!("the evidence does not meet {witness}"));
            }
        }
    }
}

fn asks_for_sizes(expect: &Expect) -> bool {
    let counts = [expect.initial_states, expect.operators, expect.silent_operators];
    expect.labels.is_some() || counts.iter().any(Option::is_some)
}

/// The sizes that `policert check` reports for the same model and property.
fn sizes(case: &Case, run: &Run, wrong: &mut Vec<String>) {
    let scratch = tempfile::tempdir().expect("a folder for results");
    let result = scratch.path().join("check.json");
    let words: Vec<&str> = arguments(&run.command).collect();
    assert_eq!(words[0], "verify", "{}", run.command);
    // Options of `verify` alone do not change sizes.
    let mut kept = vec!["check", words[1]];
    for pair in words[2..].chunks_exact(2) {
        if ["--property", "--const", "--interface", "--policy"].contains(&pair[0]) {
            kept.extend(pair);
        }
    }
    let output =
        policert(&case.folder, kept).arg("--json").arg(&result).output().expect("policert runs");
    let report = read_json(&result).unwrap_or(Value::Null);
    if output.status.code() != Some(0) {
        wrong.push(format!("check: {}", String::from_utf8_lossy(&output.stderr)));
    }
    let expect = &run.expect;
    for (key, expected) in [
        ("initial_states", expect.initial_states),
        ("operators", expect.operators),
        ("silent_operators", expect.silent_operators),
    ] {
        if let Some(expected) = expected
            && report["model"][key] != expected
        {
            wrong.push(format!("{key}: {expected} expected, {} found", report["model"][key]));
        }
    }
    if let Some(expected) = &expect.labels {
        let labels = report["labels"].as_array().into_iter().flatten();
        let mut found: Vec<&str> = labels.filter_map(|label| label["name"].as_str()).collect();
        let mut expected: Vec<&str> = expected.iter().map(String::as_str).collect();
        found.sort_unstable();
        expected.sort_unstable();
        if found != expected {
            wrong.push(format!("labels: {expected:?} expected, {found:?} found"));
        }
    }
}

/// Compares the exact scores of every policy file of the folder with the golden ones.
fn golden_values(folder: &Path, file: &str, wrong: &mut Vec<String>) {
    if folder.parent().is_some_and(|group| group.ends_with("trees")) {
        // Compared where tree ensembles are read.
        return;
    }
    let golden = read_json(&folder.join(file)).expect("golden values");
    let tolerance = golden["abs_tol"].as_f64().expect("a tolerance");
    let numbers = |row: &Value| -> Vec<f64> {
        row.as_array().expect("a row").iter().map(|x| x.as_f64().expect("a number")).collect()
    };
    let mut compared = 0;
    for entry in std::fs::read_dir(folder).expect("the case's folder") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|extension| extension != "onnx") {
            continue;
        }
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let outputs = match golden.get("files") {
            Some(files) => &files[&name],
            None => &golden["outputs"],
        };
        let loaded = read_network(&path).unwrap_or_else(|e| panic!("{name}: {e}"));
        let evaluator = ExactEvaluator::new(&loaded.network).expect("piecewise linear");
        let inputs = golden["inputs"].as_array().expect("inputs");
        for (row, expected) in inputs.iter().zip(outputs.as_array().expect("outputs")) {
            let row: Vec<i64> =
                row.as_array().expect("a row").iter().filter_map(Value::as_i64).collect();
            let found: Vec<f64> =
                evaluator.scores(&row).to_rationals().iter().map(|score| score.to_f64()).collect();
            let close = |(a, b): (&f64, &f64)| (a - b).abs() <= tolerance;
            if !found.iter().zip(&numbers(expected)).all(close) {
                wrong.push(format!("{name} at {row:?}: {expected} expected, {found:?} found"));
            }
            compared += 1;
        }
    }
    if compared == 0 {
        wrong.push("no policy file was compared with the golden values".to_owned());
    }
}
