//! What a run answered: from the result file of policert, or from what another program printed.

use std::io::Read as _;
use std::path::Path;

use policert_outcome::FileDigest;
use serde_json::Value;

use super::film;
use super::process::Files;
use crate::journal::RunResult;
use crate::measure::Measurement;
use crate::suite::OutputRule;

/// Members of a result file that a journal leaves out: large ones, and what it has elsewhere.
const LEFT_OUT: [&str; 13] = [
    "arguments",
    "boxes",
    "cells",
    "exit_code",
    "inputs",
    "peak_memory_mb",
    "probability",
    "reason",
    "schema_version",
    "time_s",
    "value",
    "verdict",
    "version",
];
/// More of a program's output is not read.
const MOST_OUTPUT: u64 = 16 << 20;

/// The answer of a run of policert, the files that it read, and the version of the program, if it said that.
pub(super) fn of_result(
    command: &str,
    files: &Files<'_>,
    measurement: &Measurement,
) -> (RunResult, Vec<FileDigest>, Option<String>) {
    let text = std::fs::read(files.result).unwrap_or_default();
    let mut value: Value = serde_json::from_slice(&text).unwrap_or(Value::Null);
    let text_of = |name: &str| value[name].as_str().map(str::to_owned);
    let verdict = match (command, measurement.exit_code) {
        ("certify", Some(0)) => Some("confirmed".to_owned()),
        ("certify", Some(51)) => Some("rejected".to_owned()),
        ("train" | "simulate" | "check", Some(0)) => Some("done".to_owned()),
        // The verdict of evidence that was not checked to its end is none.
        ("certify" | "train" | "simulate" | "check", _) => None,
        _ => text_of("verdict"),
    };
    let mut result = RunResult {
        verdict: verdict.unwrap_or_else(|| "none".to_owned()),
        exit_code: measurement.exit_code,
        reason: text_of("reason").or_else(|| value.is_null().then(|| ending(files, measurement))),
        time_s: measurement.time_s,
        cpu_s: Some(measurement.cpu_s),
        peak_memory_mb: Some(measurement.peak_memory_mb),
        probability: serde_json::from_value(value["probability"].clone()).unwrap_or_default(),
        value: text_of("value"),
        semantics: value["semantics"]["text"].as_str().map(str::to_owned),
        report: Value::Null,
    };
    let version = text_of("version");
    let inputs = value.get_mut("inputs").map(Value::take).unwrap_or_default();
    let is_of_run = value["evidence_file"]["path"].as_str().map(Path::new) == Some(files.evidence);
    if let Some(members) = value.as_object_mut() {
        if is_of_run {
            members.remove("evidence_file");
            members.extend(film::kept(files.evidence).map(|film| ("film".to_owned(), film)));
        }
        members.retain(|name, _| !LEFT_OUT.contains(&name.as_str()));
    }
    result.report = value;
    (result, serde_json::from_value(inputs).unwrap_or_default(), version)
}

/// The answer of another program: the first rule that some line of its output fits.
pub(super) fn of_output(
    rules: &[OutputRule],
    files: &Files<'_>,
    measurement: &Measurement,
) -> RunResult {
    let output = beginning(files.output, MOST_OUTPUT);
    let read = rules.iter().find_map(|rule| {
        let found = output.lines().find_map(|line| fits(line, &rule.line));
        found.map(|value| (rule.verdict.clone(), value))
    });
    // What was printed before the end of the time is no answer.
    let read = read.filter(|_| !measurement.is_out_of_time && measurement.signal.is_none());
    let no_number = read.as_ref().and_then(|(verdict, value)| {
        let value =
            value.as_deref().filter(|value| verdict == "probability" && !is_share(value))?;
        Some(format!("`{value}` is no probability"))
    });
    let read = read.filter(|_| no_number.is_none());
    let is_cut = std::fs::metadata(files.output).is_ok_and(|file| file.len() > MOST_OUTPUT);
    let nothing = || match is_cut {
        true => format!("no result in the first {} MB of its output", MOST_OUTPUT >> 20),
        false => ending(files, measurement),
    };
    let reason = read.is_none().then(|| no_number.unwrap_or_else(nothing));
    let (verdict, value) = read.unwrap_or_else(|| ("none".to_owned(), None));
    RunResult {
        verdict,
        exit_code: measurement.exit_code,
        reason,
        time_s: measurement.time_s,
        cpu_s: Some(measurement.cpu_s),
        peak_memory_mb: Some(measurement.peak_memory_mb),
        probability: None,
        value,
        semantics: None,
        report: Value::Null,
    }
}

