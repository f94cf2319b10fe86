//! Each way to end has its exit code (`docs/exit-codes.md`).

use crate::support::example::Example;
use crate::support::program::{code, interrupted, text};

/// A model with so many states that no limit of a test is beyond reach.
fn endless() -> Example {
    let example = Example::new();
    let variable = |name: &str| {
        format!(
            r#"{{"name": "{name}", "initial-value": 0, "type": {{"kind": "bounded", "base": "int",
   "lower-bound": 0, "upper-bound": 100000}}}}, "#
        )
    };
    let x = r#"{"name": "x", "initial"#;
    example.replace("model.jani", x, &format!("{}{}{x}", variable("y"), variable("z")));
    let rest = r#"{"location": "line", "action": "rest","#;
    let count = |name: &str| {
        format!(
            r#"{{"location": "line", "destinations": [{{"location": "line", "assignments": [
      {{"ref": "{name}", "value": {{"op": "+", "left": "{name}", "right": 1}}}}]}}]}},
    "#
        )
    };
    example.replace("model.jani", rest, &format!("{}{}{rest}", count("y"), count("z")));
    example
}

fn expect(example: &Example, arguments: &str, expected: i32) -> String {
    let (code, text) = outcome(example, arguments);
    assert_eq!(code, expected, "{arguments}: {text}");
    text
}

fn outcome(example: &Example, arguments: &str) -> (i32, String) {
    let output = example.run(arguments);
    (code(&output), text(&output))
}

#[test]
fn verdicts() {
    let example = Example::new();
    for engine in ["auto", "explicit", "ppa", "bmc"] {
        let verify =
            |property: u8| format!("verify model.jani --property {property} --engine {engine}");
        assert!(expect(&example, &verify(0), 0).starts_with("SAFE"));
        let text = expect(&example, &verify(1), 10);
        assert!(text.starts_with("UNSAFE") && text.contains("in 4 steps"), "{text}");
    }
    let coarse = "verify model.jani --property coarse --engine ppa --no-policy";
    let text = expect(&example, coarse, 20);
    assert!(text.starts_with("UNKNOWN") && text.contains("abstract unsafe path"), "{text}");
    unrolling(&example);
    expect(&example, "check model.jani", 0);
    expect(&example, "--help", 0);
    expect(&example, "--version", 0);
}

fn unrolling(example: &Example) {
    let bmc = "verify model.jani --engine bmc";
    let text = expect(example, &format!("{bmc} --property 1 --set steps=3"), 32);
    assert!(text.contains("no unsafe path of up to 3 steps"), "{text}");
    expect(example, &format!("{bmc} --property 1 --set steps=4"), 10);
    expect(example, &format!("{bmc} --set loop-free=false"), 42);
    let (code, text) = outcome(example, &format!("{bmc} --property 1 --preset z3"));
    if cfg!(feature = "z3") {
        assert!(code == 10 && text.contains("in 4 steps"), "{text}");
        expect(example, &format!("{bmc} --preset z3"), 0);
        let short = "--preset z3 --set steps=1 --set loop-free=false";
        expect(example, &format!("{bmc} {short}"), 32);
    } else {
        assert!(code == 41 && text.contains("./x build"), "{text}");
    }
}

#[test]
fn the_version_names_the_commit_and_z3() {
    let example = Example::new();
    let text = expect(&example, "--version", 0);
    let z3 = if cfg!(feature = "z3") { "Z3 5" } else { "without Z3" };
    assert!(text.contains(env!("CARGO_PKG_VERSION")) && text.contains(z3), "{text}");
    let git = std::process::Command::new("git").args(["rev-parse", "HEAD"]).output();
    if git.is_ok_and(|output| output.status.success()) {
        assert!(text.contains("commit "), "{text}");
    }
}

#[test]
fn probabilities() {
    let example = Example::new();
    let run = |arguments: &str, code: i32| {
        expect(&example, &format!("verify model.jani --property {arguments}"), code)
    };
    assert!(run("0 --engine prob", 0).starts_with("PROBABILITY: 0\n"));
    assert!(run("1 --engine prob --exact", 0).starts_with("PROBABILITY: "));
    assert!(run("0 --bound 0", 0).starts_with("SAFE"));
    assert!(run("1 --bound 1", 0).starts_with("SAFE"));
    assert!(run("1 --bound 0", 10).starts_with("UNSAFE"));
    assert!(run("1 --bound 0 --engine ppa", 42).contains("--engine prob"));
    run("1 --bound 1.5", 42);
    run("1 --precision 0", 42);
}

#[test]
fn limits() {
    let example = endless();
    let verify = "verify model.jani --engine explicit";
    let text = expect(&example, &format!("{verify} --timeout 200ms"), 30);
    assert!(text.contains("time limit") && text.contains("reachable states"), "{text}");
    expect(&example, &format!("{verify} --memory 1MB"), 31);
    let text = expect(&example, &format!("{verify} --state-limit 1000"), 32);
    assert!(text.contains("1000 states"), "{text}");
    // No time at all: the run ends before an engine has an answer.
    expect(&example, "verify model.jani --timeout 0s", 30);
}

