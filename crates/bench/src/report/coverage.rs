//! How many instances of each domain each configuration solves (POLIC3, Table 1), and whether
//! verdicts agree.

use std::collections::BTreeSet;

use policert_outcome::decimal;
use policert_page::{Cell, Table};

use crate::journal::{JournalEntry, RunResult};
use crate::suite::Suite;

/// The table of coverage, and whether answers agree; none if no instance has a domain.
pub(super) fn coverage(suite: &Suite, entries: &[JournalEntry]) -> Option<(Table, String)> {
    let domains: BTreeSet<&str> =
        suite.instances.iter().filter_map(|instance| instance.domain.as_deref()).collect();
    if domains.is_empty() {
        return None;
    }
    let columns: Vec<Option<&str>> = domains.iter().copied().map(Some).chain([None]).collect();
    let counts: Vec<Vec<Count>> = columns
        .iter()
        .map(|domain| {
            let names = suite.configurations.iter().map(|configuration| &*configuration.name);
            names.map(|name| Count::of(suite, entries, *domain, name)).collect()
        })
        .collect();
    let rows = suite.configurations.iter().enumerate().map(|(row, configuration)| {
        let counted = counts.iter().map(|column| {
            let best = column.iter().map(|count| count.solved).max().unwrap_or(0);
            let Count { solved, runs } = column[row];
            let text = format!("{solved} ({runs})");
            if solved == best && solved > 0 { Cell::Best(text) } else { Cell::Text(text) }
        });
        [Cell::Text(configuration.name.clone())].into_iter().chain(counted).collect()
    });
    let heads = ["configuration"].into_iter().chain(domains.iter().copied()).chain(["all"]);
    let table = Table {
        id: "coverage".to_owned(),
        caption: "Coverage: instances with a verdict, by domain; in brackets those that were run. \
                  The best are bold."
            .to_owned(),
        columns: heads.map(str::to_owned).collect(),
        rows: rows.collect(),
        filters: false,
    };
    Some((table, agreement(suite, entries)))
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
        // A question counts once, with how many shares of predicates it may have been run.
        let instance =
            |entry: &'_ JournalEntry| format!("{} {:?}", entry.key.instance, varied(suite, entry));
        let runs: BTreeSet<String> = entries.iter().filter(counts).map(instance).collect();
        let solved = entries.iter().filter(counts).filter(|e| e.result.has_answer()).map(instance);
        Self { solved: solved.collect::<BTreeSet<_>>().len(), runs: runs.len() }
    }
}

/// Returns what a run was asked beside its instance: whatever changes what the answer means. The
/// values of axes that the instance's own options name change it.
fn question<'a>(suite: &Suite, entry: &'a JournalEntry) -> Question<'a> {
    let arguments = &entry.arguments;
    let bound = arguments.iter().enumerate().find_map(|(at, argument)| match argument.as_str() {
        "--bound" => arguments.get(at + 1).map(String::as_str),
        other => other.strip_prefix("--bound="),
    });
    (entry.result.semantics.as_deref(), bound, varied(suite, entry))
}

/// The values of the instance's axes, but of that of shares.
fn varied<'a>(suite: &Suite, entry: &'a JournalEntry) -> Vec<(&'a str, &'a str)> {
    let varies = suite.instance(&entry.key).map(|instance| &instance.axes);
    let of_instance = |name: &&String| varies.is_some_and(|axes| axes.contains_key(*name));
    let at = entry.key.at.iter().filter(|(name, _)| of_instance(name) && *name != SHARE);
    at.map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

/// The meaning of an answer, its bound, and the values of axes.
type Question<'a> = (Option<&'a str>, Option<&'a str>, Vec<(&'a str, &'a str)>);

/// The axis of shares of predicates, which change no answer.
const SHARE: &str = "share";

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
fn agreement(suite: &Suite, entries: &[JournalEntry]) -> String {
    let mut compared = 0;
    let mut differ = Vec::new();
    for instance in suite.instances.iter().filter(|instance| instance.domain.is_some()) {
        let of_instance = entries.iter().filter(|entry| entry.key.instance == instance.name);
        let answers: Vec<&JournalEntry> = of_instance.filter(|e| e.result.has_answer()).collect();
        let mut of_one_question = false;
        let mut contradicted = false;
        for (at, a) in answers.iter().enumerate() {
            for b in answers[at + 1..].iter().filter(|b| question(suite, a) == question(suite, b)) {
                of_one_question = true;
                contradicted |= contradict(&a.result, &b.result);
            }
        }
        compared += usize::from(of_one_question);
        if contradicted {
            differ.push(instance.name.clone());
        }
    }
    match &*differ {
        [] => {
            format!("Verdicts agree on all {compared} instances that several configurations solve.")
        }
        names => format!("Verdicts differ on {}.", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::Value;

    use super::super::tables::markdown_table;

    use super::*;
    use crate::journal::RunKey;

    fn entry(instance: &str, configuration: &str, verdict: &str) -> JournalEntry {
        JournalEntry {
            key: RunKey {
                instance: instance.to_owned(),
                configuration: configuration.to_owned(),
                at: BTreeMap::new(),
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
                cpu_s: None,
                peak_memory_mb: None,
                probability: None,
                value: None,
                semantics: None,
                report: Value::Null,
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
        let (table, agreement) = coverage(&suite, &entries).expect("domains");
        let table = markdown_table(&table);
        assert!(table.contains("| x | **1 (1)** | 1 (2) | **2 (3)** |"), "{table}");
        assert!(table.contains("| y | 0 (0) | **2 (2)** | **2 (2)** |"), "{table}");
        assert!(agreement.contains("agree on all 1 instances"), "{agreement}");
        entries.push(entry("c", "y", "safe"));
        let (_, agreement) = coverage(&suite, &entries).expect("domains");
        assert_eq!(agreement, "Verdicts differ on c.");
    }
    #[test]
    fn an_instance_with_several_shares_counts_once() {
        let text = r#"
name = "s"
folder = "."
seconds = 1
memory = "1GB"
instance = [{ name = "a", domain = "walk", arguments = [], axes = { share = [10, 20, 30] } }]
configuration = [{ name = "x", arguments = ["splits:{share}"] }]
"#;
        let suite: Suite = toml::from_str(text).expect("a suite");
        let entries: Vec<JournalEntry> = [10, 20, 30]
            .map(|share| {
                let mut entry = entry("a", "x", "safe");
                entry.key.at.insert("share".to_owned(), share.to_string());
                entry
            })
            .into();
        let (table, _) = coverage(&suite, &entries).expect("a domain");
        let table = markdown_table(&table);
        assert!(table.contains("| x | **1 (1)** | **1 (1)** |"), "{table}");
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
        assert!(a.result.has_answer());
        assert!(!contradict(&a.result, &b.result) && contradict(&a.result, &c.result));
        let bounded = |bound: &str| {
            let mut entry = entry("a", "x", "safe");
            entry.arguments = vec!["verify".to_owned(), "--bound".to_owned(), bound.to_owned()];
            entry
        };
        let text =
            "name = \"s\"\nfolder = \".\"\nseconds = 1\nmemory = \"1GB\"\nconfiguration = []";
        let suite: Suite = toml::from_str(text).expect("a suite");
        let (small, large) = (bounded("0.1"), bounded("0.2"));
        assert_ne!(question(&suite, &small), question(&suite, &large));
        assert_eq!(question(&suite, &small), question(&suite, &bounded("0.1")));
    }
}
