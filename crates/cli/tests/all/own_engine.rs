//! The program of CONTRIBUTING.md with an engine of its own: the help, the report and studies have it.

#[path = "../../examples/glance.rs"]
mod glance;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use policert_bench::{
    JournalEntry, RunKey, StudyOptions, StudyProgress, Suite, Workers, run_suite,
};
use policert_engine_api::CancelFlag;
use policert_verify::Registry;

use crate::support::example::Example;
use crate::support::program::{code, text};

/// This test program as the program of the example; its arguments come from the environment.
#[test]
fn is_the_program() {
    let Ok(line) = std::env::var("GLANCE_ARGUMENTS") else { return };
    let words = std::iter::once("policert").chain(line.split(' ')).map(OsString::from);
    let status = policert_cli::run(words, Registry::standard().with(glance::GLANCE));
    std::process::exit(status.code().into());
}

/// A script that runs the program of the example.
fn program(example: &Example) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;

    let this = std::env::current_exe().expect("a program");
    let this = this.display();
    example.write(
        "program",
        &format!(
            "#!/bin/sh\nGLANCE_ARGUMENTS=\"$*\" exec {this} own_engine::is_the_program --exact \
             --nocapture\n"
        ),
    );
    let path = example.path("program");
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("a script");
    path
}

#[test]
fn an_engine_of_ones_own_is_in_the_help_and_the_report() {
    let example = Example::new();
    let program = program(&example);
    let run = |line: &str| -> Output {
        let folder = example.path("");
        let words = line.split(' ');
        Command::new(&program).args(words).current_dir(folder).output().expect("it runs")
    };
    let help = text(&run("verify --help"));
    assert!(help.contains("glance") && help.contains("a look at start states"), "{help}");
    let line = "verify model.jani --engine glance --set most-states=5 --json result.json";
    let found = run(line);
    assert_eq!(code(&found), 32, "{}", text(&found));
    let result: serde_json::Value =
        serde_json::from_str(&example.read("result.json")).expect("a result");
    assert_eq!(result["engine"], "glance");
    assert_eq!(result["preset"], "native, most-states=5");
    assert_eq!(result["statistics"]["start_states"], 1);
    for (options, said) in [
        ("--set most=5", "close to it are `most-states`"),
        ("--preset long", "no preset `long`; there are native, short"),
        ("--exact", "--exact has no effect with engine glance"),
        ("--stuck unsafe", "--stuck unsafe is not supported by engine glance"),
    ] {
        let refused = run(&format!("verify model.jani --engine glance {options}"));
        assert_eq!(code(&refused), 42, "{options}: {}", text(&refused));
        assert!(text(&refused).contains(said), "{options}: {}", text(&refused));
    }
}

#[test]
fn a_study_runs_an_engine_of_ones_own() {
    let example = Example::new();
    example.write(
        "suite.toml",
        "name = \"Glances\"\nfolder = \".\"\nseconds = 60\nmemory = \"4GB\"\n\
         [[instance]]\nname = \"far\"\narguments = [\"model.jani\"]\n\
         [[configuration]]\nname = \"glance\"\narguments = [\"--engine\", \"glance\"]\n",
    );
    let suite = Suite::read(&example.path("suite.toml")).expect("a suite");
    let options = StudyOptions {
        program: program(&example),
        journal: example.path("study.jsonl"),
        resume: false,
        only: None,
        time: None,
        workers: Workers::Here(1),
        shard: (1, 1),
    };
    let summary = run_suite(&suite, &options, &CancelFlag::default(), &mut Quiet).expect("runs");
    assert_eq!(summary.made, 1);
    let journal = example.read("study.jsonl");
    assert!(journal.contains("\"engine\":\"glance\"") || journal.contains("glance"), "{journal}");
}

struct Quiet;

impl StudyProgress for Quiet {
    fn prepares(&mut self, _: &str) {}
    fn leaves_out(&mut self, _: &str, _: &str) {}
    fn begins(&mut self, _: &RunKey, _: usize, _: usize) {}
    fn again(&mut self, _: &RunKey, _: &str) {}
    fn finished(&mut self, _: &JournalEntry, _: usize, _: usize) {}
}

#[test]
fn contributing_shows_the_program_of_the_example() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../CONTRIBUTING.md");
    let page = std::fs::read_to_string(page).expect("a page");
    let program = include_str!("../../examples/glance.rs");
    assert!(page.contains(&format!("```rust\n{program}```\n")), "CONTRIBUTING.md is stale");
}
