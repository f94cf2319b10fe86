//! Files of models whose training stopped early.

use std::path::Path;

use policert_policy::PolicyError;
use policert_policy::trees::{Rounds, TreesFile, parse_trees};
use serde_json::{Value, json};

fn file(case: &str) -> Value {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/trees");
    let bytes = std::fs::read(folder.join(case).join("policy.json")).expect("a file of the tests");
    serde_json::from_slice(&bytes).expect("JSON")
}

fn parse(value: &Value, rounds: Rounds) -> Result<TreesFile, PolicyError> {
    parse_trees("f", value.to_string().as_bytes(), rounds)
}

fn trees(value: &Value, rounds: Rounds) -> usize {
    parse(value, rounds).expect("it is right").ensemble.trees().len()
}

#[test]
fn the_rounds_behind_the_best_one_do_not_count() {
    for (case, best, all) in [
        ("xgboost-early", 4 * 3, 6 * 3),
        ("xgboost-early-two-classes", 7, 9),
        ("xgboost-early-parallel", 4 * 6, 6 * 6),
        ("xgboost-early-weighted", 4 * 3, 6 * 3),
        ("xgboost-early-vector", 5, 7),
    ] {
        let file = file(case);
        assert_eq!((trees(&file, Rounds::Best), trees(&file, Rounds::All)), (best, all), "{case}");
        for (rounds, words) in [(Rounds::Best, "the first "), (Rounds::All, "asks for all")] {
            let notes = parse(&file, rounds).expect("it is right").notes;
            assert!(notes.len() == 1 && notes[0].contains("`best_iteration`"), "{case}: {notes:?}");
            assert!(notes[0].contains(words), "{case}: {notes:?}");
        }
    }
    let without = file("xgboost-classes");
    let read = parse(&without, Rounds::Best).expect("it is right");
    assert_eq!((read.ensemble.trees().len(), read.notes.len()), (9, 0));
}

#[test]
fn the_last_round_as_the_best_one_is_no_reason_for_a_note() {
    let mut file = file("xgboost-early");
    file["learner"]["attributes"]["best_iteration"] = json!("5");
    let read = parse(&file, Rounds::Best).expect("it is right");
    assert_eq!((read.ensemble.trees().len(), read.notes.len()), (18, 0));
}

#[test]
fn files_without_the_starts_of_the_rounds_stop_at_the_best_one_too() {
    // Version 1 lists no starts, and counts the trees of an output.
    for (case, parallel, best) in [("xgboost-early", 1, 12), ("xgboost-early-parallel", 2, 24)] {
        let mut file = file(case);
        let model = file["learner"]["gradient_booster"]["model"].as_object_mut();
        model.expect("an object").remove("iteration_indptr");
        let attributes = &mut file["learner"]["attributes"];
        attributes["best_ntree_limit"] = json!((4 * parallel).to_string());
        assert_eq!(trees(&file, Rounds::Best), best, "{case}");
    }
}

#[test]
fn a_best_round_that_does_not_exist_is_invalid() {
    for (key, value, words) in [
        ("best_iteration", json!("6"), "/attributes/best_iteration: round 6"),
        ("best_iteration", json!("-1"), "/attributes/best_iteration: a whole number"),
        ("best_iteration", json!("three"), "/attributes/best_iteration: a whole number"),
        ("best_ntree_limit", json!("5"), "/attributes/best_ntree_limit: 5 does not fit"),
    ] {
        let mut file = file("xgboost-early");
        file["learner"]["attributes"][key] = value;
        for rounds in [Rounds::Best, Rounds::All] {
            let error = parse(&file, rounds).expect_err(words);
            assert!(matches!(error, PolicyError::Invalid { .. }), "{error}");
            assert!(error.to_string().contains(words), "{error}");
        }
    }
    let mut file = file("xgboost-early");
    let attributes = file["learner"]["attributes"].as_object_mut().expect("an object");
    attributes.remove("best_iteration");
    attributes.insert("best_ntree_limit".to_owned(), json!("4"));
    let error = parse(&file, Rounds::Best).expect_err("one without the other").to_string();
    assert!(error.contains("`best_iteration` is missing"), "{error}");
}
