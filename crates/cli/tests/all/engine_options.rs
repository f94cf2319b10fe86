//! Every option of `verify` with every engine, and options of the other commands: each works, or is
//! refused by name.

use std::collections::BTreeSet;

use crate::support::example::Example;
use crate::support::program::{code, policert, text};

const ENGINES: [&str; 9] =
    ["auto", "explicit", "ppa", "cegar", "bmc", "ic3", "prob", "prob-ppa", "prob-cegar"];

/// Options and what each engine makes of them, in the order of [`ENGINES`]: `+` it works, `-` it is
/// refused (42), `u` the engine says that it cannot do that (41).
const TABLE: &[(&str, &str)] = &[
    // How engines work.
    ("--preset native", "+++++++++"),
    ("--predicates none", "+-++---++"),
    ("--predicates splits:50", "+-++---++"),
    ("--predicates splits:50 --last x", "+-++---++"),
    ("--set search-order=breadth-first", "---+-----"),
    ("--set cegar.search-order=guided", "+--------"),
    ("--set scope=local", "---+----+"),
    ("--set box-limit=4", "---+-+--+"),
    ("--set broken-requirements=all", "---+----+"),
    ("--set split-variable=first", "---+----+"),
    ("--set split-point=middle", "---+----+"),
    ("--set split-until=once", "---+----+"),
    ("--set start-batch=1", "-+-------"),
    ("--set explicit.start-batch=1", "+--------"),
    ("--set solver=native", "----+----"),
    ("--set steps=3", "----+----"),
    // Boxes are unrolled into new states only.
    ("--set steps=3 --set loop-free=false", "---------"),
    // Probabilities: auto answers a question about safety here.
    ("--exact", "------+--"),
    ("--precision 0.01", "------+++"),
    ("--bound 0.5", "+-----+++"),
    ("--bound 0.5 --exact", "+-----+--"),
    ("--set method=optimistic", "------+--"),
    ("--set prob.method=optimistic", "---------"),
    ("--bound 0.5 --set prob.method=optimistic", "+--------"),
    ("--set max-prob=complete", "-------++"),
    ("--set counterexamples=paths", "--------+"),
    // How much is built.
    ("--keep-going", "+++-+----"),
    ("--stop-at-first-unsafe", "++++++---"),
    ("--build-all", "+++---+--"),
    ("--start-states starts.json", "--+------"),
    ("--record-queries queries.jsonl", "+-++-----"),
    ("--state-limit 1000", "+++++++++"),
    ("--threads 2", "+----+---"),
    // One thread is what every engine can do.
    ("--threads 1", "+++++++++"),
    // The question, limits and output.
    ("--property far", "+++++++++"),
    ("--policy policy.nnet", "+++++++++"),
    ("--interface policy.jani2nnet", "+++++++++"),
    ("--no-policy", "+++++++++"),
    ("--const STEP=1", "+++++++++"),
    ("--filter applicable", "+++++++++"),
    ("--ties any", "+++++++++"),
    ("--numbers real", "+++++++++"),
    ("--numbers f32", "+++++++--"),
    ("--numbers f32 --choice sample", "uuuuuuuuu"),
    ("--certify", "+++++++++"),
    ("--unsafe x>=4", "+++++++++"),
    ("--start x<=1", "+++++++++"),
    // The policy is no ONNX graph.
    ("--scores s", "uuuuuuuuu"),
    ("--no-policy --scores s", "---------"),
    ("--choice argmax", "+++++++++"),
    ("--choice sample", "+++++++--"),
    ("--choice sample --at-least 0.01", "++++++---"),
    // A policy that does not draw has no least probability, and one that does no ties.
    ("--at-least 0.01", "---------"),
    ("--choice argmax --at-least 0.01", "---------"),
    ("--choice sample --ties any", "---------"),
    ("--choice sample --exact", "---------"),
    ("--choice sample --bound 0.5", "+-----+--"),
    ("--choice sample --reach-goal --goal x>=4", "---------"),
    ("--choice sample --stuck unsafe", "++-------"),
    ("--choice sample --record-queries queries.jsonl", "---------"),
    ("--domain drop", "+++++++++"),
    ("--domain error", "++uuuu+uu"),
    ("--terminal x>=3", "+++++++++"),
    ("--property started.jani:0 --no-initial", "+++++++++"),
    // The property names no start states.
    ("--no-initial", "---------"),
    // The property names no policy.
    ("--property bare.jani:0 --filter applicable", "---------"),
    ("--property bare.jani:0 --ties first", "---------"),
    ("--property bare.jani:0 --numbers real", "---------"),
    ("--property bare.jani:0 --choice sample", "---------"),
    ("--stuck unsafe", "++-------"),
    ("--reach-goal --goal x>=4", "++-------"),
    // No goal is asked for.
    ("--goal x>=4", "---------"),
    // What answers such questions has no abstraction, and one search.
    ("--reach-goal --goal x>=4 --set cegar=base", "---------"),
    ("--reach-goal --goal x>=4 --set start-batch=1", "---------"),
    ("--reach-goal --goal x>=4 --threads 2", "---------"),
    ("--reach-goal --goal x>=4 --state-limit 1000", "++-------"),
    ("--stuck unsafe --set cegar.search-order=guided", "---------"),
    ("--stuck unsafe --record-queries queries.jsonl", "---------"),
    ("--stuck unsafe --set start-batch=1", "-+-------"),
    ("--stuck unsafe --threads 2", "+--------"),
    ("--record-queries queries.jsonl --threads 2", "---------"),
    ("--probabilities exact", "+++++++++"),
    ("--timeout 60s", "+++++++++"),
    ("--memory 4GB", "+++++++++"),
    ("--evidence evidence.json", "+++++++++"),
    ("--json result.json", "+++++++++"),
    ("--quiet", "+++++++++"),
    ("--verbose", "+++++++++"),
    ("--color=never", "+++++++++"),
];

