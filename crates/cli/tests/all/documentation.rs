//! Every command on every page of the documentation, run where only the repository's files are.
//! Where a page shows what a command prints, the command prints it.

mod page;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use page::{Kind, Step, steps};

/// Commands that are not run, by their beginning, with the reason.
const NOT_RUN: &[(&str, &str)] = &[
    ("./x ", "builds and tests everything, this test among it"),
    ("cargo ", "builds with cargo"),
    ("BOLERO_RANDOM_TEST_TIME_MS=", "builds with cargo"),
    ("python3 -m venv ", "installs packages; the slow tier of the tools"),
    (".venv/bin/", "needs installed packages"),
    ("/path/to/venv/bin/", "needs installed packages"),
    ("policert bench run suites/networks.toml", "takes an hour"),
    ("policert bench run suites/ensembles.toml", "takes an hour"),
    ("policert bench run suites/ppa.toml", "takes minutes"),
    ("policert bench report suites/ppa.toml", "needs the study before it"),
    ("policert bench run suites/asnets.toml", "takes an hour"),
];

/// Commands that run with `SLOW_TESTS=1` alone, by their beginning.
const SLOW: &[&str] = &["policert train race/racetrack_barto-small.jani"];

#[test]
fn every_command_of_the_documentation_runs() {
    let root = repository();
    let files = files(&root);
    let pages = pages(&files);
    let (mut ran, mut synopses, mut wrong) = (0, 0, Vec::new());
    for page in &pages {
        let text = std::fs::read_to_string(root.join(page)).expect("a page");
        let folder = tempfile::tempdir().expect("a folder");
        let steps = steps(&text);
        if steps.iter().any(|step| step.kind == Kind::Command && reason_not_to_run(step).is_none())
        {
            copy_repository(&root, &files, folder.path());
        }
        for step in steps {
            let found = match step.kind {
                Kind::Synopsis => {
                    synopses += 1;
                    unknown_options(&step)
                }
                Kind::Command if reason_not_to_run(&step).is_some() => continue,
                Kind::Command => {
                    ran += 1;
                    run(folder.path(), &step)
                }
            };
            let place = format!("{}:{}: {}", page.display(), step.line, step.command);
            wrong.extend(found.into_iter().map(|wrong| format!("{place}\n    {wrong}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(ran >= 30, "only {ran} commands were found in {} pages", pages.len());
    assert!(synopses >= 10, "only {synopses} synopses were found in {} pages", pages.len());
}

#[test]
fn commands_that_are_not_run_exist() {
    let root = repository();
    let mut texts = String::new();
    for page in pages(&files(&root)) {
        texts += &std::fs::read_to_string(root.join(page)).expect("a page");
    }
    for (beginning, _) in NOT_RUN {
        let stands = |line: &str| line.trim_start().trim_start_matches("$ ").starts_with(beginning);
        assert!(texts.lines().any(stands), "no page has `{beginning}`");
    }
}

/// The book (`book.toml`) has every page under `docs`.
#[test]
fn the_book_has_every_page() {
    let root = repository();
    let summary = std::fs::read_to_string(root.join("docs/SUMMARY.md")).expect("a summary");
    let mut missing = pages(&files(&root));
    missing.retain(|page| {
        let name = page.strip_prefix("docs").ok().and_then(|page| page.to_str());
        name.is_some_and(|name| name != "SUMMARY.md" && !summary.contains(&format!("]({name})")))
    });
    assert!(missing.is_empty(), "not in docs/SUMMARY.md: {missing:?}");
    // That entries exist is checked with all links (`cargo xtask tidy`).
    assert!(summary.matches("](").count() >= 40, "{summary}");
}

fn repository() -> PathBuf {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    crate_folder.ancestors().nth(2).expect("the root").to_path_buf()
}

/// The files of the repository, as git lists them.
fn files(root: &Path) -> Vec<PathBuf> {
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .expect("git lists the files");
    assert!(output.status.success(), "git ls-files");
    let list = String::from_utf8(output.stdout).expect("names in UTF-8");
    let files = list.split('\0').filter(|name| !name.is_empty()).map(PathBuf::from);
    files.filter(|file| root.join(file).is_file()).collect()
}

fn pages(files: &[PathBuf]) -> Vec<PathBuf> {
    let mut pages = files.to_vec();
    pages.retain(|file| file.extension().is_some_and(|extension| extension == "md"));
    pages.sort();
    pages
}

fn copy_repository(root: &Path, files: &[PathBuf], to: &Path) {
    for file in files {
        let target = to.join(file);
        std::fs::create_dir_all(target.parent().expect("a folder")).expect("a folder");
        std::fs::copy(root.join(file), target).expect("a copy");
    }
}

fn reason_not_to_run(step: &Step) -> Option<&'static str> {
    let begins = |beginning: &str| step.command.starts_with(beginning);
    let slow = !policert_testkit::slow_tests() && SLOW.iter().any(|slow| begins(slow));
    let reason = NOT_RUN.iter().find(|(beginning, _)| begins(beginning)).map(|&(_, reason)| reason);
    reason.or(slow.then_some("takes minutes"))
}

/// Runs a command in the shell and returns what is wrong.
fn run(folder: &Path, step: &Step) -> Vec<String> {
    let program = Path::new(env!("CARGO_BIN_EXE_policert"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = program.parent().map(Path::to_path_buf).into_iter();
    let path = std::env::join_paths(folders.chain(std::env::split_paths(&path))).expect("paths");
    let output = Command::new("sh")
        .args(["-c", &step.command])
        .current_dir(folder)
        .env("PATH", path)
        .env_remove("POLICERT_SHARED")
        .output()
        .expect("a shell");
    let text = text(&output);
    let mut wrong = Vec::new();
    // The commands of a page end with a verdict.
    if !matches!(output.status.code(), Some(0 | 10 | 20)) {
        wrong.push(format!("ended with {:?}: {text}", output.status.code()));
    } else if let Some(missing) = page::missing_line(&step.output, &text) {
        wrong.push(format!("does not print `{missing}` at its place, but\n{text}"));
    }
    wrong
}

fn text(output: &Output) -> String {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

/// The options of a synopsis that the help of its command does not list.
fn unknown_options(step: &Step) -> Vec<String> {
    let words: Vec<&str> = step.command.split_whitespace().collect();
    let commands: Vec<&str> = words[1..]
        .iter()
        .copied()
        .take_while(|word| word.chars().all(char::is_lowercase))
        .collect();
    let output = Command::new(env!("CARGO_BIN_EXE_policert"))
        .args(&commands)
        .arg("--help")
        .output()
        .expect("policert runs");
    let help = text(&output);
    if !output.status.success() {
        return vec![format!("`policert {}` is no command", commands.join(" "))];
    }
    let options = words.iter().map(|word| word.trim_start_matches('[').trim_end_matches(']'));
    let options = options.filter(|word| word.starts_with("--"));
    options
        .map(|option| option.split('=').next().unwrap_or(option))
        .filter(|option| {
            !help.split(|c: char| !c.is_alphanumeric() && c != '-').any(|w| w == *option)
        })
        .map(|option| format!("`{option}` is not in the help of `policert {}`", commands.join(" ")))
        .collect()
}
