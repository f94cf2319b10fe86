//! Rust files: a module doc on the first line, size limits, nothing unfinished.

use std::collections::BTreeMap;

use super::{File, Finding};

/// Lines that a file may have, not counting its tests.
const LINE_LIMIT: usize = 500;
/// Lines of an inline test module beyond which it moves to a file of its own.
const INLINE_TESTS_LIMIT: usize = 150;
/// `path: reason` for every file above [`LINE_LIMIT`].
const ALLOW_LIST: &str = "xtask/long-files.toml";

/// Checks one file, except for its size.
pub fn check(file: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !file.text.starts_with("//! ") {
        findings.push(Finding::new(&file.path, 1, "the first line is `//!` and what the file is"));
    }
    let unfinished = [
        ["#[ign", "ore"],
        ["should_", "panic"],
        ["to", "do!("],
        ["unimpl", "emented!("],
        ["db", "g!("],
        ["FIX", "ME"],
    ]
    .map(|parts| parts.concat());
    for (index, line) in file.text.lines().enumerate() {
        for needle in unfinished.iter().filter(|needle| line.contains(needle.as_str())) {
            findings.push(Finding::new(
                &file.path,
                index + 1,
                format!("`{needle}` is not allowed"),
            ));
        }
    }
    let (_, tests) = sizes(file);
    if tests > INLINE_TESTS_LIMIT && !is_test(&file.path) {
        let message = format!(
            "{tests} lines of inline tests (limit {INLINE_TESTS_LIMIT}): \
                               move them to a `tests.rs` of this module"
        );
        findings.push(Finding::new(&file.path, 0, message));
    }
    findings
}

/// Checks the sizes of all Rust files against the limit and the list of exceptions.
pub fn check_long_files(files: &[File]) -> Vec<Finding> {
    let exceptions = files.iter().find(|file| file.path == ALLOW_LIST);
    let (mut exceptions, mut findings) = exceptions.map(parse_exceptions).unwrap_or_default();
    for file in files.iter().filter(|file| file.path.ends_with(".rs") && !is_test(&file.path)) {
        let (lines, _) = sizes(file);
        let excused = exceptions.remove(file.path.as_str()).is_some();
        if lines > LINE_LIMIT && !excused {
            let message = format!("{lines} lines without tests (limit {LINE_LIMIT}): split it");
            findings.push(Finding::new(&file.path, 0, message));
        } else if lines <= LINE_LIMIT && excused {
            let message = format!("{lines} lines: {ALLOW_LIST} no longer needs to list it");
            findings.push(Finding::new(&file.path, 0, message));
        }
    }
    for (path, line) in exceptions {
        findings.push(Finding::new(ALLOW_LIST, line, format!("{path} does not exist")));
    }
    findings
}

/// Reads lines `"path" = "reason"`: the paths with their lines, and what is wrong with the list.
fn parse_exceptions(list: &File) -> (BTreeMap<&str, usize>, Vec<Finding>) {
    let (mut paths, mut findings) = (BTreeMap::new(), Vec::new());
    for (index, line) in list.text.lines().enumerate() {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let entry = line.split_once(" = ").and_then(|(path, reason)| {
            let path = path.strip_prefix('"')?.strip_suffix('"')?;
            let reason = reason.strip_prefix('"')?.strip_suffix('"')?;
            (!reason.trim().is_empty()).then_some(path)
        });
        match entry {
            Some(path) => drop(paths.insert(path, index + 1)),
            None => {
                let message = "an entry is `\"path\" = \"reason\"`";
                findings.push(Finding::new(&list.path, index + 1, message));
            }
        }
    }
    (paths, findings)
}

/// Returns whether a whole file is tests or benchmarks.
fn is_test(path: &str) -> bool {
    path.ends_with("/tests.rs")
        || path.split('/').any(|folder| folder == "tests" || folder == "benches")
}

/// Lines outside and inside of inline test modules (`#[cfg(test)] mod … { … }` at the margin).
fn sizes(file: &File) -> (usize, usize) {
    let (mut code, mut tests) = (0, 0);
    let mut lines = file.text.lines().peekable();
    while let Some(line) = lines.next() {
        let opens_tests = line == "#[cfg(test)]"
            && lines.peek().is_some_and(|next| next.starts_with("mod ") && next.ends_with('{'));
        if !opens_tests {
            code += 1;
            continue;
        }
        tests += 1;
        for line in lines.by_ref() {
            tests += 1;
            if line == "}" {
                break;
            }
        }
    }
    (code, tests)
}

#[cfg(test)]
mod tests {
    use super::{ALLOW_LIST, File, check, check_long_files, sizes};

    fn file(path: &str, text: impl Into<String>) -> File {
        File { path: path.to_owned(), text: text.into() }
    }

    fn source(lines: usize) -> String {
        format!("//! Long.\n{}", "const _: u8 = 0;\n".repeat(lines - 1))
    }

    #[test]
    fn the_first_line_is_a_module_doc() {
        assert!(check(&file("a.rs", "//! What it is.\n")).is_empty());
        for text in ["use std::fmt;\n", "//!\n", "\n//! Late.\n", ""] {
            assert_eq!(check(&file("a.rs", text)).len(), 1, "{text:?}");
        }
    }

    #[test]
    fn unfinished_code_is_found() {
        let text = format!("//! A.\nfn f() {{ {}do!() }}\n#[ign{}]\n", "to", "ore = \"slow\"");
        let lines: Vec<_> = check(&file("a.rs", text)).iter().map(|found| found.line).collect();
        assert_eq!(lines, [2, 3]);
    }

    #[test]
    fn inline_tests_do_not_count_but_are_limited() {
        let tests =
            |lines| format!("#[cfg(test)]\nmod tests {{\n{}}}\n", "    // x\n".repeat(lines));
        let short = file("a.rs", source(10) + &tests(20));
        assert_eq!(sizes(&short), (10, 23));
        assert!(check(&short).is_empty());
        assert_eq!(check(&file("a.rs", source(10) + &tests(150))).len(), 1);
        assert_eq!(sizes(&file("a.rs", source(10) + "#[cfg(test)]\nmod tests;\n")), (12, 0));
    }

    #[test]
    fn long_files_need_an_entry_with_a_reason() {
        let long = || file("a/src/long.rs", source(501));
        assert_eq!(check_long_files(&[long()]).len(), 1);
        assert!(check_long_files(&[file("a.rs", source(500))]).is_empty());
        assert!(check_long_files(&[file("a/tests/long.rs", source(900))]).is_empty());
        let list = |entry: &str| file(ALLOW_LIST, format!("# Why.\n{entry}\n"));
        assert!(check_long_files(&[long(), list("\"a/src/long.rs\" = \"one table\"")]).is_empty());
        assert_eq!(check_long_files(&[long(), list("\"a/src/long.rs\" = \"\"")]).len(), 2);
    }

    #[test]
    fn stale_entries_are_found() {
        let list = file(ALLOW_LIST, "\"a.rs\" = \"one table\"\n");
        assert_eq!(check_long_files(&[file("a.rs", source(9)), list]).len(), 1);
        let list = file(ALLOW_LIST, "\"gone.rs\" = \"one table\"\n");
        assert_eq!(check_long_files(&[list]).len(), 1);
    }
}
