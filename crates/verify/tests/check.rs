//! `check` on small models: operators that can leave a domain, and how far the search goes.

use std::path::Path;

use policert_verify::{CancelFlag, CheckReport, DomainExits, ExitStatus, TaskOptions, check};

/// A model of one automaton over `x` and `y` in 0..9 and an array `A` of three cells.
fn model(edges: &str) -> String {
    let bounded = |upper: u32| {
        format!(r#"{{"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": {upper}}}"#)
    };
    format!(
        r#"{{"jani-version": 1, "name": "m", "type": "lts", "actions": [{{"name": "a"}}],
 "variables": [
  {{"name": "x", "type": {0}, "initial-value": 0}},
  {{"name": "y", "type": {0}, "initial-value": 0}},
  {{"name": "A", "type": {{"kind": "array", "base": {0}}},
    "initial-value": {{"op": "av", "elements": [0, 0, 0]}}}}],
 "automata": [{{"name": "m", "locations": [{{"name": "l"}}], "initial-locations": ["l"],
  "edges": [{edges}]}}],
 "system": {{"elements": [{{"automaton": "m"}}],
  "syncs": [{{"synchronise": ["a"], "result": "a"}}]}}}}"#,
        bounded(9)
    )
}

fn edge(guard: &str, target: &str, value: &str) -> String {
    format!(
        r#"{{"location": "l", "action": "a", "guard": {{"exp": {guard}}},
 "destinations": [{{"location": "l", "assignments": [{{"ref": {target}, "value": {value}}}]}}]}}"#
    )
}

fn binary(op: &str, left: &str, right: &str) -> String {
    format!(r#"{{"op": "{op}", "left": {left}, "right": {right}}}"#)
}

fn checked(text: &str) -> CheckReport {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("model.jani");
    std::fs::write(&path, text).expect("the model");
    let checked = check(&TaskOptions::new(&path), &CancelFlag::default());
    assert_eq!(checked.status, ExitStatus::Safe, "{:?}", checked.failure);
    checked.report
}

fn exits(edges: &str) -> DomainExits {
    checked(&model(edges)).domain_exits.expect("a search")
}

#[test]
fn an_update_that_leaves_its_domain_has_a_witness() {
    let exits = exits(&edge("true", "\"x\"", &binary("+", "\"x\"", "1")));
    assert_eq!(exits.found.len(), 1);
    let exit = &exits.found[0];
    assert_eq!(exit.variable, "x");
    assert!(exit.problem.starts_with("becomes 10"), "{}", exit.problem);
    assert!(exit.state.contains("x=9"), "{}", exit.state);
    assert!(exits.complete && exits.undecided.is_empty());
}

#[test]
fn a_guard_that_prevents_it_is_seen() {
    let x_plus_y = binary("+", "\"x\"", "\"y\"");
    for guard in [
        binary("<", "\"x\"", "9"),
        binary("∧", &binary("≤", &x_plus_y, "9"), &binary("<", "\"x\"", "\"y\"")),
    ] {
        let exits = exits(&edge(&guard, "\"x\"", &binary("+", "\"x\"", "1")));
        assert_eq!(exits, DomainExits { checked_operators: 1, complete: true, ..exits.clone() });
        assert!(exits.found.is_empty() && exits.undecided.is_empty(), "{exits:?}");
    }
}

#[test]
fn needles_are_found() {
    // x·y = 63 ∧ x < y has one solution.
    let product = binary("=", &binary("*", "\"x\"", "\"y\""), "63");
    let guard = binary("∧", &product, &binary("<", "\"x\"", "\"y\""));
    let exits = exits(&edge(&guard, "\"x\"", &binary("-", "\"x\"", "8")));
    assert_eq!(exits.found.len(), 1, "{exits:?}");
    assert!(exits.found[0].state.contains("x=7, y=9"), "{}", exits.found[0].state);
}

#[test]
fn array_cells_that_do_not_exist_are_found() {
    let cell = r#"{"op": "aa", "exp": "A", "index": "x"}"#;
    let written = exits(&edge("true", cell, "1"));
    assert_eq!(written.found.len(), 1, "{written:?}");
    assert_eq!(written.found[0].variable, "A");
    assert!(written.found[0].problem.contains("cell 3"), "{}", written.found[0].problem);
    let read = exits(&edge("true", "\"y\"", cell));
    assert_eq!(read.found.len(), 1, "{read:?}");
    assert!(read.found[0].problem.contains("does not exist"), "{}", read.found[0].problem);
    let inside = exits(&edge(&binary("≤", "\"x\"", "2"), cell, "1"));
    assert!(inside.found.is_empty() && inside.undecided.is_empty(), "{inside:?}");
}

#[test]
fn unbounded_variables_are_no_obstacle() {
    let bounded = r#"{"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": 9}"#;
    let one_sided = r#"{"kind": "bounded", "base": "int", "lower-bound": 0}"#;
    let text = |value: &str| model(&edge("true", "\"x\"", value)).replacen(bounded, one_sided, 1);
    let grows = checked(&text(&binary("+", "\"x\"", "1"))).domain_exits.expect("a search");
    assert!(grows.found.is_empty() && grows.undecided.is_empty(), "{grows:?}");
    let falls = checked(&text(&binary("-", "\"x\"", "1"))).domain_exits.expect("a search");
    assert_eq!(falls.found.len(), 1, "{falls:?}");
    assert_eq!(falls.found[0].state, "x=0");
}

#[test]
fn divisions_by_variables_are_counted() {
    let ratio = binary("/", "\"x\"", "\"y\"");
    let floor = format!(r#"{{"op": "floor", "exp": {ratio}}}"#);
    let report = checked(&model(&edge(&binary("<", "0", "\"y\""), "\"x\"", &floor)));
    assert_eq!(report.divisions_by_variables, 1);
}

#[test]
fn a_file_that_does_not_exist_is_named() {
    let checked = check(&TaskOptions::new(Path::new("no-such.jani")), &CancelFlag::default());
    assert_eq!(checked.status, ExitStatus::Invalid);
    assert!(checked.failure.is_some_and(|failure| failure.to_string().contains("no-such.jani")));
}

#[test]
fn an_interrupted_check_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("model.jani");
    std::fs::write(&path, model(&edge("true", "\"x\"", "1"))).expect("the model");
    let cancel = CancelFlag::default();
    cancel.raise();
    assert_eq!(check(&TaskOptions::new(&path), &cancel).status, ExitStatus::Interrupted);
}
