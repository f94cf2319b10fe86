//! `check` on small models: operators that can leave a domain, and how far the search goes.

use std::path::Path;

use policert_engine_api::CancelFlag;
use policert_outcome::{ExitStatus, Outcome};
use policert_problem::ProblemOptions;
use policert_verify::check::{CheckReport, DomainExits, check};

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

fn checked(text: &str) -> Outcome<CheckReport> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("model.jani");
    std::fs::write(&path, text).expect("the model");
    let checked = check(&ProblemOptions::new(&path), &CancelFlag::default());
    assert_eq!(checked.status, ExitStatus::Safe, "{:?}", checked.failure);
    checked
}

fn exits(edges: &str) -> DomainExits {
    checked(&model(edges)).report.domain_exits.expect("a search")
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
    let grows = checked(&text(&binary("+", "\"x\"", "1"))).report.domain_exits.expect("a search");
    assert!(grows.found.is_empty() && grows.undecided.is_empty(), "{grows:?}");
    let falls = checked(&text(&binary("-", "\"x\"", "1"))).report.domain_exits.expect("a search");
    assert_eq!(falls.found.len(), 1, "{falls:?}");
    assert_eq!(falls.found[0].state, "x=0");
}

#[test]
fn divisions_by_variables_are_counted() {
    let ratio = binary("/", "\"x\"", "\"y\"");
    let floor = format!(r#"{{"op": "floor", "exp": {ratio}}}"#);
    let outcome = checked(&model(&edge(&binary("<", "0", "\"y\""), "\"x\"", &floor)));
    assert_eq!(outcome.report.divisions_by_variables, 1);
}

#[test]
fn a_file_that_does_not_exist_is_named() {
    let checked = check(&ProblemOptions::new(Path::new("no-such.jani")), &CancelFlag::default());
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
    assert_eq!(check(&ProblemOptions::new(&path), &cancel).status, ExitStatus::Interrupted);
}

/// A model with a transient variable `t` in 0..3 that nobody reads.
fn with_transient(value: &str) -> String {
    let declaration = r#""variables": [
  {"name": "t", "transient": true, "initial-value": 0,
   "type": {"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": 3}},"#;
    model(&edge("true", "\"t\"", value)).replacen("\"variables\": [", declaration, 1)
}

#[test]
fn a_transient_variable_that_leaves_its_bounds_is_found() {
    let search =
        |value: &str| checked(&with_transient(value)).report.domain_exits.expect("a search");
    let outside = search(&binary("+", "\"x\"", "1"));
    assert_eq!(outside.found.len(), 1, "{outside:?}");
    assert_eq!(outside.found[0].variable, "t");
    assert!(outside.found[0].problem.contains("outside [0, 3]"), "{outside:?}");
    let undefined = search(&format!(
        r#"{{"op": "floor", "exp": {}}}"#,
        binary("/", "3", &binary("-", "\"x\"", "5"))
    ));
    assert!(!undefined.found.is_empty(), "{undefined:?}");
    let inside = search(&binary("%", "\"x\"", "4"));
    assert!(inside.found.is_empty() && inside.undecided.is_empty(), "{inside:?}");
}

#[test]
fn a_choice_from_an_empty_range_is_found() {
    let choice = |lower: &str, upper: &str| {
        let text = edge(&binary("≤", "\"x\"", "8"), "\"y\"", "0");
        let bounds = format!(r#""lower-bound": {lower}, "upper-bound": {upper}"#);
        exits(&text.replacen("\"value\": 0", &bounds, 1))
    };
    let empty = choice("\"x\"", "7");
    assert_eq!(empty.found.len(), 1, "{empty:?}");
    assert!(empty.found[0].problem.contains("from 8 to 7"), "{empty:?}");
    let some = choice("\"x\"", "8");
    assert!(some.found.is_empty() && some.undecided.is_empty(), "{some:?}");
}

fn with_property(expression: &str) -> String {
    let property = format!(r#""properties": [{{"name": "p", "expression": {expression}}}],"#);
    let text = model(&edge("true", "\"x\"", &binary("%", "\"y\"", "3")));
    text.replacen("\"automata\"", &format!("{property}\n\"automata\""), 1)
}

fn filter(fun: &str, values: &str) -> String {
    format!(
        r#"{{"op": "filter", "fun": "{fun}", "states": {{"op": "initial"}}, "values": {values}}}"#
    )
}

#[test]
fn a_model_whose_only_property_is_a_probability_can_be_checked() {
    for (op, asks) in [("Pmax", "greatest probability"), ("Pmin", "least probability")] {
        let path = format!(r#"{{"op": "F", "exp": {}}}"#, binary("=", "\"x\"", "2"));
        let values = format!(r#"{{"op": "{op}", "exp": {path}}}"#);
        let outcome = checked(&with_property(&filter("max", &values)));
        assert_eq!(outcome.report.property.expect("a property").asks, asks);
    }
}

#[test]
fn properties_of_reachability_are_safety_properties() {
    let condition = binary("=", "\"x\"", "2");
    let exists = |fun| {
        let path = format!(r#"{{"op": "F", "exp": {condition}}}"#);
        with_property(&filter(fun, &format!(r#"{{"op": "∃", "exp": {path}}}"#)))
    };
    let forall = |condition: &str| {
        let path = format!(r#"{{"op": "G", "exp": {condition}}}"#);
        with_property(&filter("∀", &format!(r#"{{"op": "∀", "exp": {path}}}"#)))
    };
    for fun in ["∃", "∀", "values"] {
        let outcome = checked(&exists(fun));
        let property = outcome.report.property.expect("a property");
        assert_eq!((property.asks, property.unsafe_condition.as_str()), ("safety", "x = 2"));
        assert!(outcome.remarks.notes.iter().any(|note| note.contains("unsafe means")), "{fun}");
    }
    let outcome = checked(&forall(&binary("<", "\"x\"", "2")));
    let property = outcome.report.property.expect("a property");
    assert_eq!((property.asks, property.unsafe_condition.as_str()), ("safety", "x ≥ 2"));
    assert!(outcome.remarks.notes.iter().any(|note| note.contains("safe means")));

    let refused = |text: &str| {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("model.jani");
        std::fs::write(&path, text).expect("the model");
        check(&ProblemOptions::new(&path), &CancelFlag::default()).status
    };
    // Where the condition has no value, it is neither satisfied nor is its negation.
    let partial = binary("<", &binary("/", "1", "\"x\""), "2");
    assert_eq!(refused(&forall(&partial)), ExitStatus::Unsupported);
    assert_eq!(refused(&exists("count")), ExitStatus::Unsupported);
}

#[test]
fn a_number_that_is_name_and_position_is_taken_as_the_name_and_a_note_says_so() {
    let safety = |name: &str, value: &str| {
        format!(
            r#"{{"name": "{name}", "expression": {{"op": "PA", "reach": {}}}}}"#,
            binary("=", "\"x\"", value)
        )
    };
    let properties =
        format!("\"properties\": [{}, {}],\n\"automata\"", safety("1", "3"), safety("a", "4"));
    let text = model(&edge("true", "\"x\"", "1")).replacen("\"automata\"", &properties, 1);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("model.jani");
    std::fs::write(&path, text).expect("the model");
    let file = path.display().to_string();
    for (property, taken, noted) in [
        ("1".to_owned(), "x = 3", true),
        ("#1".to_owned(), "x = 4", true),
        ("#0".to_owned(), "x = 3", false),
        ("a".to_owned(), "x = 4", false),
        (format!("{file}:1"), "x = 4", true),
        (format!("{file}:0"), "x = 3", false),
    ] {
        let options =
            ProblemOptions { property: Some(property.clone()), ..ProblemOptions::new(&path) };
        let outcome = check(&options, &CancelFlag::default());
        let found = outcome.report.property.expect("a property").unsafe_condition;
        assert_eq!(found, taken, "{property}");
        let is_noted = outcome.remarks.notes.iter().any(|note| note.contains("position"));
        assert_eq!(is_noted, noted, "{property}: {:?}", outcome.remarks.notes);
    }
}

#[test]
fn rounded_probabilities_can_be_refused() {
    let text = model(&edge("true", "\"x\"", "1")).replacen(
        "{\"location\": \"l\", \"assignments\"",
        "{\"probability\": {\"exp\": 0.9999999}, \"location\": \"l\", \"assignments\"",
        1,
    );
    assert!(checked(&text).remarks.notes.iter().any(|note| note.contains("scaled")));
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("model.jani");
    std::fs::write(&path, text).expect("the model");
    let probabilities = policert_problem::Probabilities::Exact;
    let options = ProblemOptions { probabilities, ..ProblemOptions::new(&path) };
    let checked = check(&options, &CancelFlag::default());
    assert_eq!(checked.status, ExitStatus::Invalid);
    assert!(
        checked.failure.is_some_and(|failure| failure.to_string().contains("9999999/10000000"))
    );
}
