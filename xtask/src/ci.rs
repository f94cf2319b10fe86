//! What continuous integration runs: stages in order, each with its time, then a summary.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

use crate::{book, release, supply_chain, tidy};

/// Runs every stage, also after one has failed, so that one run shows everything that is wrong.
///
/// `features` (for instance `z3`) are turned on for the tests and for a second lint run.
pub fn run(root: &Path, features: Option<&str>) -> Result<ExitCode> {
    let mut run = Run { root, features, stages: Vec::new() };
    run.cargo("fmt", &["fmt", "--all", "--check"], &[])?;
    run.stage("tidy", || Ok(tidy::check(root)?.report()))?;
    run.stage("deny", || supply_chain::deny(root))?;

    let deny = ["--", "--deny", "warnings"];
    run.cargo("clippy", &["clippy", "--workspace", "--all-targets", "--locked"], &deny)?;
    if let Some(features) = features {
        let name = format!("clippy, {features}");
        let arguments = run.with_features(&["clippy", "--workspace", "--all-targets"]);
        run.cargo(&name, &arguments, &deny)?;
    }

    let tests = if has_nextest() {
        run.with_features(&["nextest", "run", "--workspace", "--no-fail-fast"])
    } else {
        run.with_features(&["test", "--workspace", "--all-targets", "--no-fail-fast"])
    };
    run.cargo("tests", &tests, &[])?;
    let doctests = run.with_features(&["test", "--workspace", "--doc", "--quiet"]);
    run.cargo("doctests", &doctests, &[])?;
    let doc = run.with_features(&["doc", "--workspace", "--no-deps"]);
    run.cargo("doc", &doc, &[])?;
    if book::program(root).is_some() {
        run.stage("book", || book::build(root))?;
    }
    run.stage("minimum version", || supply_chain::minimum_version(root))?;
    run.stage("release program", || release::check(root))?;
    Ok(run.summary())
}

struct Stage {
    name: String,
    passed: bool,
    time: Duration,
}

struct Run<'a> {
    root: &'a Path,
    features: Option<&'a str>,
    stages: Vec<Stage>,
}

impl<'a> Run<'a> {
    fn with_features(&self, arguments: &[&'a str]) -> Vec<&'a str> {
        let mut all = arguments.to_vec();
        all.push("--locked");
        if let Some(features) = self.features {
            all.extend(["--features", features]);
        }
        all
    }

    fn stage(&mut self, name: &str, action: impl FnOnce() -> Result<bool>) -> Result<()> {
        println!("== {name}");
        let start = Instant::now();
        let passed = action()?;
        let time = start.elapsed();
        println!("== {name}: {} ({:.1} s)\n", verdict(passed), time.as_secs_f64());
        self.stages.push(Stage { name: name.to_owned(), passed, time });
        Ok(())
    }

    fn cargo(&mut self, name: &str, arguments: &[&str], rest: &[&str]) -> Result<()> {
        let mut command = cargo(self.root);
        command.args(arguments).args(rest);
        self.stage(name, || {
            let status =
                command.status().with_context(|| format!("could not start {command:?}"))?;
            Ok(status.success())
        })
    }

    fn summary(&self) -> ExitCode {
        for Stage { name, passed, time } in &self.stages {
            println!("{:>8.1} s  {:6}  {name}", time.as_secs_f64(), verdict(*passed));
        }
        if shared_folder(self.root).is_none() {
            println!("left out: comparisons with published models and policies (docs/TESTING.md)");
        }
        if book::program(self.root).is_none() {
            println!("left out: the documentation as a site (`./x docs` installs mdbook)");
        }
        let total: Duration = self.stages.iter().map(|stage| stage.time).sum();
        let failed = self.stages.iter().filter(|stage| !stage.passed).count();
        println!("{:>8.1} s  {}", total.as_secs_f64(), verdict(failed == 0));
        if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

fn verdict(passed: bool) -> &'static str {
    if passed { "ok" } else { "FAILED" }
}

/// Cargo with what every stage needs: warnings of rustdoc are errors, the benchmark collection is
/// found by an absolute path, and test programs in any target folder find the Z3 library.
fn cargo(root: &Path) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(program);
    command.current_dir(root).stdin(Stdio::null()).env("RUSTDOCFLAGS", "--deny warnings");
    // Damaged files for every reader: longer than on a desk.
    command.env("BOLERO_RANDOM_TEST_TIME_MS", "5000");
    if let Some(shared) = shared_folder(root) {
        command.env("POLICERT_SHARED", shared);
    }
    if std::env::var_os("SLOW_TESTS").is_some_and(|value| value == "1") {
        command.envs(SEEDS.map(|name| (name, slow_seed(name))));
    }
    let library = root.join(".tools/z3/lib");
    if library.is_dir() {
        let mut folders = vec![library];
        folders.extend(std::env::var_os("LD_LIBRARY_PATH").iter().flat_map(std::env::split_paths));
        if let Ok(folders) = std::env::join_paths(folders) {
            command.env("LD_LIBRARY_PATH", folders);
        }
    }
    command
}

/// The folder of published models, policies and cases, if there is one.
fn shared_folder(root: &Path) -> Option<PathBuf> {
    let named = std::env::var_os("POLICERT_SHARED").map(PathBuf::from);
    named.or_else(|| root.join("../shared").canonicalize().ok())
}

/// Seeds of random tests: `testkit`'s and proptest's.
const SEEDS: [&str; 2] = ["POLICERT_SEED", "PROPTEST_RNG_SEED"];

/// The seed of the slow tier: what the environment gives, else the time, the same in all stages.
fn slow_seed(name: &str) -> String {
    static DRAWN: OnceLock<String> = OnceLock::new();
    std::env::var(name).unwrap_or_else(|_| {
        let draw = || {
            let seconds = std::time::UNIX_EPOCH.elapsed().map_or(1, |time| time.as_secs());
            let names = SEEDS.map(|name| format!("{name}={seconds}")).join(" ");
            println!("slow tests: {names} repeats them");
            seconds.to_string()
        };
        DRAWN.get_or_init(draw).clone()
    })
}

fn has_nextest() -> bool {
    Command::new("cargo")
        .args(["nextest", "--version"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
