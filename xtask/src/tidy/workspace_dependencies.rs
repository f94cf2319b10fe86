//! Dependencies that the workspace declares for its crates: each is used by one of them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::{Finding, members};

/// The file that declares the dependencies.
const MANIFEST: &str = "Cargo.toml";

/// The heading of the table that declares them.
const HEADING: &str = "[workspace.dependencies]";

/// Finds dependencies that no crate of the workspace uses.
pub fn check(root: &Path, metadata: &Value) -> Result<Vec<Finding>> {
    let manifest = fs::read_to_string(root.join(MANIFEST)).with_context(|| MANIFEST.to_owned())?;
    check_manifest(&manifest, metadata)
}

fn check_manifest(manifest: &str, metadata: &Value) -> Result<Vec<Finding>> {
    let mut used = BTreeSet::new();
    for (_, package) in members(metadata)? {
        for dependency in package["dependencies"].as_array().context("dependencies")? {
            let name = dependency["rename"].as_str().or(dependency["name"].as_str());
            used.insert(name.context("name")?);
        }
    }
    let unused = declared(manifest).filter(|(_, key)| !used.contains(key));
    let message = |key| format!("no crate of the workspace uses the dependency {key}: remove it");
    Ok(unused.map(|(line, key)| Finding::new(MANIFEST, line, message(key))).collect())
}

/// The keys of the table with their lines, counted from 1. Each key stands on a line of its own.
fn declared(manifest: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = (1..).zip(manifest.lines().map(str::trim));
    let behind = lines.skip_while(|(_, line)| *line != HEADING).skip(1);
    let of_table = behind.take_while(|(_, line)| !line.starts_with('['));
    of_table.filter_map(|(number, line)| {
        let (key, _) = line.split_once('=').filter(|_| !line.starts_with('#'))?;
        // `serde.version = "1"` declares `serde`.
        let key = key.split('.').next().unwrap_or(key);
        Some((number, key.trim().trim_matches('"')))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const MANIFEST: &str = "\
[workspace.package]
version = \"1\"

[workspace.dependencies]
anyhow = \"1\"
old-name = { package = \"new-name\", version = \"1\" }
# gone = \"1\"
new-name = \"2\"
z3.version = \"0.22\"

[profile.dev]
debug = false
";

    fn unused(dependencies: &Value) -> Vec<usize> {
        let metadata = json!({
            "workspace_members": ["a"],
            "packages": [
                {"id": "a", "name": "a", "dependencies": dependencies},
                {"id": "b", "name": "b", "dependencies": [{"name": "anyhow"}]},
            ],
        });
        let found = check_manifest(MANIFEST, &metadata).expect("well-formed");
        found.into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn what_no_member_uses_is_found() {
        assert_eq!(unused(&json!([])), [5, 6, 8, 9]);
        assert_eq!(unused(&json!([{"name": "anyhow", "kind": "dev"}, {"name": "z3"}])), [6, 8]);
    }

    #[test]
    fn a_renamed_dependency_counts_by_its_new_name() {
        let renamed = json!([{"name": "new-name", "rename": "old-name"}]);
        assert_eq!(unused(&renamed), [5, 8, 9]);
        assert_eq!(unused(&json!([{"name": "new-name", "rename": null}])), [5, 6, 9]);
    }
}
