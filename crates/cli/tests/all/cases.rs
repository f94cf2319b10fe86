//! The collection of small cases with known answers: each command is run, and everything that
//! the case expects is compared. What needs something that does not exist yet stands in a list
//! with its reason. The variable `POLICERT_CASES` names the cases to run, separated by commas, in
//! place of all of them.

mod case_file;
mod comparison;
mod pending;
mod probability;
mod query;
mod reach;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;

use case_file::{Case, Run};
use pending::PENDING;
use policert_testkit::cases_folder;

const GROUPS: [&str; 9] =
    ["certify", "cli", "jani", "mdp", "policy", "ppa", "query", "reach", "trees"];

#[test]
fn every_case_is_answered_as_expected() {
    let collection = cases_folder();
    let chosen = std::env::var("POLICERT_CASES").ok();
    let is_chosen =
        |name: &str| chosen.as_ref().is_none_or(|list| list.split(',').any(|case| case == name));
    let mut pending: BTreeMap<(String, usize), &str> = PENDING
        .iter()
        .filter(|(case, ..)| is_chosen(case))
        .map(|&(case, at, reason)| ((case.to_owned(), at), reason))
        .collect();
    let (mut passed, mut failures, mut waiting) = (0, String::new(), String::new());
    for group in GROUPS {
        let cases = Case::read_all(&collection.join(group));
        assert!(!cases.is_empty(), "no cases in group {group}");
        for case in cases {
            let name = format!("{group}/{}", case.name);
            if !is_chosen(&name) {
                continue;
            }
            for (at, run) in case.runs.iter().enumerate() {
                let wrong = comparison::differences(&case, run);
                let title = |run: &Run| format!("{name} [{at}]: {}", run.command);
                match (pending.remove(&(name.clone(), at)), wrong.is_empty()) {
                    (None, true) => passed += 1,
                    (None, false) => {
                        let _ = writeln!(failures, "{}\n  {}", title(run), wrong.join("\n  "));
                    }
                    (Some(reason), false) => {
                        let _ = writeln!(waiting, "pending ({reason}): {}", title(run));
                    }
                    (Some(reason), true) => {
                        let _ = writeln!(
                            failures,
                            "{}\n  passes, but is listed as pending ({reason})",
                            title(run)
                        );
                    }
                }
            }
        }
    }
    for (case, at) in pending.into_keys() {
        let _ = writeln!(failures, "{case} [{at}] is listed as pending and does not exist");
    }
    let mut log = std::io::stderr();
    writeln!(log, "{waiting}{passed} runs as expected").expect("standard error");
    assert!(passed > 0 || !waiting.is_empty(), "no case was run");
    assert!(failures.is_empty(), "\n{failures}");
}
