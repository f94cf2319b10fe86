//! Translations: all is described, exactly once.

use policert_asnet::{FileKind, Translation};
use policert_testkit::PddlText;

use crate::random_network::task;

const DOMAIN: &str = "(define (domain d) (:types room) (:predicates (in ?r - room) (lit ?r - room))
    (:action go :parameters (?a ?b - room) :precondition (in ?a)
     :effect (and (in ?b) (not (in ?a))))
    (:action light :parameters (?a - room) :precondition (in ?a) :effect (lit ?a)))";
const PROBLEM: &str = "(define (problem p) (:domain d) (:objects a b - room) (:init (in a))
    (:goal (lit b)))";
const TRANSLATION: &str = r#"{"asnet": "net.json", "domain": "d.pddl", "problem": "p.pddl",
  "values": {"a": 0, "b": 7},
  "propositions": {"in(?r)": "room = {r}", "lit(a)": "lamp_a", "lit(b)": "lamp_b"},
  "labels": {"go_{y}": ["go(?x,?y)"], "light": ["light(?x)"]}}"#;

/// The conditions of propositions, and the actions of labels.
type Described = (Vec<String>, Vec<(String, Vec<usize>)>);

fn translate(from: &str, to: &str) -> Result<Described, String> {
    assert!(TRANSLATION.contains(from), "{from}");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("translation.json");
    let text = TRANSLATION.replacen(from, to, 1);
    assert_eq!(FileKind::of(text.as_bytes()), Some(FileKind::Translation));
    std::fs::write(&path, text).expect("written");
    let task = task(&PddlText { domain: DOMAIN.to_owned(), problem: PROBLEM.to_owned() });
    let translated = Translation::read(&path).and_then(|read| read.of(&task));
    translated.map(|found| (found.conditions, found.labels)).map_err(|error| error.to_string())
}

#[test]
fn patterns_describe_propositions_and_actions() {
    let (conditions, labels) = translate("}", "}").expect("translated");
    assert_eq!(conditions, ["room = 0", "room = 7", "lamp_a", "lamp_b"]);
    let expected = [("go_0", vec![0, 2]), ("go_7", vec![1, 3]), ("light", vec![4, 5])]
        .map(|(l, a)| (l.to_owned(), a));
    assert_eq!(labels, expected);
}

#[test]
fn what_is_missing_or_double_is_said() {
    for (from, to, expected) in [
        ("\"lit(a)\": \"lamp_a\", ", "", "/propositions: nothing describes `lit(a)`"),
        ("\"lit(a)\"", "\"lit(?r)\"", "`lit(?r)` and `lit(b)` both describe `lit(b)`"),
        ("\"in(?r)\"", "\"in(c)\"", "/propositions: `in(c)` describes nothing in this problem"),
        ("\"in(?r)\"", "\"in(?r\"", "/propositions: `in(?r` is no pattern"),
        ("{r}", "{s}", "/propositions: `room = {s}` names {s}, which is no parameter of `in(?r)`"),
        ("[\"light(?x)\"]", "[]", "/labels: nothing describes `light(a)`"),
        ("\"b\": 7", "\"c\": 7", "/values: `c` is no object of the problem"),
        ("\"labels\"", "\"label\"", "unknown field `label`"),
    ] {
        let error = translate(from, to).expect_err(to);
        assert!(error.contains(expected), "{to}: {error}");
    }
}
