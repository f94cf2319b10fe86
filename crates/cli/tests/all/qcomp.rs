//! The QComp collection by its own indices. With `SLOW_TESTS=1`, every listed probability of models of up
//! to ten million states; always, that other quantities are refused by name.

use std::path::{Path, PathBuf};

use crate::support::program::{code, policert, text};
use policert_numeric::Rational;
use policert_testkit::shared_folder;
use serde_json::Value;

/// The most states of a model that is checked.
const MOST_STATES: u64 = 10_000_000;

/// A property of a file with constants.
struct Entry {
    file: PathBuf,
    property: String,
    kind: String,
    constants: String,
    states: Option<u64>,
    value: Value,
}

fn entries(folder: &Path) -> Vec<Entry> {
    let mut found = Vec::new();
    for collection in ["other", "planning"] {
        let mut families: Vec<PathBuf> = std::fs::read_dir(folder.join(collection))
            .expect("the collection")
            .map(|entry| entry.expect("a folder").path())
            .collect();
        families.sort();
        for family in families {
            let index = std::fs::read_to_string(family.join("index.json")).expect("an index");
            let index = index.trim_start_matches('\u{feff}');
            let index: Value = serde_json::from_str(index).expect("JSON");
            for file in list(&index["files"]) {
                let path = family.join(file["file"].as_str().expect("a name"));
                if path.is_file() {
                    for instance in list(&file["open-parameter-values"]) {
                        instance_entries(&path, &index, instance, &mut found);
                    }
                }
            }
        }
    }
    found
}

fn instance_entries(file: &Path, index: &Value, instance: &Value, found: &mut Vec<Entry>) {
    let constant = |value: &Value| {
        let number = value["value"].to_string();
        format!("{}={}", value["name"].as_str().expect("a name"), number.trim_matches('"'))
    };
    let constants: Vec<String> = list(&instance["values"]).iter().map(constant).collect();
    let result = |name: &str| {
        let results = list(&instance["results"]);
        let result = results.iter().find(|result| result["property"] == name);
        result.map_or(Value::Null, |result| result["value"].clone())
    };
    for property in list(&index["properties"]) {
        let name = property["name"].as_str().expect("a name");
        found.push(Entry {
            file: file.to_owned(),
            property: name.to_owned(),
            kind: property["type"].as_str().expect("a type").to_owned(),
            constants: constants.join(","),
            states: list(&instance["states"]).last().and_then(|count| count["number"].as_u64()),
            value: result(name),
        });
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// A number: a fraction where there is one.
fn number(value: &Value) -> Option<Rational> {
    let fraction = || {
        let [top, bottom] = ["num", "den"].map(|part| value[part].to_string().parse().ok());
        Rational::checked_div(&top?, &bottom?)
    };
    let single = if value.is_number() { value } else { &value["approx"] };
    fraction().or_else(|| single.to_string().parse().ok())
}

fn verify(entry: &Entry, result: &Path) -> (i32, String) {
    let folder = entry.file.parent().expect("a folder");
    let mut command = policert(folder, "verify");
    command.arg(&entry.file).args(["--property", &entry.property]).arg("--json").arg(result);
    if !entry.constants.is_empty() {
        command.args(["--const", &entry.constants]);
    }
    let output = command.output().expect("policert runs");
    (code(&output), text(&output))
}

/// Returns whether an interval is narrow and has a value, which others computed and may be off by
/// as much.
fn contains(result: &Path, value: &Rational) -> bool {
    let narrow = Rational::from_f64(1e-6).expect("finite");
    let report = std::fs::read_to_string(result).expect("a result");
    let report: Value = serde_json::from_str(&report).expect("JSON");
    let [lo, hi] = [0, 1].map(|side| {
        let bound = report["probability"][side].as_str().expect("a bound");
        bound.parse::<Rational>().expect("a number")
    });
    &hi - &lo <= narrow && &lo - &narrow <= *value && *value <= &hi + &narrow
}

#[test]
fn listed_probabilities_lie_in_the_interval() {
    let Some(shared) = shared_folder("") else { return };
    if !policert_testkit::slow_tests() {
        return;
    }
    let scratch = tempfile::tempdir().expect("a folder");
    let result = scratch.path().join("result.json");
    let (mut numbers, mut truths) = (0, 0);
    for entry in entries(&shared.join("benchmarks/qcomp_mdp")) {
        let place = format!("{:?} {} {}", entry.file, entry.property, entry.constants);
        if entry.kind != "prob-reach" || entry.states.is_none_or(|states| states > MOST_STATES) {
            continue;
        }
        if let Some(truth) = entry.value.as_bool() {
            let (code, text) = verify(&entry, &result);
            assert_eq!(code, if truth { 0 } else { 10 }, "{place}: {text}");
            truths += 1;
        } else if let Some(value) = number(&entry.value) {
            let (code, text) = verify(&entry, &result);
            assert_eq!(code, 0, "{place}: {text}");
            assert!(contains(&result, &value), "{place}: {text}");
            numbers += 1;
        }
    }
    assert!(numbers > 50 && truths > 10, "{numbers} {truths}");
}

#[test]
fn other_quantities_have_names() {
    let Some(shared) = shared_folder("") else { return };
    let scratch = tempfile::tempdir().expect("a folder");
    let result = scratch.path().join("result.json");
    let mut seen = Vec::new();
    for entry in entries(&shared.join("benchmarks/qcomp_mdp")) {
        let key = (entry.file.clone(), entry.property.clone());
        if entry.kind == "prob-reach" || seen.contains(&key) {
            continue;
        }
        seen.push(key);
        let (code, text) = verify(&entry, &result);
        let place = format!("{:?} {} {}: {text}", entry.file, entry.property, entry.kind);
        // Where the file counts rewards in a variable, it is a plain probability.
        if code == 0 && entry.kind == "prob-reach-reward-bounded" {
            let value = number(&entry.value).expect("a listed result");
            assert!(contains(&result, &value), "{place}");
            continue;
        }
        assert_eq!(code, 41, "{place}");
        let name = match entry.kind.as_str() {
            kind if kind.starts_with("exp-") => "expected rewards",
            _ => "bounds on steps, time or rewards",
        };
        assert!(text.contains(name), "{place}");
    }
    assert!(seen.len() > 15, "{seen:?}");
}
