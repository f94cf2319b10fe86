//! Tables: all runs as CSV; one table for each instance, and that of bounded model checking.

use std::fmt::Write as _;

use policert_files::{csv_field, markdown as cell};
use serde_json::Value;

use super::coverage::coverage;
use crate::journal::{JournalEntry, RunResult};
use crate::suite::{Figure, Suite, SuiteInstance};

/// Columns of the CSV file and of tables after the time: title, key in `statistics`.
const NUMBERS: [(&str, &str); 7] = [
    ("predicates", "predicates"),
    ("start", "start_states"),
    ("proved safe", "start_states_proved_safe"),
    ("expanded", "expanded_states"),
    ("reachable", "reachable_states"),
    ("transitions", "transitions"),
    ("unsafe", "unsafe_states"),
];

/// All runs.
pub(super) fn csv(entries: &[JournalEntry]) -> String {
    let mut text = String::from("instance,configuration,share,verdict,exit_code,time_s,memory_mb");
    for (_, key) in NUMBERS {
        text += ",";
        text += key;
    }
    text += ",probability_low,probability_high,value,reason\n";
    for JournalEntry { key, result, .. } in entries {
        let share = key.share.map_or(String::new(), |share| share.to_string());
        let code = result.exit_code.map_or(String::new(), |code| code.to_string());
        let memory = result.peak_memory_mb.map_or(String::new(), |mb| mb.to_string());
        let _ = write!(
            text,
            "{},{},{share},{},{code},{},{memory}",
            csv_field(&key.instance),
            csv_field(&key.configuration),
            csv_field(&result.verdict),
            result.time_s,
        );
        for (_, name) in NUMBERS {
            let _ = write!(text, ",{}", number(result, name));
        }
        let [low, high] = result.probability.clone().unwrap_or_default();
        let last = [&*low, &*high, result.value.as_deref().unwrap_or_default()];
        for field in last.into_iter().chain([result.reason.as_deref().unwrap_or_default()]) {
            let _ = write!(text, ",{}", csv_field(field));
        }
        text.push('\n');
    }
    text
}

fn number(result: &RunResult, name: &str) -> String {
    match &result.statistics[name] {
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    }
}

/// A table for each instance.
pub(super) fn markdown(suite: &Suite, entries: &[JournalEntry], about: &str) -> String {
    // All runs of a journal have the same limits.
    let of_suite = (suite.seconds, suite.memory.clone());
    let (seconds, memory) = entries.first().map_or(&of_suite, |entry| &entry.limits);
    let mut text = format!(
        "# {}\n\nLimits of each run, where a configuration names no other: {seconds} s, {}. Times are \
         those of the whole process.\n",
        cell(&suite.name),
        cell(memory)
    );
    text += about;
    coverage(&mut text, suite, entries);
    for instance in &suite.instances {
        let _ = writeln!(text, "\n## {}\n", cell(&instance.name));
        table(&mut text, instance, entries);
    }
    unrolling(&mut text, suite, entries);
    text
}

fn table(text: &mut String, instance: &SuiteInstance, entries: &[JournalEntry]) {
    *text += "| configuration | share | verdict | time (s) | memory (MB) |";
    for (title, _) in NUMBERS {
        let _ = write!(text, " {title} |");
    }
    *text += "\n|---|---|---|---|---|";
    *text += &"---|".repeat(NUMBERS.len());
    *text += "\n";
    for JournalEntry { key, result, .. } in
        entries.iter().filter(|e| e.key.instance == instance.name)
    {
        let share = key.share.map_or(String::new(), |share| format!("{share} %"));
        let verdict = verdict(result);
        let memory = result.peak_memory_mb.map_or(String::new(), |mb| format!("{mb:.0}"));
        let _ = write!(
            text,
            "| {} | {share} | {verdict} | {:.2} | {memory} |",
            cell(&key.configuration),
            result.time_s
        );
        for (_, name) in NUMBERS {
            let _ = write!(text, " {} |", number(result, name));
        }
        *text += "\n";
    }
}

/// The verdict, with the probability or the reason where there is one.
fn verdict(result: &RunResult) -> String {
    let probability = match (&result.value, &result.probability) {
        (Some(value), _) => Some(value.clone()),
        (None, Some([low, high])) if low == high => Some(low.clone()),
        (None, Some([low, high])) => Some(format!("from {low} to {high}")),
        (None, None) => None,
    };
    let word = &*result.verdict;
    let text = match (word, probability, &result.reason) {
        (_, Some(probability), None) => format!("{word}: {probability}"),
        (_, Some(probability), Some(reason)) => format!("{word}: {probability}; {reason}"),
        ("safe" | "unsafe", None, _) | (_, None, None) => word.to_owned(),
        (_, None, Some(reason)) => format!("{word}: {reason}"),
    };
    cell(&text)
}

/// Bounded model checking: the shortest unsafe path, the time, the greatest length checked.
fn unrolling(text: &mut String, suite: &Suite, entries: &[JournalEntry]) {
    let unrolls = |name: &str| {
        suite
            .configurations
            .iter()
            .any(|c| c.name == name && c.figures.contains(&Figure::Unrolling))
    };
    let runs: Vec<&JournalEntry> =
        entries.iter().filter(|e| unrolls(&e.key.configuration)).collect();
    if runs.is_empty() {
        return;
    }
    *text += "\n## Bounded model checking\n\n\
              | instance | configuration | verdict | shortest unsafe path | time (s) | \
              greatest length checked |\n|---|---|---|---|---|---|\n";
    for JournalEntry { key, result, .. } in runs {
        let shortest = number(result, "counterexample_steps");
        let checked = match &result.statistics["bmc"]["largest_length_checked"] {
            Value::Number(number) => number.to_string(),
            _ => String::new(),
        };
        let _ = writeln!(
            text,
            "| {} | {} | {} | {shortest} | {:.2} | {checked} |",
            cell(&key.instance),
            cell(&key.configuration),
            cell(&result.verdict),
            result.time_s
        );
    }
}
