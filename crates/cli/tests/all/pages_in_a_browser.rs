//! Pages in headless Chromium, by `tools/look_at_pages.py`: with `SLOW_TESTS=1`, and left out with a line where there
//! is no Chromium.

use std::path::{Path, PathBuf};
use std::process::Command;

use policert_testkit::slow_tests;

use crate::support::program::{code, policert, text};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the root").to_path_buf()
}

/// Runs commands of policert, separated by lines, in the repository; `{out}` is a folder.
fn run(folder: &Path, lines: &str) {
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let line = line.replace("{out}", &folder.display().to_string());
        let output = policert(&repository(), &line).output().expect("policert runs");
        assert!(matches!(code(&output), 0 | 10), "{line}: {}", text(&output));
    }
}

/// Looks at pages; says what is wrong with them.
#[expect(clippy::print_stderr, reason = "a test that is left out says so")]
fn look(pages: &[PathBuf]) {
    let script = repository().join("tools/look_at_pages.py");
    let output = Command::new("python3").arg(script).args(pages).output();
    let why = match &output {
        Ok(output) if output.status.code() == Some(77) => "there is no Chromium",
        Err(_) => "there is no Python",
        Ok(output) => {
            let said = text(output);
            assert!(output.status.success(), "{said}");
            assert_eq!(said.matches(", well").count(), 2 * pages.len(), "two widths each: {said}");
            return;
        }
    };
    eprintln!("LEFT OUT: pages were not looked at in a browser, since {why}");
}

#[test]
fn pages_of_results_are_well_in_a_browser() {
    if !slow_tests() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path();
    run(
        out,
        "verify examples/icy_road/model.jani --property hasty --json {out}/ice.json --evidence {out}/ice.ev.json
         report {out}/ice.json --out {out}/ice.html
         verify examples/icy_road/model.jani --property careful --engine ic3 --json {out}/safe.json --evidence {out}/safe.ev.json
         report {out}/safe.json --certify --out {out}/safe.html
         reach examples/cart/cells.toml --record-boxes --json {out}/cells.json
         report {out}/cells.json --out {out}/cells.html
         reach suites/arch/airplane.toml --json {out}/airplane.json
         report {out}/airplane.json --out {out}/airplane.html",
    );
    let pages = ["ice", "safe", "cells", "airplane"].map(|name| out.join(format!("{name}.html")));
    look(&pages);
}

/// A study of a thousand runs is open within two seconds.
#[test]
fn a_thousand_runs_are_well_in_a_browser() {
    if !slow_tests() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path();
    let mut suite = String::from(
        "name = \"A thousand\"\nfolder = \".\"\nseconds = 60\nmemory = \"4GB\"\n[[configuration]]\nname = \"explicit\"\n\
         arguments = [\"--engine\", \"explicit\"]\n",
    );
    for number in 0..1000 {
        suite += &format!(
            "[[instance]]\nname = \"road {number}\"\narguments = [\"model.jani\", \"--property\", \"hasty\"]\n"
        );
    }
    for name in ["model.jani", "hasty.jani2nnet", "hasty.nnet", "careful.jani2nnet", "careful.nnet"]
    {
        let from = repository().join("examples/icy_road").join(name);
        std::fs::copy(from, out.join(name)).expect("a copy");
    }
    std::fs::write(out.join("suite.toml"), suite).expect("written");
    // One run, a thousand times.
    run(out, "bench run {out}/suite.toml --quiet --journal {out}/one.jsonl --shard 1/1000");
    let line = std::fs::read_to_string(out.join("one.jsonl")).expect("a journal");
    let mut entry: serde_json::Value = serde_json::from_str(line.trim()).expect("a run");
    let lines: Vec<String> = (0..1000)
        .map(|number| {
            entry["key"]["instance"] = format!("road {number}").into();
            entry.to_string()
        })
        .collect();
    std::fs::write(out.join("study.jsonl"), lines.join("\n") + "\n").expect("written");
    run(out, "bench report {out}/suite.toml --journal {out}/study.jsonl --out {out}/report");
    look(&[out.join("report/report.html")]);
}
