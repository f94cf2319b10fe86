//! Each fact on a model that has it, and none on a model that has none.

use policert_outcome::Remarks;
use serde_json::{Value, json};

use super::*;
use crate::{PolicySource, ProblemOptions};

/// Two automata that count together to 3, by the action `go`.
fn counters() -> Value {
    let bounded = json!({"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": 3});
    let automaton = |name: &str, variable: &str| {
        json!({
            "name": name, "locations": [{"name": "l"}], "initial-locations": ["l"],
            "edges": [{
                "location": "l", "action": "go",
                "guard": {"exp": {"op": "<", "left": variable, "right": 3}},
                "destinations": [{"location": "l", "assignments": [
                    {"ref": variable, "value": {"op": "+", "left": variable, "right": 1}}]}],
            }],
        })
    };
    let reach = json!({"op": "state-condition", "exp": {"op": "=", "left": "x", "right": 3}});
    json!({
        "jani-version": 1, "name": "counters", "type": "lts",
        "actions": [{"name": "go"}, {"name": "stop"}],
        "variables": [
            {"name": "x", "type": bounded, "initial-value": 0},
            {"name": "y", "type": bounded, "initial-value": 0}],
        "automata": [automaton("A", "x"), automaton("B", "y")],
        "properties": [{"name": "three", "expression": {"op": "PA", "reach": reach}}],
        "system": {"elements": [{"automaton": "A"}, {"automaton": "B"}],
                   "syncs": [{"synchronise": ["go", "go"], "result": "go"}]},
    })
}

fn facts(model: &Value) -> Vec<HollowFact> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("model.jani");
    std::fs::write(&path, model.to_string()).expect("the model");
    let options = ProblemOptions { policy: PolicySource::None, ..ProblemOptions::new(&path) };
    let problem =
        Problem::load(&options, &Budget::unlimited(), &mut Remarks::default()).expect("a problem");
    problem.hollow_facts(&mut Budget::unlimited()).expect("no limit")
}

#[test]
fn a_model_in_which_all_takes_part_has_no_fact() {
    assert_eq!(facts(&counters()), []);
}

#[test]
fn an_action_whose_partner_has_no_edge_never_fires() {
    let mut model = counters();
    model["automata"][1]["edges"][0]["action"] = json!("stop");
    let found = facts(&model);
    let actions = vec!["`go` of `A`".to_owned(), "`stop` of `B`".to_owned()];
    assert_eq!(found, [HollowFact::NoOperator, HollowFact::NeverSynchronised { actions }]);
    assert!(found[0].decides() && !found[1].decides());
}

#[test]
fn a_guard_of_two_automata_that_excludes_itself_is_never_applicable() {
    let mut model = counters();
    model["automata"][1]["edges"][0]["guard"]["exp"] =
        json!({"op": ">", "left": "x", "right": "y"});
    model["automata"][0]["edges"][0]["guard"]["exp"] =
        json!({"op": "≤", "left": "x", "right": "y"});
    assert_eq!(facts(&model), [HollowFact::NeverApplicable { labels: vec!["go".to_owned()] }]);
}

#[test]
fn an_unsafe_condition_beyond_the_domains_is_no_question() {
    let mut model = counters();
    let exp = &mut model["properties"][0]["expression"]["reach"]["exp"];
    *exp = json!({"op": "=", "left": "x", "right": 4});
    assert_eq!(facts(&model), [HollowFact::NothingUnsafe]);
}

#[test]
fn start_states_that_the_restriction_excludes_are_missing() {
    let mut model = counters();
    model["restrict-initial"] = json!({"exp": {"op": ">", "left": "x", "right": 0}});
    assert_eq!(facts(&model), [HollowFact::NoStartState]);
}

#[test]
fn a_misspelt_key_that_empties_an_update_is_named() {
    let mut model = counters();
    let destination = &mut model["automata"][0]["edges"][0]["destinations"][0];
    let assignments = destination["assignments"].take();
    *destination = json!({"location": "l", "asignments": assignments});
    let found = facts(&model);
    assert_eq!(found.len(), 1);
    let text = found[0].to_string();
    assert!(text.contains("`asignments`") && text.contains("`assignments`"), "{text}");
}

#[test]
fn a_key_of_another_meaning_is_no_misspelling() {
    let mut model = counters();
    model["automata"][0]["edges"][0]["annotation"] = json!("counts");
    assert_eq!(facts(&model), []);
}