/// Options that this table leaves to tests of their own.
const ELSEWHERE: [&str; 3] = ["--engine", "--help", "--version"];

#[test]
fn every_option_works_with_every_engine_or_is_refused_by_name() {
    let example = example();
    let mut wrong = String::new();
    for (options, expected) in TABLE {
        assert_eq!(expected.len(), ENGINES.len(), "{options}");
        for (engine, expected) in ENGINES.iter().zip(expected.chars()) {
            let line = format!("verify model.jani --engine {engine} {options}");
            let output = example.run(&line);
            let (code, said) = (code(&output), text(&output));
            let is_right = match expected {
                '+' => [0, 10, 20, 32].contains(&code),
                '-' => code == 42 && names_one(&said, options),
                'u' => code == 41,
                other => panic!("{other}"),
            };
            if !is_right {
                wrong += &format!("{line}: expected {expected}, got {code}: {said}\n");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// The example; besides, properties with start states (`started.jani`), and such that name no policy
/// (`bare.jani`).
fn example() -> Example {
    let example = Example::new();
    let model = example.read("model.jani");
    let start = r#""op": "PA", "start": {"op": "state-condition", "exp": {"op": "=", "left": "x", "right": 1}},"#;
    example.write("started.jani", &model.replace(r#""op": "PA","#, start));
    example.write("bare.jani", &model.replace(r#""file": "policy.jani2nnet","#, ""));
    example
}

/// Options without effect on the other commands, or on a certain question, and what is said.
const WITHOUT_EFFECT: &[(&str, &str)] = &[
    ("verify bare.jani --filter none", "--filter has no effect: property `far` names no policy"),
    ("verify bare.jani --ties first", "name one with --interface or --policy"),
    ("verify bare.jani --numbers real", "--numbers has no effect: property `far` names no policy"),
    ("verify bare.jani --choice sample", "--choice has no effect: property `far` names no policy"),
    (
        "simulate bare.jani --choice sample",
        "--choice has no effect: property `far` names no policy",
    ),
    ("verify model.jani --at-least 0.1", "it goes with --choice sample"),
    ("verify model.jani --choice sample --ties first", "a policy that draws has no ties"),
    ("simulate model.jani --choice sample --ties first", "a policy that draws has no ties"),
    ("simulate bare.jani --filter none", "--filter has no effect: property `far` names no policy"),
    ("simulate bare.jani --ties any", "--ties has no effect: property `far` names no policy"),
    ("dataset bare.jani --output t.csv --filter none", "--filter has no effect"),
    ("convert bare.jani --output o.jani --filter none", "--filter has no effect"),
    ("convert bare.jani --output o.jani --ties any", "--ties has no effect"),
    (
        "simulate model.jani --no-initial",
        "--no-initial has no effect: property `far` names no start",
    ),
    ("dataset model.jani --output t.csv --no-initial", "--no-initial has no effect"),
    ("convert model.jani --no-policy --output o.jani --no-initial", "--no-initial has no effect"),
    ("train model.jani --out n --no-initial", "--no-initial has no effect"),
    (
        "simulate model.jani --past-goal",
        "--past-goal has no effect: property `far` has no objective",
    ),
    (
        "verify model.jani --goal x>=4",
        "it goes with --reach-goal, --stuck unsafe or --terminal goal",
    ),
    (
        "verify model.jani --reach-goal --goal x>=4 --set cegar.scope=local",
        "one search through the states",
    ),
    (
        "verify model.jani --engine prob --exact --precision 0.1",
        "--precision has no effect: --exact computes the value itself",
    ),
    ("verify model.jani --stuck unsafe --set cegar=base", "without an abstraction"),
    ("verify model.jani --domain error --predicates none", "without an abstraction"),
    ("verify model.jani --threads 2 --record-queries q", "queries are recorded on one thread"),
];

#[test]
fn an_option_without_effect_is_refused_in_every_command() {
    let example = example();
    for (line, said) in WITHOUT_EFFECT {
        let output = example.run(line);
        assert_eq!(code(&output), 42, "{line}: {}", text(&output));
        assert!(text(&output).contains(said), "{line}: {}", text(&output));
    }
    for file in ["t.csv", "o.jani", "n.nnet", "q"] {
        assert!(!example.path(file).exists(), "{file}");
    }
    for (line, expected) in [
        ("verify bare.jani --interface policy.jani2nnet --filter none --ties any", 0),
        ("simulate started.jani --no-initial", 0),
        ("dataset started.jani --no-initial --output t.csv", 0),
        ("convert started.jani --no-policy --no-initial --output o.jani", 0),
        ("verify model.jani --terminal goal --goal x>=4", 0),
    ] {
        let output = example.run(line);
        assert_eq!(code(&output), expected, "{line}: {}", text(&output));
    }
}

/// Returns whether a message names one of the options.
fn names_one(message: &str, options: &str) -> bool {
    options.split_whitespace().filter(|word| word.starts_with("--")).any(|o| message.contains(o))
}

#[test]
fn the_table_has_every_option_of_verify() {
    let help = text(&policert(std::path::Path::new("."), "verify --help").output().expect("help"));
    let listed: BTreeSet<String> = help
        .lines()
        .filter_map(|line| line.trim_start().split_once("--"))
        .filter(|(before, _)| before.is_empty() || before.ends_with(", "))
        .map(|(_, rest)| {
            let name = rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').next();
            format!("--{}", name.unwrap_or_default())
        })
        .collect();
    assert!(listed.len() > 30, "{listed:?}");
    let in_table = |name: &str| {
        TABLE.iter().any(|(options, _)| options.split([' ', '=']).any(|word| word == name))
    };
    let missing: Vec<&String> = listed
        .iter()
        .filter(|name| !in_table(name) && !ELSEWHERE.contains(&name.as_str()))
        .collect();
    assert!(missing.is_empty(), "options without a row: {missing:?}");
}

#[test]
fn refusals_say_which_engines_use_the_option() {
    let example = Example::new();
    for (line, said) in [
        ("--engine explicit --preset base", "no preset `base`; there are native"),
        ("--engine ic3 --predicates none", "--predicates has no effect with engine ic3"),
        ("--engine ppa --set serch-order=guided", "engine ppa: --set `serch-order`: no such key"),
        ("--engine cegar --set serch-order=guided", "close to it are `search-order`"),
        ("--set scope=local", "close to it are `cegar.scope`"),
        ("--engine cegar --set scope=nowhere", "expected `global` or `local`"),
        (
            "--engine cegar --preset base --set box-limit=4",
            "asks Z3, which does not work with boxes",
        ),
        ("--exact", "--exact has no effect on a question about safety"),
        ("--bound 0.5 --set cegar.scope=local", "no effect on a question about a probability"),
        ("--set prob.method=interval", "no effect on a question about safety"),
        ("--engine bmc --set steps=1 --set loop-free=false", "it goes with solver=z3"),
        ("--engine bmc --preset z3 --state-limit 9", "a formula has no states to count"),
    ] {
        let output = example.run(&format!("verify model.jani {line}"));
        assert_eq!(code(&output), 42, "{line}: {}", text(&output));
        assert!(text(&output).contains(said), "{line}: {}", text(&output));
    }
}

#[test]
fn evidence_says_how_labels_are_chosen() {
    let example = Example::new();
    // Who goes on for ever comes to x >= 7; the policy of greatest scores stops before.
    for (engine, choice, expected) in [
        ("explicit", "sample", 10),
        ("ic3", "sample", 10),
        ("bmc", "sample", 10),
        ("ic3", "argmax", 0),
    ] {
        let line = format!("--engine {engine} --choice {choice} --evidence evidence.json");
        let output = example.run(&format!("verify model.jani --property far {line}"));
        assert_eq!(code(&output), expected, "{line}: {}", text(&output));
        let output = example.run("certify evidence.json");
        assert_eq!(code(&output), 0, "{line}: {}", text(&output));
        let other = if choice == "sample" { "argmax" } else { "sample" };
        let evidence = example.read("evidence.json");
        let stated = format!("\"choice\": \"{choice}\"");
        assert!(evidence.contains(&stated), "{evidence}");
        example
            .write("changed.json", &evidence.replace(&stated, &format!("\"choice\": \"{other}\"")));
        let output = example.run("certify changed.json");
        assert_eq!(code(&output), 51, "{line}: {}", text(&output));
    }
    let line = "verify model.jani --property 1 --engine prob --choice sample --evidence drawn.json";
    let output = example.run(line);
    assert!(text(&output).contains("written to drawn.json"), "{}", text(&output));
    let output = example.run("certify drawn.json");
    assert_eq!(code(&output), 0, "{}", text(&output));
    let halved =
        example.read("drawn.json").replace("\"probability\": [", "\"probability\": [\"2\",");
    example.write("changed.json", &halved);
    assert_eq!(code(&example.run("certify changed.json")), 40);
    let output = example.run("verify model.jani --engine prob --choice sample --json -");
    assert!(text(&output).contains("\"choice\": \"sample\""), "{}", text(&output));
    assert!(text(&output).contains("drawn from all outputs by their probabilities"));
}

#[test]
fn options_of_engines_have_an_effect() {
    let example = Example::new();
    let result = |line: &str| -> serde_json::Value {
        let output = example.run(&format!("verify model.jani {line} --json - --quiet"));
        let text = String::from_utf8(output.stdout).expect("text");
        let begin = text.find('{').expect("JSON");
        let mut values = serde_json::Deserializer::from_str(&text[begin..]).into_iter();
        values.next().expect("a value").expect("JSON")
    };
    // bmc goes on to the greatest length, and still has the shortest path.
    let all = result("--engine bmc --property middle --keep-going");
    assert_eq!(all["verdict"], "unsafe");
    assert_eq!(all["statistics"]["bmc"]["shortest_unsafe_path"], 4);
    let explicit = result("--engine explicit --property middle --keep-going");
    for count in ["reachable_states", "unsafe_states"] {
        assert_eq!(all["statistics"][count], explicit["statistics"][count], "{count}");
    }
    let limited = result("--engine bmc --property middle --keep-going --set steps=6 --no-policy");
    // Behind the unsafe state there is nothing: no path of five steps.
    assert_eq!(limited["statistics"]["bmc"]["largest_length_checked"], 5);
    // Predicates, their number, and the tests of a preset.
    let few = result("--engine ppa --predicates splits:10");
    let many = result("--engine ppa --predicates splits:100");
    assert!(few["statistics"]["predicates"].as_u64() < many["statistics"]["predicates"].as_u64());
    let relaxed = result("--engine ppa --preset rel-sel-rel-app");
    assert_eq!(relaxed["preset"], "rel-sel-rel-app");
    let boxes = result("--engine ic3 --preset polic3");
    assert_eq!(boxes["preset"], "polic3");
    let one = result("--engine bmc --property middle --set steps=3");
    assert_eq!(one["verdict"], "unknown");
    let built = result("--engine explicit --property middle --build-all");
    let usual = result("--engine explicit --property middle");
    assert!(
        built["statistics"]["reachable_states"].as_u64()
            > usual["statistics"]["reachable_states"].as_u64()
    );
    let exact = result("--engine prob --property middle --exact");
    assert_eq!(exact["value"], "1");
    let bounded = result("--property middle --bound 0.5");
    assert_eq!(bounded["verdict"], "unsafe");
}
