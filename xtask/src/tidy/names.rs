//! File names: no drawers where anything may go, and no `mod.rs`.

use super::Finding;

const FORBIDDEN: [&str; 6] = ["utils", "util", "common", "helpers", "manager", "types"];

/// Checks every component of a path.
pub fn check(path: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for component in path.split('/') {
        let stem = component.split('.').next().unwrap_or(component);
        if FORBIDDEN.contains(&stem) {
            findings.push(Finding::new(path, 0, format!("`{stem}` says nothing: name the thing")));
        }
    }
    if path.ends_with("/mod.rs") {
        findings.push(Finding::new(path, 0, "use `foo.rs` beside `foo/`, not `foo/mod.rs`"));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn nouns_pass_and_drawers_do_not() {
        assert!(check("crates/ppa/src/expansion.rs").is_empty());
        assert!(check("crates/jani/src/type_check.rs").is_empty());
        for path in ["crates/ppa/src/utils.rs", "crates/common/src/lib.rs", "docs/types/a.md"] {
            assert_eq!(check(path).len(), 1, "{path}");
        }
        assert_eq!(check("crates/ppa/src/prob/mod.rs").len(), 1);
    }
}
