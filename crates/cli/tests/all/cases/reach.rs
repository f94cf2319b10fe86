//! Compares reachable boxes and cells, exactly: the cases use exact arithmetic throughout.

use std::collections::BTreeSet;

use policert_numeric::Rational;
use serde_json::Value;

use super::case_file::Expect;

/// A box or cell as its bounds in turn.
type ProbabilityBounds = Vec<Rational>;

/// The differences from the expected result.
pub fn differences(expect: &Expect, report: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    let steps = [
        (1, &expect.boxes_1),
        (2, &expect.boxes_2),
        (3, &expect.boxes_3),
        (4, &expect.boxes_4),
        (10, &expect.boxes_10),
    ];
    for (step, expected) in steps {
        if let Some(expected) = expected {
            compare(&format!("boxes of step {step}"), expected, &report["boxes"][step], &mut wrong);
        }
    }
    if let Some(expected) = &expect.cells {
        compare("cells", expected, &report["cells"], &mut wrong);
    }
    if let Some(step) = expect.goal_contained_at {
        let found = report["goal_step"].as_i64().unwrap_or(-1);
        if found != step {
            wrong.push(format!("the goal contains all at step {step}, not {found}"));
        }
    }
    let shown = report["counterexample"]["trajectories"].as_array();
    if report["verdict"] == "unsafe" && shown.is_none_or(Vec::is_empty) {
        wrong.push("no trajectory is shown".to_owned());
    }
    wrong
}

fn compare(what: &str, expected: &[Vec<String>], found: &Value, wrong: &mut Vec<String>) {
    let number = |text: &str| -> Rational { text.parse().expect("a number") };
    let expected: BTreeSet<ProbabilityBounds> =
        expected.iter().map(|one| one.iter().map(|text| number(text)).collect()).collect();
    let bounds = |one: &Value| -> ProbabilityBounds {
        let sides = one.as_array().into_iter().flatten();
        sides
            .flat_map(|side| side.as_array().into_iter().flatten())
            .map(|bound| number(bound.as_str().expect("an exact bound")))
            .collect()
    };
    let found: BTreeSet<ProbabilityBounds> =
        found.as_array().into_iter().flatten().map(bounds).collect();
    if expected != found {
        wrong.push(format!("{what}: {expected:?} expected, {found:?} found"));
    }
}
