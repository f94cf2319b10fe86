//! The one direction of dependency between crates: from a higher level to a lower one.

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::{Finding, members};

/// Crate, level. A crate may use crates of lower levels only; `docs/STYLE.md` has the same table in words.
const LEVELS: [(&str, u8); 33] = [
    ("policert-files", 0),
    ("policert-numeric", 0),
    ("policert-infix", 1),
    ("policert-model", 1),
    ("policert-policy", 2),
    ("policert-jani", 2),
    ("policert-vnnlib", 2),
    ("policert-engine-api", 2),
    ("policert-outcome", 3),
    ("policert-smt", 3),
    ("policert-bounds", 3),
    ("policert-mdp", 3),
    ("policert-symbolic", 4),
    ("policert-explore", 5),
    ("policert-bmc", 5),
    ("policert-ppa", 5),
    ("policert-ic3", 5),
    ("policert-reach", 5),
    ("policert-certify", 5),
    ("policert-convert", 6),
    ("policert-train", 6),
    ("policert-plot", 6),
    ("policert-query", 6),
    ("policert-problem", 6),
    ("policert-evidence", 7),
    ("policert-lab", 7),
    ("policert-verify", 8),
    ("policert-bench", 8),
    ("policert-generate", 8),
    ("policert", 9),
    ("policert-python", 9),
    ("policert-fuzz", 9),
    ("xtask", 9),
];

/// The crate of test generators and oracles: it uses levels 0 to 2, and only tests use it.
const TESTKIT: &str = "policert-testkit";
const TESTKIT_LEVEL: u8 = 3;

/// Crates that may not use everything below them: the evidence checker shares nothing with the
/// engines and their bounds.
const NARROWER: [(&str, &[&str]); 1] = [(
    "policert-certify",
    &[
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
pub fn check(metadata: &Value) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for (name, package) in members(metadata)? {
        for dependency in package["dependencies"].as_array().context("dependencies")? {
            // Only crates of this workspace are given by a path.
            if dependency["path"].is_string() {
                let target = dependency["name"].as_str().context("name")?;
                let in_tests = dependency["kind"].as_str() == Some("dev");
                findings.extend(breach(name, target, in_tests).map(|m| Finding::new(name, 0, m)));
            }
        }
        if level(name).is_none() {
            findings.push(Finding::new(name, 0, "no level: add it to the table of levels"));
        }
    }
    Ok(findings)
}

fn level(name: &str) -> Option<u8> {
    if name == TESTKIT {
        return Some(TESTKIT_LEVEL);
    }
    LEVELS.iter().find(|(crate_name, _)| *crate_name == name).map(|(_, level)| *level)
}

/// Why `from` may not depend on `to`, if so.
fn breach(from: &str, to: &str, in_tests: bool) -> Option<String> {
    if to == TESTKIT {
        return (!in_tests).then(|| format!("{TESTKIT} is for tests: make it a dev-dependency"));
    }
    // A test may call any crate that does not need more than the tested one itself may.
    let (from_level, to_level) = (level(from)?, level(to)?);
    if to_level >= from_level {
        return Some(format!("level {from_level} may not use {to} of level {to_level}"));
    }
    let narrower = NARROWER.iter().find(|(crate_name, _)| *crate_name == from);
    let apart = APART.iter().find(|(crate_name, _)| *crate_name == from);
    let excluded = narrower.is_some_and(|(_, allowed)| !allowed.contains(&to))
        || apart.is_some_and(|(_, forbidden)| forbidden.contains(&to));
    (excluded && !in_tests).then(|| format!("it must stay independent of {to}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{breach, check};

    #[test]
    fn edges_lead_down() {
        assert_eq!(breach("policert-ppa", "policert-bounds", false), None);
        assert!(breach("policert-numeric", "policert-model", false).is_some());
        assert!(breach("policert-ppa", "policert-ic3", false).is_some());
        assert!(breach("policert-ppa", "policert-ic3", true).is_some());
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
        let places: Vec<_> =
            check(&metadata).expect("well-formed").into_iter().map(|found| found.place).collect();
        assert_eq!(places, ["policert-model", "policert-new"]);
    }
}