/// Whether a word is a number between 0 and 1: a decimal or a fraction.
fn is_share(word: &str) -> bool {
    let number = |text: &str| text.parse::<f64>().ok();
    let value = match word.split_once('/') {
        Some((above, below)) => number(above).zip(number(below)).map(|(a, b)| a / b),
        None => number(word),
    };
    value.is_some_and(|value| (0.0..=1.0).contains(&value))
}

/// Whether a pattern is a part of a line, and the word that it keeps.
fn fits(line: &str, pattern: &str) -> Option<Option<String>> {
    let mut parts = pattern.split("{value}");
    let mut rest = after(line, parts.next()?.split('*'))?;
    let mut kept = None;
    for part in parts {
        // What stands behind the word in the pattern follows it at once.
        let mut texts = part.split('*');
        let next = texts.next().filter(|next| !next.is_empty());
        rest = rest.trim_start();
        let word = match next {
            Some(next) => rest.split_once(next)?.0,
            None => rest.split(char::is_whitespace).next()?,
        };
        if word.is_empty() || word.contains(char::is_whitespace) {
            return None;
        }
        rest = after(&rest[word.len() + next.map_or(0, str::len)..], texts)?;
        // A sign of punctuation is no part of a number.
        kept = Some(word.trim_end_matches([',', ';', ']', ')', '}']).to_owned());
    }
    Some(kept)
}

/// What follows these texts in a line, in which they stand one after the other.
fn after<'a, 'b>(line: &'a str, texts: impl Iterator<Item = &'b str>) -> Option<&'a str> {
    let mut rest = line;
    for text in texts {
        rest = rest.split_once(text)?.1;
    }
    Some(rest)
}

/// How a run ended that has no answer.
fn ending(files: &Files<'_>, measurement: &Measurement) -> String {
    let message = first_line(files.messages);
    match (measurement.exit_code, measurement.signal) {
        _ if measurement.is_out_of_time => "the limit of the time".to_owned(),
        (_, Some(signal)) => format!("ended by signal {signal}"),
        _ if !message.is_empty() => message,
        (Some(code), None) => format!("no result, exit code {code}"),
        (None, None) => "no result".to_owned(),
    }
}

/// The beginning of what a run said.
pub(super) fn first_line(file: &Path) -> String {
    let text = beginning(file, 4096);
    text.lines().next().unwrap_or_default().chars().take(500).collect()
}

fn beginning(file: &Path, most: u64) -> String {
    let mut bytes = Vec::new();
    let opened = std::fs::File::open(file);
    // What cannot be read says nothing.
    let _ = opened.and_then(|file| file.take(most).read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_by_patterns() {
        let line = "Result (for initial states): 0.25, exact";
        assert_eq!(fits(line, "initial states): {value}"), Some(Some("0.25".to_owned())));
        assert_eq!(fits(line, "Result*exact"), Some(None));
        assert_eq!(fits(line, "{value}, exact"), None, "the first word is another one");
        assert_eq!(fits(line, "states): {value}, exact"), Some(Some("0.25".to_owned())));
        assert_eq!(fits(line, "unsat"), None);
        assert_eq!(fits("p = [0.5]", "p = [{value}"), Some(Some("0.5".to_owned())));
        assert_eq!(fits("p =", "p = {value}"), None);
    }

    #[test]
    fn probabilities_lie_between_0_and_1() {
        assert!(["0", "1.0", "2.5e-3", "1/3"].into_iter().all(is_share));
        assert!(!["nan", "-3", "1.5", "3/2", "1/0", "inf", "-0.1", ""].into_iter().any(is_share));
    }
}
