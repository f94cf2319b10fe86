//! `policert train` on a model, and `policert dataset` on what comes out.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// A lift of five floors with a door: `up` and `down` with the door open are unsafe.
const MODEL: &str = r#"{
"jani-version": 1, "name": "lift", "type": "mdp",
"actions": [{"name": "up"}, {"name": "down"}, {"name": "close"}],
"variables": [
  {"name": "floor", "initial-value": 0,
   "type": {"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": 4}},
  {"name": "open", "initial-value": true, "type": "bool"},
  {"name": "fell", "initial-value": false, "type": "bool"}],
"properties": [{"name": "safe", "expression": {"op": "PA",
  "start": {"op": "state-condition", "exp": {"op": "∧",
    "left": {"op": "≤", "left": "floor", "right": 2}, "right": {"op": "¬", "exp": "fell"}}},
  "reach": {"op": "state-condition", "exp": "fell"},
  OBJECTIVE}}],
"automata": [{"name": "A", "locations": [{"name": "l"}], "initial-locations": ["l"], "edges": [
  {"location": "l", "action": "up", "guard": {"exp": {"op": "<", "left": "floor", "right": 4}},
   "destinations": [{"location": "l", "assignments": [
     {"ref": "floor", "value": {"op": "+", "left": "floor", "right": 1}}, {"ref": "fell", "value": "open"}]}]},
  {"location": "l", "action": "down", "guard": {"exp": {"op": ">", "left": "floor", "right": 0}},
   "destinations": [{"location": "l", "assignments": [
     {"ref": "floor", "value": {"op": "-", "left": "floor", "right": 1}}, {"ref": "fell", "value": "open"}]}]},
  {"location": "l", "action": "close", "guard": {"exp": "open"},
   "destinations": [{"location": "l", "probability": {"exp": 0.75}, "assignments": [{"ref": "open", "value": false}]},
                    {"location": "l", "probability": {"exp": 0.25}, "assignments": []}]}]}],
"system": {"elements": [{"automaton": "A"}], "syncs": [
  {"synchronise": ["up"], "result": "up"}, {"synchronise": ["down"], "result": "down"},
  {"synchronise": ["close"], "result": "close"}]}}"#;

const OBJECTIVE: &str = r#""objective": {"op": "objective", "goal-potential": "floor",
  "goal": {"op": "state-condition", "exp": {"op": "=", "left": "floor", "right": 4}}}"#;

const OPTIONS: &str = "--hidden 16 --steps 8000 --evaluate-every 2000 --learn-every 2";

fn expect(folder: &Path, arguments: &str, code: i32) -> String {
    let run = Command::new(env!("CARGO_BIN_EXE_policert"))
        .current_dir(folder)
        .args(arguments.split_whitespace())
        .output();
    let Output { status, stdout, stderr } = run.expect("the program runs");
    let text = String::from_utf8_lossy(&[stdout, stderr].concat()).into_owned();
    assert_eq!(status.code(), Some(code), "{arguments}: {text}");
    text
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let model = MODEL.replace("OBJECTIVE", OBJECTIVE);
    fs::write(folder.path().join("lift.jani"), model).expect("written");
    folder
}

fn read(folder: &Path, file: &str) -> String {
    fs::read_to_string(folder.join(file)).expect("written")
}

#[test]
fn numbers_that_make_no_sense_are_refused_with_their_option() {
    let folder = folder();
    for (option, name) in [
        ("--rate inf", "--rate"),
        ("--discount 2", "--discount"),
        ("--batch 0", "--batch"),
        ("--horizon 0", "--horizon"),
        ("--seeds 0", "--seeds"),
        ("--competent 2", "--competent"),
    ] {
        let text = expect(folder.path(), &format!("train lift.jani --out a {option}"), 42);
        assert!(text.contains(name), "{option}: {text}");
    }
}

#[test]
fn what_is_trained_is_verified_and_tabulated() {
    let folder = folder();
    let folder = folder.path();
    let text = expect(folder, &format!("train lift.jani {OPTIONS} --out a"), 0);
    assert!(
        text.starts_with("TRAINED: lift: 100.0 % of 1000 runs reach the goal, 0.0 %"),
        "{text}"
    );
    expect(folder, &format!("train lift.jani {OPTIONS} --out b.nnet -q"), 0);
    let same = |ending: &str| {
        fs::read(folder.join(format!("a{ending}"))).ok()
            == fs::read(folder.join(format!("b{ending}"))).ok()
    };
    assert!(same(".nnet") && same(".onnx") && same(".card.json"), "other bytes");
    for policy in ["", "--policy a.onnx"] {
        let verify = format!("verify lift.jani --interface a.jani2nnet {policy} --terminal goal");
        expect(folder, &verify, 0);
    }
    let card = read(folder, "a.card.json");
    assert!(
        card.contains("\"success_rate\": 1.0") && card.contains("\"unsafe_rate\": 0.0"),
        "{card}"
    );

    let dataset = "dataset lift.jani --interface a.jani2nnet --rollouts 50";
    expect(folder, &format!("{dataset} --output a.csv"), 0);
    expect(folder, &format!("{dataset} --output b.csv --seed 1"), 0);
    let table = read(folder, "a.csv");
    assert_eq!(table, read(folder, "b.csv"));
    let mut lines = table.lines();
    assert_eq!(lines.next(), Some("floor,open,fell,label_index,label"));
    assert!(lines.clone().count() >= 5, "{table}");
    for line in lines {
        let opened = line.split(',').nth(1) == Some("1");
        assert!(line.ends_with(if opened { ",2,close" } else { ",0,up" }), "{line}");
    }
    // A list of states alone gives their decisions, and is what was written.
    expect(
        folder,
        "dataset lift.jani --interface a.jani2nnet --rollouts 0 --states a.csv --output c.csv",
        0,
    );
    assert_eq!(read(folder, "c.csv"), table);
}