#[cfg(unix)]
#[test]
fn interrupts() {
    let example = endless();
    interrupted(example.command("verify model.jani --engine explicit --json result.json"));
    let result: serde_json::Value =
        serde_json::from_str(&example.read("result.json")).expect("a partial result");
    assert_eq!(result["verdict"], "unknown");
    assert_eq!(result["reason_code"], "interrupted");
    assert!(result["statistics"]["reachable_states"].as_u64() > Some(1), "{result}");
}

#[test]
fn inputs() {
    let example = Example::new();
    expect(&example, "verify nothing.jani", 40);
    expect(&example, "verify model.jani --property 7", 40);
    expect(&example, "verify model.jani --policy nothing.nnet", 40);
    let text = expect(&example, "verify model.jani --engine cegar --preset mar", 41);
    assert!(text.contains("preset mar"), "{text}");
    let text = expect(&example, "verify model.jani --numbers f32 --choice sample", 41);
    assert!(text.contains("f32"), "{text}");
    let with_z3 = outcome(&example, "verify model.jani --engine ppa --preset base");
    if cfg!(feature = "z3") {
        assert_eq!(with_z3.0, 0, "{}", with_z3.1);
    } else {
        assert_eq!(with_z3.0, 41, "{}", with_z3.1);
        assert!(with_z3.1.contains("./x build"), "{}", with_z3.1);
    }
    expect(&example, "verify model.jani --engine magic", 42);
    expect(&example, "verify", 42);
    expect(&example, "verify model.jani --json - --evidence -", 42);
    expect(&example, "verify model.jani --terminal x>", 42);
    expect(&example, "verify model.jani --preset magic", 42);
    expect(&example, "verify model.jani --predicates splits:200", 42);
    expect(&example, "verify model.jani --predicates none --last x", 42);
    expect(&example, "verify model.jani --predicates splits:50 --last cost*", 42);
    let text = expect(&example, "check nothing.jani", 40);
    assert!(text.contains("nothing.jani"), "{text}");
}

#[test]
fn results_that_cannot_be_written() {
    let example = Example::new();
    let text = expect(&example, "verify model.jani --json no/such/folder/result.json", 42);
    assert!(text.contains("no/such/folder") && !text.contains("SAFE"), "{text}");
}

#[test]
fn every_code_is_documented() {
    let page = include_str!("../../../../docs/exit-codes.md");
    for status in policert_outcome::ExitStatus::ALL {
        assert!(page.contains(&format!("\n| {} |", status.code())), "{status:?}");
    }
}

/// Two automata that write different values to one variable at once.
const CONFLICT: &str = r#"{"jani-version": 1, "name": "m", "type": "mdp",
  "actions": [{"name": "a"}],
  "variables": [{"name": "x", "initial-value": 0,
    "type": {"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": 3}}],
  "properties": [{"name": "p", "expression": {"op": "PA",
    "reach": {"op": "state-condition", "exp": {"op": "=", "left": "x", "right": 3}},
    "predicates": [{"op": "≥", "left": "x", "right": 3}]}}],
  "automata": [
    {"name": "one", "locations": [{"name": "l"}], "initial-locations": ["l"], "edges": [
      {"location": "l", "action": "a", "destinations": [
        {"location": "l", "assignments": [{"ref": "x", "value": FIRST}]}]}]},
    {"name": "two", "locations": [{"name": "l"}], "initial-locations": ["l"], "edges": [
      {"location": "l", "action": "a", "destinations": [
        {"location": "l", "assignments": [{"ref": "x", "value": SECOND}]}]}]}],
  "system": {"elements": [{"automaton": "one"}, {"automaton": "two"}],
    "syncs": [{"synchronise": ["a", "a"], "result": "a"}]}}"#;

#[test]
fn writes_in_conflict_are_never_safe() {
    let example = Example::new();
    for (first, second) in [("1", "2"), ("1", "5"), ("5", "6")] {
        let text = CONFLICT.replace("FIRST", first).replace("SECOND", second);
        example.write("conflict.jani", &text);
        for (engine, code) in [("explicit", 40), ("bmc", 40), ("ppa", 41), ("cegar", 41)] {
            let line = format!("verify conflict.jani --no-policy --engine {engine}");
            expect(&example, &line, code);
        }
    }
}

#[test]
fn a_start_state_that_is_unsafe_is_found_among_many() {
    let example = Example::new();
    let start = r#""op": "PA", "start": {"op": "state-condition",
        "exp": {"op": "≥", "left": "x", "right": 5}},"#;
    let text = CONFLICT
        .replace(r#""op": "PA","#, start)
        .replace("FIRST", "1")
        .replace("SECOND", "1")
        .replace("\"upper-bound\": 3", "\"upper-bound\": 10000")
        .replace("\"right\": 3}", "\"right\": 9999}");
    example.write("many.jani", &text);
    for engine in ["explicit", "ppa", "cegar", "bmc"] {
        let text = expect(&example, &format!("verify many.jani --no-policy --engine {engine}"), 10);
        assert!(text.contains("a start state is unsafe"), "{engine}: {text}");
    }
}
