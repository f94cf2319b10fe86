//! One program for the integration tests of a crate: each further one is linked anew.

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::{Finding, members};

/// Finds crates with several programs of integration tests.
pub fn check(metadata: &Value) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for (name, package) in members(metadata)? {
        let targets = package["targets"].as_array().context("targets")?;
        let is_test = |target: &&Value| target["kind"][0].as_str() == Some("test");
        let programs = targets.iter().filter(is_test).count();
        if programs > 1 {
            let message =
                format!("{programs} test programs: make them modules of tests/all/main.rs");
            findings.push(Finding::new(name, 0, message));
        }
    }
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn one_program_is_enough() {
        let metadata = |kinds: &[&str]| {
            let targets: Vec<Value> = kinds.iter().map(|kind| json!({ "kind": [kind] })).collect();
            let package = json!({ "id": "a 0.1", "name": "a", "targets": targets });
            json!({ "workspace_members": ["a 0.1"], "packages": [package] })
        };
        assert!(check(&metadata(&["lib", "test", "bench"])).expect("metadata").is_empty());
        assert_eq!(check(&metadata(&["lib", "test", "test"])).expect("metadata").len(), 1);
    }
}
