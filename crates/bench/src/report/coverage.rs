//! How many instances of each domain each configuration solves (POLIC3, Table 1), and whether
//! verdicts agree.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use policert_files::markdown as cell;
use policert_outcome::decimal;

use crate::journal::{JournalEntry, RunResult};
use crate::suite::Suite;

/// The table of coverage; nothing if no instance has a domain.
pub(super) fn coverage(text: &mut String, suite: &Suite, entries: &[JournalEntry]) {
    let domains: BTreeSet<&str> =
        suite.instances.iter().filter_map(|instance| instance.domain.as_deref()).collect();
    if domains.is_empty() {
        return;
    }
    *text += "\n## Coverage\n\nInstances with a verdict, by domain; in brackets those that were run. The best \
              are bold.\n\n| configuration |";
    for domain in &domains {
        let _ = write!(text, " {} |", cell(domain));
    }
    *text += " all |\n|---|";
    *text += &"---|".repeat(domains.len() + 1);
    *text += "\n";
    let columns: Vec<Option<&str>> = domains.into_iter().map(Some).chain([None]).collect();
    let counts: Vec<Vec<Count>> = columns
        .iter()
        .map(|domain| {
            let names = suite.configurations.iter().map(|configuration| &*configuration.name);
            names.map(|name| Count::of(suite, entries, *domain, name)).collect()
        })
        .collect();
    for (row, configuration) in suite.configurations.iter().enumerate() {
        let _ = write!(text, "| {} |", cell(&configuration.name));
        for column in &counts {
            let best = column.iter().map(|count| count.solved).max().unwrap_or(0);
            let Count { solved, runs } = column[row];
            let bold = if solved == best && solved > 0 { "**" } else { "" };
            let _ = write!(text, " {bold}{solved}{bold} ({runs}) |");
        }
        *text += "\n";
    }
    agreement(text, suite, entries);
}

/// Instances that one configuration solves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Count {
    solved: usize,
    runs: usize,
}

impl Count {
    /// The count of a configuration in a domain, or in all of them.
    fn of(
        suite: &Suite,
        entries: &[JournalEntry],
        domain: Option<&str>,
        configuration: &str,
    ) -> Self {
        let counts = |entry: &&JournalEntry| {
            entry.key.configuration == configuration
                && suite.instances.iter().any(|instance| {
                    instance.name == entry.key.instance
                        && instance.domain.is_some()
                        && (domain.is_none() || instance.domain.as_deref() == domain)
                })
        };
        // An instance counts once, with how many shares of predicates it may have been run.
        let instance = |entry: &'_ JournalEntry| entry.key.instance.clone();
        let runs: BTreeSet<String> = entries.iter().filter(counts).map(instance).collect();
        let solved = entries.iter().filter(counts).filter(|e| has_verdict(e)).map(instance);
        Self { solved: solved.collect::<BTreeSet<_>>().len(), runs: runs.len() }
    }
}

fn has_verdict(entry: &JournalEntry) -> bool {
    matches!(&*entry.result.verdict, "safe" | "unsafe" | "probability")
}

/// Returns what a run was asked beside its instance: whatever changes what the answer means.
fn question(entry: &JournalEntry) -> (Option<&str>, Option<&str>) {
    let arguments = &entry.arguments;
    let bound = arguments.iter().enumerate().find_map(|(at, argument)| match argument.as_str() {
        "--bound" => arguments.get(at + 1).map(String::as_str),
        other => other.strip_prefix("--bound="),
    });
    (entry.result.semantics.as_deref(), bound)
}

/// Returns whether two answers to one question contradict each other.
fn contradict(a: &RunResult, b: &RunResult) -> bool {
    let words = [&*a.verdict, &*b.verdict];
    let bounds = |result: &RunResult| {
        let [low, high] = result.probability.as_ref()?;
        Some((decimal::parse(low)?, decimal::parse(high)?))
    };
    let apart = match (bounds(a), bounds(b)) {
        (Some((a_low, a_high)), Some((b_low, b_high))) => a_high < b_low || b_high < a_low,
        _ => false,
    };
    apart || matches!(words, ["safe", "unsafe"] | ["unsafe", "safe"])
}

