//! Text files: no trailing blanks, Unix line ends, no path of one particular machine.

use super::{File, Finding};

/// Returns whether a file is written by hand, so that the rules for text hold. Models, policies and
/// recorded outputs are data: their bytes are their own affair.
pub fn is_prose_or_code(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let hand_written = ["rs", "toml", "md", "sh", "py", "bib"]
        .iter()
        .any(|extension| name.ends_with(&format!(".{extension}")));
    hand_written || path == "x" || path == ".ci/run" || name == ".gitignore"
}

/// Top-level folders that exist on one machine only.
const FOREIGN: [&str; 4] = ["work", "tmp", "root", "home"];

/// Checks one file.
pub fn check(file: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut add = |line, message: &str| findings.push(Finding::new(&file.path, line, message));
    for (index, line) in file.text.split('\n').enumerate() {
        let number = index + 1;
        if line.ends_with('\r') {
            add(number, "carriage return at the line's end");
        } else if line.ends_with([' ', '\t']) {
            add(number, "blanks at the line's end");
        }
        if names_machine_path(line) {
            add(number, "a path of one particular machine");
        }
    }
    if !file.text.is_empty() && !file.text.ends_with('\n') {
        add(file.text.lines().count(), "no newline at the file's end");
    }
    if file.text.ends_with("\n\n") {
        add(file.text.lines().count(), "empty line at the file's end");
    }
    findings
}

/// Returns whether a line holds an absolute path into one of the foreign folders: the slash that
/// starts it does not continue another path.
fn names_machine_path(line: &str) -> bool {
    FOREIGN.iter().any(|folder| {
        let needle = format!("/{folder}/");
        line.match_indices(&needle).any(|(at, _)| {
            !line[..at].ends_with(|c: char| {
                c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '}' | ')')
            })
        })
    })
}

#[cfg(test)]
mod tests {
    use super::{File, check, is_prose_or_code};

    fn lines(text: &str) -> Vec<usize> {
        let file = File { path: "a.md".to_owned(), text: text.to_owned() };
        check(&file).iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn clean_text_passes() {
        assert!(lines("").is_empty());
        assert!(lines("one\n\ntwo\n").is_empty());
    }

    #[test]
    fn blanks_and_line_ends_are_found() {
        assert_eq!(lines("one \ntwo\t\nthree\n"), [1, 2]);
        assert_eq!(lines("one\r\n"), [1]);
        assert_eq!(lines("one"), [1]);
        assert_eq!(lines("one\n\n"), [2]);
    }

    #[test]
    fn machine_paths_are_found_and_relative_ones_are_not() {
        let absolute = format!("see /{}/me/model.jani\n`/{}/x`\n", "home", "tmp");
        assert_eq!(lines(&absolute), [1, 2]);
        assert!(lines("crates/work/src and ../tmp/x and target/tmp/y\n").is_empty());
    }

    #[test]
    fn data_files_are_left_alone() {
        assert!(is_prose_or_code("crates/ppa/src/lib.rs") && is_prose_or_code("x"));
        assert!(!is_prose_or_code("examples/a/model.jani") && !is_prose_or_code("a/out.snap"));
    }
}
