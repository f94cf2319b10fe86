//! `policert simulate`: how runs end, one of them step by step and drawn, and what is refused.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::json_schema::{breaches, schema};
use serde_json::Value;

/// A gambler with 3 of 6 coins: `bet` wins with probability 0.6. Ruin is unsafe. Behind the goal
/// one more step of the environment leads to a state without any.
const MODEL: &str = r#"{
"jani-version": 1, "name": "gambler", "type": "mdp",
"actions": [{"name": "bet"}],
"variables": [
  {"name": "coins", "initial-value": 3,
   "type": {"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": 6}},
  {"name": "home", "initial-value": false, "type": "bool"}],
"properties": [
  {"name": "ruin", "expression": {"op": "PA",
   "start": {"op": "state-condition", "exp": {"op": "∧",
     "left": {"op": "=", "left": "coins", "right": 3}, "right": {"op": "¬", "exp": "home"}}},
   "reach": {"op": "state-condition", "exp": {"op": "=", "left": "coins", "right": 0}},
   "objective": {"op": "objective", "goal":
     {"op": "state-condition", "exp": {"op": "=", "left": "coins", "right": 6}}}}},
  {"name": "no-goal", "expression": {"op": "PA",
   "start": {"op": "state-condition", "exp": {"op": "=", "left": "coins", "right": 3}},
   "reach": {"op": "state-condition", "exp": {"op": "=", "left": "coins", "right": 0}}}}],
"automata": [{"name": "A", "locations": [{"name": "l"}], "initial-locations": ["l"], "edges": [
  {"location": "l", "action": "bet", "guard": {"exp": {"op": "∧",
     "left": {"op": "<", "left": "coins", "right": 6}, "right": {"op": ">", "left": "coins", "right": 0}}},
   "destinations": [
     {"location": "l", "probability": {"exp": 0.6}, "assignments": [
       {"ref": "coins", "value": {"op": "+", "left": "coins", "right": 1}}]},
     {"location": "l", "probability": {"exp": 0.4}, "assignments": [
       {"ref": "coins", "value": {"op": "-", "left": "coins", "right": 1}}]}]},
  {"location": "l", "guard": {"exp": {"op": "∧",
     "left": {"op": "=", "left": "coins", "right": 6}, "right": {"op": "¬", "exp": "home"}}},
   "destinations": [{"location": "l", "assignments": [{"ref": "home", "value": true}]}]}]}],
"system": {"elements": [{"automaton": "A"}], "syncs": [{"synchronise": ["bet"], "result": "bet"}]}}"#;

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("gambler.jani"), MODEL).expect("written");
    folder
}

/// Standard output and standard error.
fn expect(folder: &Path, arguments: &str, code: i32) -> (String, String) {
    let run = Command::new(env!("CARGO_BIN_EXE_policert"))
        .current_dir(folder)
        .args(arguments.split_whitespace())
        .output()
        .expect("the program runs");
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&run.stdout), text(&run.stderr));
    assert_eq!(run.status.code(), Some(code), "{arguments}: {out}{err}");
    (out, err)
}

fn result(folder: &Path, arguments: &str) -> Value {
    expect(folder, &format!("simulate gambler.jani --no-policy {arguments} --json r.json"), 0);
    let text = fs::read_to_string(folder.join("r.json")).expect("written");
    let value: Value = serde_json::from_str(&text).expect("JSON");
    let found = breaches(&schema("simulate"), &value);
    assert!(found.is_empty(), "{found:#?}\n{value:#}");
    value
}

