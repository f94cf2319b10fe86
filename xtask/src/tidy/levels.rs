//! The one direction of dependency between crates: from a higher level to a lower one.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

use super::{Finding, members};

/// The page with the table of levels.
const TABLE: &str = "ARCHITECTURE.md";

/// The level of what none may use.
const TOP: u8 = u8::MAX;

/// The crate of test generators and oracles: only tests use it.
const TESTKIT: &str = "policert-testkit";

/// Crates that may not use everything below them: the evidence checker shares nothing with the
/// engines and their bounds.
const NARROWER: [(&str, &[&str]); 1] = [(
    "policert-certify",
    &[
        "policert-control-loop",
        "policert-numeric",
        "policert-model",
        "policert-policy",
        "policert-engine-api",
        "policert-smt",
    ],
)];

/// Crates that may not use some of what is below them: whoever verifies builds no trainer, no font and no
/// encoder of pictures.
const APART: [(&str, &[&str]); 1] = [(
    "policert-verify",
    &["policert-convert", "policert-lab", "policert-plot", "policert-query", "policert-train"],
)];

/// Checks every edge between crates of the workspace.
pub fn check(root: &Path, metadata: &Value) -> Result<Vec<Finding>> {
    let table = fs::read_to_string(root.join(TABLE)).with_context(|| TABLE.to_owned())?;
    check_by(&Levels::read(&table)?, metadata)
}

fn check_by(levels: &Levels, metadata: &Value) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for (name, package) in members(metadata)? {
        for dependency in package["dependencies"].as_array().context("dependencies")? {
            // Only crates of this workspace are given by a path.
            if dependency["path"].is_string() {
                let target = dependency["name"].as_str().context("name")?;
                let in_tests = dependency["kind"].as_str() == Some("dev");
                let breach = levels.breach(name, target, in_tests);
                findings.extend(breach.map(|message| Finding::new(name, 0, message)));
            }
        }
        if levels.of(name).is_none() {
            let message = format!("no level: add it to the table of {TABLE}");
            findings.push(Finding::new(name, 0, message));
        }
    }
    Ok(findings)
}

/// The level of each crate.
#[derive(Debug)]
struct Levels(BTreeMap<String, u8>);

impl Levels {
    /// Reads the table whose columns are level, crate, purpose and folder.
    fn read(text: &str) -> Result<Self> {
        let rows = text.lines().skip_while(|line| !line.starts_with("| level | crate |"));
        let rows = rows.skip(2).take_while(|line| line.starts_with('|'));
        let mut levels = BTreeMap::new();
        for row in rows {
            let cells: Vec<&str> = row.split('|').map(str::trim).collect();
            let [_, level, name, ..] = *cells else { bail!("{TABLE}: {row}") };
            let level = match level {
                "–" => TOP,
                number => number.parse().with_context(|| format!("{TABLE}: {row}"))?,
            };
            ensure!(levels.insert(name.to_owned(), level).is_none(), "{TABLE}: {name} twice");
        }
        Ok(Self(levels))
    }

    fn of(&self, name: &str) -> Option<u8> {
        self.0.get(name).copied()
    }

    /// Returns why `from` may not depend on `to`, if so.
    fn breach(&self, from: &str, to: &str, in_tests: bool) -> Option<String> {
        if to == TESTKIT {
            return (!in_tests)
                .then(|| format!("{TESTKIT} is for tests: make it a dev-dependency"));
        }
        // A test may call any crate that does not need more than the tested one itself may.
        let (from_level, to_level) = (self.of(from)?, self.of(to)?);
        if to_level >= from_level {
            return Some(format!("level {from_level} may not use {to} of level {to_level}"));
        }
        let narrower = NARROWER.iter().find(|(crate_name, _)| *crate_name == from);
        let apart = APART.iter().find(|(crate_name, _)| *crate_name == from);
        let excluded = narrower.is_some_and(|(_, allowed)| !allowed.contains(&to))
            || apart.is_some_and(|(_, forbidden)| forbidden.contains(&to));
        (excluded && !in_tests).then(|| format!("it must stay independent of {to}"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Levels, check_by};

    const TABLE: &str = "\
text | level |

| level | crate | purpose | folder |
|---|---|---|---|
| 0 | policert-numeric | | |
| 1 | policert-model | | |
| 2 | policert-jani | | |
| 4 | policert-smt | | |
| 4 | policert-bounds | | |
| 4 | policert-testkit | | |
| 6 | policert-ppa | | |
| 6 | policert-ic3 | | |
| 6 | policert-certify | | |
| 7 | policert-plot | | |
| 7 | policert-query | | |
| 7 | policert-train | | |
| 8 | policert-lab | | |
| 9 | policert-verify | | |
| – | xtask | | |

| other | table |
";

    fn levels() -> Levels {
        Levels::read(TABLE).expect("a table")
    }

    fn breach(from: &str, to: &str, in_tests: bool) -> Option<String> {
        levels().breach(from, to, in_tests)
    }

    #[test]
    fn a_table_that_is_wrong_is_refused() {
        let head = "| level | crate | purpose | folder |\n|---|---|---|---|\n";
        assert!(Levels::read(&format!("{head}| one | a | | |")).is_err());
        assert!(Levels::read(&format!("{head}| 1 | a | | |\n| 2 | a | | |")).is_err());
    }

    #[test]
    fn edges_lead_down() {
        assert_eq!(breach("policert-ppa", "policert-bounds", false), None);
        assert!(breach("policert-numeric", "policert-model", false).is_some());
        assert!(breach("policert-ppa", "policert-ic3", false).is_some());
        assert!(breach("policert-ppa", "policert-ic3", true).is_some());
        assert_eq!(breach("xtask", "policert-verify", false), None);
        assert!(breach("policert-verify", "xtask", false).is_some());
    }

    #[test]
    fn only_tests_use_the_testkit() {
        assert_eq!(breach("policert-model", "policert-testkit", true), None);
        assert!(breach("policert-ppa", "policert-testkit", false).is_some());
        assert!(breach("policert-testkit", "policert-smt", false).is_some());
        assert_eq!(breach("policert-testkit", "policert-jani", false), None);
    }

    #[test]
    fn the_checker_is_independent() {
        assert_eq!(breach("policert-certify", "policert-smt", false), None);
        assert!(breach("policert-certify", "policert-bounds", false).is_some());
    }

    #[test]
    fn the_facade_draws_and_trains_nothing() {
        assert!(breach("policert-verify", "policert-plot", false).is_some());
        assert_eq!(breach("policert-verify", "policert-query", true), None);
        assert_eq!(breach("policert-lab", "policert-train", false), None);
    }

    #[test]
    fn metadata_is_read() {
        let edge = |name, kind: Option<&str>| json!({"name": name, "kind": kind, "path": "/p"});
        let metadata = json!({
            "workspace_members": ["m", "s"],
            "packages": [
                {"id": "m", "name": "policert-model", "dependencies": [
                    edge("policert-numeric", None), edge("policert-smt", None),
                    edge("policert-testkit", Some("dev")), {"name": "serde", "kind": null}]},
                {"id": "s", "name": "policert-new", "dependencies": []},
                {"id": "serde", "name": "serde", "dependencies": []},
            ],
        });
        let places: Vec<_> = check_by(&levels(), &metadata)
            .expect("well-formed")
            .into_iter()
            .map(|found| found.place)
            .collect();
        assert_eq!(places, ["policert-model", "policert-new"]);
    }
}
