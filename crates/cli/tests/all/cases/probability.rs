//! Compares probabilities: the interval contains the right value and is narrow, and `--exact` gives
//! the value itself.

use policert_numeric::Rational;
use serde_json::Value;

use super::case_file::Expect;

/// The differences from the expected interval.
pub fn differences(expect: &Expect, report: &Value) -> Vec<String> {
    let Some(expected) = &expect.probability else { return Vec::new() };
    let [Some(lo), Some(hi)] = interval(report) else {
        return vec![format!("no interval: {}", report["probability"])];
    };
    let mut wrong = Vec::new();
    if lo > number(&expected[0]) || hi < number(&expected[1]) {
        wrong.push(format!("{expected:?} is not inside [{lo}, {hi}]"));
    }
    if expect.width_at_most.as_ref().is_some_and(|width| &hi - &lo > number(width)) {
        wrong.push(format!("[{lo}, {hi}] is wider than {:?}", expect.width_at_most));
    }
    if let (Some(found), Some(value)) = (report["value"].as_str(), &expect.value)
        && number(found) != number(value)
    {
        wrong.push(format!("value: {value} expected, {found} found"));
    }
    wrong
}

/// The differences from the exact value, for a run with `--exact`.
pub fn exact_differences(expect: &Expect, report: &Value) -> Vec<String> {
    let Some(value) = &expect.value else { return Vec::new() };
    let mut wrong = differences(expect, report);
    if report["value"].as_str().is_none_or(|found| number(found) != number(value)) {
        wrong.push(format!("with --exact: {value} expected, {} found", report["value"]));
    }
    wrong
}

fn interval(report: &Value) -> [Option<Rational>; 2] {
    [0, 1].map(|side| report["probability"][side].as_str().map(number))
}

fn number(text: &str) -> Rational {
    text.parse().unwrap_or_else(|_| panic!("{text} is no number"))
}