#[test]
fn what_was_stopped_goes_on() {
    let folder = folder();
    let folder = folder.path();
    let options = format!("{OPTIONS} --horizon 4 --competent 1 --checkpoint c.bin");
    expect(folder, &format!("train lift.jani {options} --out whole"), 20);
    expect(folder, &format!("train lift.jani {options} --resume c.bin --out again"), 20);
    assert_eq!(read(folder, "whole.nnet"), read(folder, "again.nnet"));
    let text =
        expect(folder, &format!("train lift.jani {options} --seed 2 --resume c.bin --out x"), 40);
    assert!(text.contains("c.bin") && text.contains("other options"), "{text}");
    let text = expect(folder, &format!("train lift.jani {options} --timeout 0 --out x"), 30);
    assert!(text.contains("the time limit was reached"), "{text}");
    assert!(!folder.join("x.nnet").exists(), "a network that learnt nothing");
}

#[test]
fn without_a_name_no_network_is_replaced() {
    let folder = folder();
    let folder = folder.path();
    let interface = r#"{"file": "net.nnet", "input": [{"name": "floor", "automaton": null}],
        "output": ["up", "close"]}"#;
    fs::write(folder.join("i.jani2nnet"), interface).expect("written");
    let train = "train lift.jani --interface i.jani2nnet --hidden 4 --steps 2100 \
                 --evaluate-every 1000 --competent 0";
    for there in ["net.nnet", "net.onnx", "net.card.json"] {
        fs::write(folder.join(there), "precious").expect("written");
        let text = expect(folder, train, 42);
        assert!(text.contains(there) && text.contains("--out NAME"), "{text}");
        assert_eq!(read(folder, there), "precious");
        fs::remove_file(folder.join(there)).expect("removed");
    }
    // Where there is none yet, it goes where the interface says.
    expect(folder, train, 0);
    let first = read(folder, "net.nnet");
    expect(folder, train, 42);
    assert_eq!(read(folder, "net.nnet"), first);
    expect(folder, &format!("{train} --seed 2 --out net"), 0);
    assert_ne!(read(folder, "net.nnet"), first);
}

#[test]
fn what_is_wrong_is_named() {
    let folder = folder();
    let folder = folder.path();
    fs::write(folder.join("aimless.jani"), MODEL.replace(",\n  OBJECTIVE", "")).expect("written");
    fs::write(
        folder.join("i.jani2nnet"),
        r#"{"input": [{"name": "y", "automaton": null}], "output": ["up"]}"#,
    )
    .expect("written");
    fs::write(folder.join("states.csv"), "floor\n3\n7\n").expect("written");
    let text = expect(folder, "train aimless.jani --out n", 40);
    assert!(text.contains("aimless.jani") && text.contains("goal"), "{text}");
    let text = expect(folder, "train lift.jani --interface i.jani2nnet --out n", 40);
    assert!(text.contains("i.jani2nnet") && text.contains("no variable `y`"), "{text}");
    expect(folder, "train lift.jani --plain --out n", 42);
    expect(folder, "train lift.jani --hidden 0 --out n", 42);
    expect(folder, "train missing.jani --out n", 40);
    expect(folder, "train lift.jani --out no/such/folder/n", 42);
    expect(folder, "train lift.jani --resume missing.bin --out n", 40);
    let text = expect(folder, "train lift.jani --step-cost 1 --out n", 42);
    assert!(text.contains("--step-cost has no effect") && text.contains("`step-reward`"), "{text}");
    let flat = MODEL.replace("OBJECTIVE", &OBJECTIVE.replace(r#""goal-potential": "floor","#, ""));
    fs::write(folder.join("flat.jani"), flat).expect("written");
    let text = expect(folder, "train flat.jani --potential 5 --out n", 42);
    assert!(text.contains("--potential has no effect"), "{text}");
    expect(folder, "dataset lift.jani --output d.csv", 42);
    expect(folder, &format!("train lift.jani {OPTIONS} --out n"), 0);
    let dataset = "dataset lift.jani --interface n.jani2nnet --states states.csv --output d.csv";
    let text = expect(folder, dataset, 40);
    assert!(text.contains("states.csv:3") && text.contains("floor"), "{text}");
}
