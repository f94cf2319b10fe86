//! How many instances of each domain each configuration solves (POLIC3, Table 1), and whether
//! verdicts agree.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::journal::Entry;
use crate::suite::Suite;

/// The table of coverage; nothing if no instance has a domain.
pub(super) fn coverage(text: &mut String, suite: &Suite, entries: &[Entry]) {
    let domains: BTreeSet<&str> =
        suite.instances.iter().filter_map(|instance| instance.domain.as_deref()).collect();
    if domains.is_empty() {
        return;
    }
    *text += "\n## Coverage\n\nInstances with a verdict, by domain; in brackets those that were run. The best \
              are bold.\n\n| configuration |";
    for domain in &domains {
        let _ = write!(text, " {domain} |");
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
        let _ = write!(text, "| {} |", configuration.name);
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
    fn of(suite: &Suite, entries: &[Entry], domain: Option<&str>, configuration: &str) -> Self {
        let counts = |entry: &&Entry| {
            entry.key.configuration == configuration
                && suite.instances.iter().any(|instance| {
                    instance.name == entry.key.instance
                        && instance.domain.is_some()
                        && (domain.is_none() || instance.domain.as_deref() == domain)
                })
        };
        let runs = entries.iter().filter(counts);
        Self { solved: runs.clone().filter(|e| has_verdict(e)).count(), runs: runs.count() }
    }
}

fn has_verdict(entry: &Entry) -> bool {
    matches!(&*entry.result.verdict, "safe" | "unsafe")
}

/// Instances where one configuration says safe and another unsafe.
fn agreement(text: &mut String, suite: &Suite, entries: &[Entry]) {
    let mut compared = 0;
    let mut differ = Vec::new();
    for instance in suite.instances.iter().filter(|instance| instance.domain.is_some()) {
        let of_instance = entries.iter().filter(|entry| entry.key.instance == instance.name);
        let verdicts: Vec<&str> =
            of_instance.filter(|e| has_verdict(e)).map(|e| &*e.result.verdict).collect();
        compared += usize::from(verdicts.len() > 1);
        if verdicts.windows(2).any(|pair| pair[0] != pair[1]) {
            differ.push(format!("`{}`", instance.name));
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
    use crate::journal::{RunKey, RunResult};

    fn entry(instance: &str, configuration: &str, verdict: &str) -> Entry {
        Entry {
            key: RunKey {
                instance: instance.to_owned(),
                configuration: configuration.to_owned(),
                share: None,
            },
            arguments: Vec::new(),
            limits: (1.0, "1GB".to_owned()),
            result: RunResult {
                verdict: verdict.to_owned(),
                exit_code: Some(0),
                reason: None,
                time_s: 0.5,
                peak_memory_mb: None,
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
        assert!(table.contains("**Verdicts differ** on `c`."), "{table}");
    }
}
