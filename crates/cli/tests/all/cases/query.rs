//! Compares the answer to a query, and checks its witness: what is printed is read back, the
//! outputs are computed anew, and the property is evaluated at them.

use std::path::Path;
use std::process::Output;

use policert_numeric::Rational;
use policert_policy::{ExactEvaluator, read_network};
use policert_vnnlib::read_property;
use serde_json::Value;

use super::case_file::Expect;

/// The differences from the expected result; `words` are `query NET PROPERTY …`.
pub fn differences(
    folder: &Path,
    words: &[&str],
    expect: &Expect,
    output: &Output,
    report: &Value,
) -> Vec<String> {
    let mut wrong = Vec::new();
    let text = String::from_utf8_lossy(&output.stdout);
    let (answer, rest) = text.split_once('\n').unwrap_or((&text, ""));
    if let Some(expected) = &expect.answer
        && (answer != expected || report["answer"] != expected.as_str())
    {
        wrong.push(format!("{expected} expected, {answer} and {} found", report["answer"]));
    }
    if answer != "sat" {
        if !rest.is_empty() || !report["witness"].is_null() {
            wrong.push(format!("a witness with the answer {answer}: {rest}"));
        }
        return wrong;
    }
    let values = witness(rest);
    let network = read_network(&folder.join(words[1])).expect("a network").network;
    let property = read_property(&folder.join(words[2])).expect("a property");
    let names = |kind: &str, count| (0..count).map(|i| format!("{kind}_{i}")).collect::<Vec<_>>();
    let expected = [names("X", property.inputs), names("Y", property.outputs)].concat();
    if !values.iter().map(|(name, _)| name).eq(&expected) {
        wrong.push(format!("the witness names other variables than {expected:?}: {rest}"));
        return wrong;
    }
    let (inputs, printed) = values.split_at(property.inputs);
    let mut point: Vec<Rational> = inputs.iter().map(|(_, value)| value.clone()).collect();
    point.extend(ExactEvaluator::new(&network).expect("piecewise linear").scores_at(&point));
    if !property.holds(&point) {
        wrong.push(format!("the witness does not satisfy the property: {point:?}"));
    }
    for ((name, printed), exact) in printed.iter().zip(&point[property.inputs..]) {
        if (printed - exact).abs().to_f64() > 1e-12 * exact.abs().to_f64() {
            wrong.push(format!("{name} is {exact}, not {printed}"));
        }
    }
    for (name, value) in expect.witness.iter().flatten() {
        let value: Rational = value.as_str().expect("a text").parse().expect("a number");
        if !values.contains(&(name.clone(), value.clone())) {
            wrong.push(format!("{name} = {value} is the only witness, not {rest}"));
        }
    }
    wrong
}

/// Names and values of a witness as it is printed, one a line.
fn witness(text: &str) -> Vec<(String, Rational)> {
    let balanced = text.matches('(').count() == text.matches(')').count();
    assert!(balanced && text.starts_with("((") && text.ends_with("))\n"), "{text}");
    let inner = &text[1..text.len() - 2];
    let value = |line: &str| {
        let pair = line.trim().strip_prefix('(').and_then(|line| line.strip_suffix(')'));
        let (name, value) = pair.and_then(|pair| pair.split_once(' ')).expect("(name value)");
        (name.to_owned(), value.parse().expect("a decimal"))
    };
    inner.lines().map(value).collect()
}