#[test]
fn statistics_are_those_of_the_chain() {
    let folder = folder();
    let folder = folder.path();
    // The goal by gambler's ruin with r = 2/3: (1 - r³) / (1 - r⁶) = 27/35 = 0.7714. Steps:
    // (6 · 27/35 - 3) / (0.6 - 0.4) = 8.143.
    let report = result(folder, "--runs 20000 --steps 1000");
    let number = |value: &Value| value.as_f64().expect("a number");
    assert_eq!(report["runs"], 20_000);
    assert_eq!(report["start_states"], 1);
    let goal = number(&report["endings"]["goal"]["runs"]) / 20_000.0;
    assert!((goal - 27.0 / 35.0).abs() < 0.015, "{goal}");
    let sum =
        number(&report["endings"]["goal"]["runs"]) + number(&report["endings"]["unsafe"]["runs"]);
    assert!((sum - 20_000.0).abs() < 0.5, "{sum}");
    let mean = number(&report["length"]["mean"]);
    assert!((mean - 8.143).abs() < 0.25, "{mean}");
    assert_eq!(report["length"]["min"], 3);
    // After three steps: goal 0.6³, ruin 0.4³; all else is cut off.
    let report = result(folder, "--runs 20000 --steps 3");
    let share = |ending: &str| number(&report["endings"][ending]["runs"]) / 20_000.0;
    assert!((share("goal") - 0.216).abs() < 0.015);
    assert!((share("unsafe") - 0.064).abs() < 0.01);
    assert!((share("cut_off") - 0.72).abs() < 0.015);
    // Beyond the goal there is one step of the environment, then none.
    let report = result(folder, "--runs 500 --steps 1000 --past-goal");
    assert_eq!(report["endings"]["goal"]["runs"], 0);
    assert_eq!(report["endings"]["stuck"]["runs"], report["reached_goal"]);
    // Where it is terminal, runs end in it all the same.
    let report = result(folder, "--runs 500 --steps 1000 --past-goal --terminal goal");
    assert_eq!(report["endings"]["goal"]["runs"], report["reached_goal"]);
    let report = result(folder, "--runs 50 --terminal coins=3");
    assert_eq!(report["endings"]["terminal"]["runs"], 50);
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let folder = folder();
    let folder = folder.path();
    let all = |seed: u32| {
        let arguments = format!("simulate gambler.jani --no-policy --seed {seed} --trace");
        let (text, _) = expect(folder, &arguments, 0);
        let mut report = result(folder, &format!("--seed {seed} --trace"));
        for of_the_machine in ["time_s", "peak_memory_mb"] {
            report.as_object_mut().expect("an object").remove(of_the_machine);
        }
        (text, report.to_string())
    };
    assert_eq!(all(7), all(7));
    assert_ne!(all(7).0, all(8).0);
}

#[test]
fn a_run_can_be_read() {
    let folder = folder();
    let folder = folder.path();
    let trace = |arguments: &str| {
        let line = format!("simulate gambler.jani --no-policy {arguments}");
        let (text, _) = expect(folder, &line, 0);
        text
    };
    let text = trace("--trace=unsafe");
    assert!(text.contains("  start: coins=3 home=false\n  1. bet: coins: 3 → "), "{text}");
    assert!(text.contains("bet: coins: 1 → 0\n  end: unsafe after "), "{text}");
    assert!(trace("--trace=goal").contains("bet: coins: 5 → 6\n  end: goal after "));
    let text = trace("--past-goal --trace=stuck");
    assert!(text.contains("silent (environment): home: false → true\n  end: stuck"), "{text}");
    assert!(trace("--trace=dropped").ends_with("\nno run ends so\n"));
    // The traced run is one of those that count, and its steps lead from state to state.
    let report = result(folder, "--runs 100 --trace=unsafe");
    let steps = report["trace"]["steps"].as_array().expect("steps");
    let coins: Vec<i64> =
        steps.iter().filter_map(|step| step["changes"]["coins"].as_i64()).collect();
    assert!(coins.len() == steps.len() && coins.last() == Some(&0), "{report:#}");
    let from = std::iter::once(3).chain(coins.iter().copied());
    assert!(from.zip(&coins).all(|(a, b)| (a - b).abs() == 1));
}

#[test]
fn what_is_wrong_is_refused() {
    let folder = folder();
    let folder = folder.path();
    fs::write(folder.join("bad.jani"), "{").expect("written");
    for (arguments, code) in [
        ("bad.jani --no-policy", 40),
        ("missing.jani --no-policy", 40),
        ("gambler.jani --interface missing.jani2nnet", 40),
        ("gambler.jani --no-policy --property no-goal --terminal goal", 42),
        ("gambler.jani --no-policy --terminal coins>", 42),
        ("gambler.jani --no-policy --render", 42),
        ("gambler.jani --no-policy --render --track missing.track", 40),
        ("gambler.jani --no-policy --track some.track", 42),
        // No run ends so: what cannot be drawn is noticed all the same.
        ("gambler.jani --no-policy --trace=dropped --render", 42),
        ("gambler.jani --no-policy --runs 0", 42),
        ("gambler.jani --no-policy --trace=never", 42),
        ("gambler.jani --no-policy --json gambler.jani", 42),
    ] {
        expect(folder, &format!("simulate {arguments}"), code);
    }
    let (text, _) =
        expect(folder, "simulate gambler.jani --no-policy --runs 1000000000 --timeout 200ms", 30);
    assert!(text.starts_with("UNKNOWN: "), "{text}");
}

