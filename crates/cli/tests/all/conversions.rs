//! `policert convert` and `policert certify`: what they write and confirm, and how they end.

use crate::support::example::Example;
use crate::support::program::{code, text};
use policert_numeric::Rational;
use serde_json::Value;

fn expect(example: &Example, arguments: &str, expected: i32) -> String {
    let output = example.run(arguments);
    assert_eq!(code(&output), expected, "{arguments}: {}", text(&output));
    text(&output)
}

fn interval(example: &Example, arguments: &str) -> [Rational; 2] {
    expect(example, &format!("verify {arguments} --json result.json"), 0);
    let result: Value = serde_json::from_str(&example.read("result.json")).expect("JSON");
    [0, 1].map(|side| {
        let bound = result["probability"][side].as_str().expect("a bound");
        bound.parse().expect("a number")
    })
}

#[test]
fn the_encoded_policy_has_the_same_probability() {
    let example = Example::new();
    for property in [0, 1] {
        let question = format!("model.jani --property {property}");
        let [lo, hi] = interval(&example, &format!("{question} --engine prob"));
        for digits in [3, 6] {
            let policy = format!("--policy-as-automaton discrete:{digits}");
            expect(&example, &format!("convert {question} {policy} --output encoded.jani"), 0);
            let [low, high] = interval(&example, "encoded.jani --property reach");
            assert!(lo <= high && low <= hi, "{property} {digits}: {lo} {hi} {low} {high}");
        }
    }
    let policy = "--policy-as-automaton discrete:4";
    let question = "convert model.jani --property 1";
    expect(&example, &format!("{question} {policy} --to prism --out encoded.prism"), 0);
    assert!(example.read("encoded.prism").starts_with("// "));
    assert!(example.read("encoded.props").contains("Pmax=? [ F \"target\" ]"));
    expect(&example, &format!("{question} --to drn --out chain.drn"), 0);
    assert!(example.read("chain.drn").contains("@type: MDP"));
    expect(&example, &format!("{question} --policy-as-automaton real --out real.jani"), 0);
    // What cannot be read again is refused by name.
    let text = expect(&example, "verify real.jani --property reach", 41);
    assert!(text.contains("real-valued"), "{text}");
}

#[test]
fn what_cannot_be_converted() {
    let example = Example::new();
    for (arguments, expected, words) in [
        ("1 --out a.jani", 42, "--policy-as-automaton"),
        ("1 --no-policy --policy-as-automaton real --out a.jani", 42, "needs a policy"),
        ("1 --policy-as-automaton discrete:99 --out a.jani", 42, "discrete:N"),
        ("1 --policy-as-automaton real --to prism --out a.prism", 41, "real-valued"),
        ("1 --policy-as-automaton real --to drn --out a.drn", 42, "--to jani"),
        ("1 --policy-as-automaton real --out model.jani", 42, "model.jani"),
        ("1 --policy-as-automaton real --out no/such/folder", 42, "no/such/folder"),
        ("nothing --policy-as-automaton discrete:15 --out a.jani", 40, "nothing"),
    ] {
        let text =
            expect(&example, &format!("convert model.jani --property {arguments}"), expected);
        assert!(text.contains(words), "{arguments}: {text}");
        for file in ["a.jani", "a.prism", "a.props", "a.drn"] {
            assert!(!example.path(file).exists(), "{arguments}");
        }
    }
}

#[test]
fn evidence_is_confirmed_or_rejected() {
    let example = Example::new();
    let question = "verify model.jani --property 1 --engine prob --evidence evidence.json";
    let text = expect(&example, question, 0);
    assert!(text.contains("the most probable one to the target takes 4 steps"), "{text}");
    let text = expect(&example, "certify evidence.json --json certified.json", 0);
    assert!(text.starts_with("CONFIRMED"), "{text}");
    let evidence: Value = serde_json::from_str(&example.read("evidence.json")).expect("JSON");
    assert!(evidence["paths"].as_array().is_some_and(|paths| !paths.is_empty()));
    let change = |change: &dyn Fn(&mut Value), expected: i32, words: &str| {
        let mut changed = evidence.clone();
        change(&mut changed);
        example.write("changed.json", &changed.to_string());
        let text = expect(&example, "certify changed.json", expected);
        assert!(text.contains(words), "{words}: {text}");
    };
    let half = |value: &mut Value| *value = serde_json::json!(0.25);
    change(
        &|e| e["values"].as_array_mut().expect("a list").iter_mut().for_each(|v| half(&mut v[2])),
        51,
        "rejected",
    );
    change(&|e| e["probability"][1] = "0.0".into(), 51, "rejected");
    change(&|e| e["probability"][0] = "1.5".into(), 51, "rejected");
    change(&|e| e["probability"][0] = "x".into(), 40, "probability");
    change(&|e| e["values"][0][0] = serde_json::json!([1]), 51, "not a state");
    change(&|e| e["variables"][0] = "other".into(), 40, "variables");
    change(&|e| e["inputs"][0]["sha256"] = "0".into(), 40, "not the file");
    change(&|e| e["schema_version"] = 99.into(), 41, "version 99");
    change(&|e| _ = e.as_object_mut().expect("an object").remove("values"), 40, "no evidence");
    example.write("changed.json", "{");
    expect(&example, "certify changed.json", 40);
    expect(&example, "certify missing.json", 40);
    // At a limit nothing is known of the files, and certainly not that they have changed.
    let text = expect(&example, "certify evidence.json --timeout 0s", 30);
    assert!(!text.contains("not the file"), "{text}");
    expect(&example, "verify model.jani --property 1 --evidence trace.json", 10);
    let text = expect(&example, "certify trace.json", 0);
    assert!(text.starts_with("CONFIRMED"), "{text}");
    example.replace("model.jani", "\"middle\"", "\"centre\"");
    let text = expect(&example, "certify evidence.json", 40);
    assert!(text.contains("model.jani is not the file"), "{text}");
}
