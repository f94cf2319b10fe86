//! `policert report`: a page of a result, with its evidence.

use crate::support::example::Example;
use crate::support::program::{code, text};

/// A result and the evidence of its verdict.
fn verified(options: &str) -> Example {
    let example = Example::new();
    let line = format!("verify model.jani --json result.json --evidence evidence.json {options}");
    let output = example.run(&line);
    assert!(matches!(code(&output), 0 | 10), "{}", text(&output));
    example
}

#[test]
fn a_page_of_an_unsafe_verdict() {
    let example = verified("--property 1 --engine explicit");
    let output = example.run("report result.json --out page.html");
    assert_eq!(code(&output), 0, "{}", text(&output));
    let page = example.read("page.html");
    for part in [
        "class=\"verdict unsafe\">unsafe",
        "Steps; the run ends in an unsafe state",
        "x: 3 → 4",
        "it was not checked for this page",
        "policert verify model.jani --json result.json --evidence evidence.json --property 1",
        "policert certify evidence.json",
        "<dt>reachable states</dt>",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    // The page of the same result that the check confirmed.
    let output = example.run("report result.json --certify --out page.html");
    assert_eq!(code(&output), 0, "{}", text(&output));
    assert!(example.read("page.html").contains("Confirmed: the file was checked again"));
    // The policy is another one now.
    example.replace("policy.nnet", "-1.0,1.0,", "-1.0,1.5,");
    let output = example.run("report result.json --certify --out page.html");
    assert_eq!(code(&output), 40, "{}", text(&output));
    assert!(text(&output).contains("the evidence is not confirmed: "), "{}", text(&output));
    let page = example.read("page.html");
    assert!(page.contains("Not confirmed when this page was made"), "{page}");
    assert!(page.contains("is not the file that the evidence is about"), "{page}");
}

#[test]
fn pages_of_other_results() {
    let example = verified("--property 0 --engine ic3");
    let output = example.run("report result.json --certify --timeout 60s --out page.html");
    assert_eq!(code(&output), 0, "{}", text(&output));
    assert!(example.read("page.html").contains("an inductive invariant of"));
    for command in
        ["check model.jani", "simulate model.jani --runs 2", "verify model.jani --timeout 0"]
    {
        example.run(&format!("{command} --json result.json"));
        let output = example.run("report result.json --out page.html");
        assert_eq!(code(&output), 0, "{command}: {}", text(&output));
        assert!(example.read("page.html").contains("How to repeat it"), "{command}");
    }
}

#[test]
fn a_page_of_a_query() {
    let example = Example::new();
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let files = format!("{examples}/icy_road/careful.onnx {examples}/queries/brakes_on_ice.vnnlib");
    let output = example.run(&format!("query {files} --json result.json --evidence e.json"));
    assert_eq!(code(&output), 10, "{}", text(&output));
    let output = example.run("report result.json --certify --timeout 60s --out page.html");
    assert_eq!(code(&output), 0, "{}", text(&output));
    let page = example.read("page.html");
    assert!(
        page.contains("a witness") && page.contains("Confirmed: the file was checked"),
        "{page}"
    );
}

#[test]
fn what_is_no_result_or_contradicts_itself_is_refused() {
    let example = verified("--property 1 --engine explicit");
    let refused = |line: &str, expected: i32, said: &str| {
        let output = example.run(line);
        assert_eq!(code(&output), expected, "{line}: {}", text(&output));
        assert!(text(&output).contains(said), "{line}: {}", text(&output));
    };
    let page = "--out page.html";
    refused(&format!("report model.jani {page}"), 40, "no result of policert");
    refused(&format!("report none.json {page}"), 40, "none.json");
    refused(&format!("report result.json --timeout 1s {page}"), 42, "--certify");
    refused("report result.json --out result.json", 42, "this is the input");
    refused("report result.json --out evidence.json", 42, "this is the input");
    let evidence = example.read("evidence.json");
    example.write(
        "evidence.json",
        &evidence.replace("\"engine\": \"explicit\"", "\"engine\": \"ppa\""),
    );
    refused(&format!("report result.json {page}"), 40, "evidence of another run: `engine` differs");
    example.write("evidence.json", &evidence.replacen("\"steps\": 4", "\"steps\": 5", 1));
    refused(&format!("report result.json {page}"), 40, "`steps` is not the number of steps");
    std::fs::remove_file(example.path("evidence.json")).expect("there");
    refused(&format!("report result.json --certify {page}"), 42, "there is no evidence to check");
    assert!(!example.path("page.html").exists());
    let result = example.read("result.json");
    example.write("result.json", &result.replace("\"exit_code\": 10", "\"exit_code\": 0"));
    refused(&format!("report result.json {page}"), 40, "contradict each other");
}