#[test]
fn generated_domains_are_drawn() {
    let folder = folder();
    let folder = folder.path();
    fs::write(folder.join("some.track"), "S..F\n").expect("written");
    for (domain, signs) in [
        ("blocksworld 4", ["hand: ", "[3]"]),
        ("npuzzle 3 3", ["+---+---+---+", "| 8 |"]),
        ("transport", ["o====", "[0]"]),
        ("racetrack barto-small", ["velocity (0, 0)", "@"]),
    ] {
        let name = domain.split(' ').next().expect("a name");
        expect(folder, &format!("generate {domain} --output {name}"), 0);
        let files: Vec<String> = fs::read_dir(folder.join(name))
            .expect("a folder")
            .map(|entry| entry.expect("a file").file_name().to_string_lossy().into_owned())
            .collect();
        let model = files.iter().find(|f| f.starts_with(name) && f.ends_with(".jani"));
        let property = files.iter().find(|f| f.starts_with("pa_") && f.ends_with(".jani"));
        let (model, property) = (model.expect("a model"), property.expect("a property"));
        let line = format!(
            "simulate {name}/{model} --property {name}/{property}:0 --no-policy --runs 5 \
             --steps 10 --render"
        );
        let (text, _) = expect(folder, &line, 0);
        assert!(signs.iter().all(|sign| text.contains(sign)), "{text}");
        // A picture of the start and of the state after each step.
        let is_step = |line: &&str| line.starts_with("  ") && line.contains(". ");
        let steps = text.lines().filter(|line| line.starts_with("  start: ") || is_step(line));
        let pictures = text.matches("\n\n      ").count();
        assert_eq!(pictures, steps.count(), "{text}");
        assert_eq!(text, expect(folder, &line, 0).0);
        // A map is of no use elsewhere, also where no run ends so and none is drawn.
        for which in ["", "--trace=dropped"] {
            let (text, err) = match name {
                "racetrack" => expect(folder, &format!("{line} --track some.track {which}"), 0),
                _ => expect(folder, &format!("{line} --track some.track {which}"), 42),
            };
            let said =
                format!("--track has no effect: the variables of the model are those of {name}");
            assert_eq!(err.contains(&said), name != "racetrack", "{text}{err}");
        }
    }
}

#[test]
fn tracks_are_read_as_they_are_published_and_bad_ones_are_invalid() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    let run = |arguments: &str| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_policert"))
            .current_dir(folder)
            .args(arguments.split_whitespace())
            .output()
            .expect("the program runs");
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        (output.status.code(), text)
    };
    std::fs::write(folder.join("a.track"), "dim: 2 4\ns..g\nxx.g\n").expect("written");
    std::fs::write(folder.join("b.track"), "S..F\n##.F\n").expect("written");
    for name in ["a", "b"] {
        let (code, text) = run(&format!("generate racetrack {name}.track --output {name}"));
        assert_eq!(code, Some(0), "{text}");
    }
    let model = |name: &str| {
        let path = folder.join(format!("{name}/racetrack_{name}.jani"));
        let text = std::fs::read_to_string(path).expect("written");
        text.replace("racetrack_a", "racetrack_b").replace("Racetrack a:", "Racetrack b:")
    };
    assert_eq!(model("a"), model("b"));
    for (text, part) in [
        ("dim: 3 4\ns..g\nxx.g\n", "line 1: 3 rows and 4 columns, but the map has 2 and 4"),
        ("s..g\nxx?g\n", "line 2: a place is `#` or `x` (wall)"),
        ("s...\n", "line 1: no finish"),
    ] {
        std::fs::write(folder.join("bad.track"), text).expect("written");
        for command in [
            "generate racetrack bad.track --output c",
            "simulate a/racetrack_a.jani --no-policy --render --track bad.track",
        ] {
            let (code, text) = run(command);
            assert!(code == Some(40) && text.contains(part), "{command}: {code:?} {text}");
        }
    }
    let (code, text) = run("generate racetrack missing.track --output c");
    assert!(code == Some(40) && text.contains("barto-small"), "{text}");
}
