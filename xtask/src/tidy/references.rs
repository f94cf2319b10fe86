//! Documents: the paths that tables name, and the files that links lead to, exist.

use super::{File, Finding};

/// Checks one Markdown file; `exists` is asked for paths relative to the root.
pub fn check(file: &File, exists: &dyn Fn(&str) -> bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut in_code_block = false;
    for (index, line) in file.text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_code_block = !in_code_block;
        }
        if in_code_block {
            continue;
        }
        let mut paths = linked_files(line, folder_of(&file.path));
        if line.starts_with('|') {
            paths.extend(code_spans(line).filter(|span| is_path(span)).flat_map(expand_braces));
        }
        for path in paths.iter().filter(|path| !exists(path)) {
            findings.push(Finding::new(&file.path, index + 1, format!("{path} does not exist")));
        }
    }
    findings
}

fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The targets of links `](target)` to files, relative to the root.
fn linked_files(line: &str, folder: &str) -> Vec<String> {
    let targets = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let files = targets.map(|target| target.split('#').next().unwrap_or(target));
    files
        .filter(|target| !target.is_empty() && !target.contains("://"))
        .map(
            |target| {
                if folder.is_empty() { target.to_owned() } else { format!("{folder}/{target}") }
            },
        )
        .collect()
}

/// The texts between single backticks.
fn code_spans(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

/// Returns whether a code span in a table is meant as a path from the root.
fn is_path(span: &str) -> bool {
    const ROOTS: [&str; 6] = ["crates/", "docs/", "examples/", "xtask/", "configs/", "benches/"];
    ROOTS.iter().any(|root| span.starts_with(root)) && !span.contains([' ', '*', '<'])
}

/// `a/{b,c}.rs` stands for `a/b.rs` and `a/c.rs`.
fn expand_braces(span: &str) -> Vec<String> {
    let parts = span.split_once('{').and_then(|(before, rest)| {
        let (choices, after) = rest.split_once('}')?;
        Some((before, choices, after))
    });
    match parts {
        None => vec![span.to_owned()],
        Some((before, choices, after)) => choices
            .split(',')
            .flat_map(|choice| expand_braces(&format!("{before}{choice}{after}")))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::{File, check};

    /// Returns which paths are asked for.
    fn missing(path: &str, text: &str) -> Vec<String> {
        let file = File { path: path.to_owned(), text: text.to_owned() };
        let findings = check(&file, &|path| path.ends_with("/there.rs"));
        findings.iter().map(|found| found.message.replace(" does not exist", "")).collect()
    }

    #[test]
    fn paths_in_tables_must_exist() {
        let text = "| loop | `crates/a/src/{there,gone}.rs`, trait in `there.rs` |\n";
        assert_eq!(missing("ARCHITECTURE.md", text), ["crates/a/src/gone.rs"]);
        let two = "| x | `docs/{a,b}/{c,d}.md` |\n";
        assert_eq!(missing("a.md", two).len(), 4);
    }

    #[test]
    fn prose_and_code_blocks_may_name_what_they_like() {
        assert!(missing("a.md", "A file such as `crates/new/src/lib.rs` …\n").is_empty());
        assert!(missing("a.md", "```\n| `crates/x` | [a](b.md)\n```\n").is_empty());
        assert!(missing("a.md", "| `cargo xtask ci` | `crates/*/src` |\n").is_empty());
    }

    #[test]
    fn links_are_relative_to_the_document() {
        assert_eq!(
            missing("docs/a.md", "See [b](b.md#part), [c](https://c.org).\n"),
            ["docs/b.md"]
        );
        assert_eq!(missing("README.md", "See [b](docs/b.md).\n"), ["docs/b.md"]);
        assert!(missing("README.md", "See [below](#below).\n").is_empty());
    }
}