/// Instances where answers to one question contradict each other.
fn agreement(text: &mut String, suite: &Suite, entries: &[JournalEntry]) {
    let mut compared = 0;
    let mut differ = Vec::new();
    for instance in suite.instances.iter().filter(|instance| instance.domain.is_some()) {
        let of_instance = entries.iter().filter(|entry| entry.key.instance == instance.name);
        let answers: Vec<&JournalEntry> = of_instance.filter(|e| has_verdict(e)).collect();
        let mut of_one_question = false;
        let mut contradicted = false;
        for (at, a) in answers.iter().enumerate() {
            for b in answers[at + 1..].iter().filter(|b| question(a) == question(b)) {
                of_one_question = true;
                contradicted |= contradict(&a.result, &b.result);
            }
        }
        compared += usize::from(of_one_question);
        if contradicted {
            differ.push(cell(&instance.name));
        }
    }
    let _ = match &*differ {
        [] => writeln!(
            text,
            "\nVerdicts agree on all {compared} instances that several configurations solve."
        ),
        names => writeln!(text, "\n**Verdicts differ** on {}.", names.join(", ")),
    };
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::journal::RunKey;

    fn entry(instance: &str, configuration: &str, verdict: &str) -> JournalEntry {
        JournalEntry {
            key: RunKey {
                instance: instance.to_owned(),
                configuration: configuration.to_owned(),
                share: None,
            },
            arguments: Vec::new(),
            limits: (1.0, "1GB".to_owned()),
            version: String::new(),
            files: Vec::new(),
            result: RunResult {
                verdict: verdict.to_owned(),
                exit_code: Some(0),
                reason: None,
                time_s: 0.5,
                peak_memory_mb: None,
                probability: None,
                value: None,
                semantics: None,
                statistics: Value::Null,
            },
        }
    }

    #[test]
    fn solved_instances_are_counted_and_compared() {
        let text = r#"
name = "s"
folder = "."
seconds = 1
memory = "1GB"
instance = [
  { name = "a", domain = "walk", arguments = [] },
  { name = "b", domain = "walk", arguments = [] },
  { name = "c", domain = "run", arguments = [] },
  { name = "d", arguments = [] },
]
configuration = [{ name = "x", arguments = [] }, { name = "y", arguments = [] }]
"#;
        let suite: Suite = toml::from_str(text).expect("a suite");
        let mut entries = vec![
            entry("a", "x", "safe"),
            entry("a", "y", "safe"),
            entry("b", "x", "unknown"),
            entry("b", "y", "unsafe"),
            entry("c", "x", "unsafe"),
            entry("d", "x", "safe"),
            entry("d", "y", "unsafe"),
        ];
        let mut table = String::new();
        coverage(&mut table, &suite, &entries);
        assert!(table.contains("| x | **1** (1) | 1 (2) | **2** (3) |"), "{table}");
        assert!(table.contains("| y | 0 (0) | **2** (2) | **2** (2) |"), "{table}");
        assert!(table.contains("agree on all 1 instances"), "{table}");
        entries.push(entry("c", "y", "safe"));
        table.clear();
        coverage(&mut table, &suite, &entries);
        assert!(table.contains("**Verdicts differ** on c."), "{table}");
    }
    #[test]
    fn an_instance_with_several_shares_counts_once() {
        let text = r#"
name = "s"
folder = "."
seconds = 1
memory = "1GB"
instance = [{ name = "a", domain = "walk", arguments = [], shares = [10, 20, 30] }]
configuration = [{ name = "x", arguments = [] }]
"#;
        let suite: Suite = toml::from_str(text).expect("a suite");
        let entries: Vec<JournalEntry> = [10, 20, 30]
            .map(|share| {
                let mut entry = entry("a", "x", "safe");
                entry.key.share = Some(share);
                entry
            })
            .into();
        let mut table = String::new();
        coverage(&mut table, &suite, &entries);
        assert!(table.contains("| x | **1** (1) | **1** (1) |"), "{table}");
    }

    #[test]
    fn a_probability_is_an_answer_and_another_bound_another_question() {
        let probability = |low: &str, high: &str| {
            let mut entry = entry("a", "x", "probability");
            entry.result.probability = Some([low.to_owned(), high.to_owned()]);
            entry
        };
        let (a, b, c) =
            (probability("0.1", "0.3"), probability("0.2", "0.4"), probability("0.31", "1"));
        assert!(has_verdict(&a));
        assert!(!contradict(&a.result, &b.result) && contradict(&a.result, &c.result));
        let bounded = |bound: &str| {
            let mut entry = entry("a", "x", "safe");
            entry.arguments = vec!["verify".to_owned(), "--bound".to_owned(), bound.to_owned()];
            entry
        };
        assert_ne!(question(&bounded("0.1")), question(&bounded("0.2")));
        assert_eq!(question(&bounded("0.1")), question(&bounded("0.1")));
    }
}
