//! `policert bench export`, and the films of `policert bench report`.

use crate::support::example::Example;
use crate::support::program::{code, text};

#[test]
fn a_report_shows_films_and_other_formats_have_the_runs() {
    let example = Example::new();
    example.write(
        "suite.toml",
        r#"
name = "Formats"
folder = "."
seconds = 60
memory = "4GB"
films = true
[[instance]]
name = "walker, middle"
arguments = ["model.jani", "--property", "1"]
[[instance]]
name = "far"
arguments = ["model.jani", "--property", "0"]
[[configuration]]
name = "explicit"
arguments = ["--engine", "explicit"]
[[configuration]]
name = "prob"
arguments = ["--engine", "prob"]
[[configuration]]
name = "another"
program = "no-such-program"
optional = true
arguments = []
reads = [{ line = "x", verdict = "safe" }]
"#,
    );
    let run = example.run("bench run suite.toml --journal study.jsonl");
    assert_eq!(code(&run), 0, "{}", text(&run));
    assert!(
        text(&run).contains("another is left out: there is no no-such-program"),
        "{}",
        text(&run)
    );
    assert!(text(&run).contains("4 of 4 runs are finished"), "{}", text(&run));
    let journal = example.read("study.jsonl");
    assert!(!journal.contains("evidence_file"), "{journal}");
    assert_eq!(journal.matches("\"film\":").count(), 1, "of the unsafe verdict alone: {journal}");
    let report = example.run("bench report suite.toml --journal study.jsonl --out out");
    assert_eq!(code(&report), 0, "{}", text(&report));
    let page = example.read("out/report.html");
    assert_eq!(page.matches("class=\"film\"").count(), 1, "{page}");
    assert!(page.contains("Steps; the run ends in an unsafe state") && page.contains("x: 3 → 4"));

    let export = |format: &str| {
        example.run(&format!(
            "bench export suite.toml --journal study.jsonl --format {format} --out {format}"
        ))
    };
    let output = export("arch-comp");
    assert_eq!(code(&output), 0, "{}", text(&output));
    let table = example.read("arch-comp/results.csv");
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!((lines[0], lines.len()), ("benchmark,instance,result,time", 3), "{table}");
    assert!(lines[1].starts_with("\"walker, middle\",explicit,falsified,"), "{table}");
    assert!(lines[2].starts_with("far,explicit,verified,"), "{table}");
    let output = export("qcomp");
    assert_eq!(code(&output), 0, "{}", text(&output));
    let one: serde_json::Value =
        serde_json::from_str(&example.read("qcomp/policert.far.prob.json")).expect("JSON");
    assert_eq!(one["file"], "model.jani");
    assert_eq!(one["tool"]["name"], "Policert");
    assert_eq!(one["command"], "policert verify model.jani --property 0 --engine prob");
    assert_eq!(one["data"][0]["values"][0]["name"], "states");
    assert_eq!(one["data"][1]["property"], "far");
    assert_eq!(one["data"][1]["value"], 0.0);
    // A journal without probabilities.
    let only: String = journal
        .lines()
        .filter(|line| line.contains("explicit"))
        .map(|line| format!("{line}\n"))
        .collect();
    example.write("study.jsonl", &only);
    let output = export("qcomp");
    assert_eq!(code(&output), 42, "{}", text(&output));
    assert!(text(&output).contains("no runs with probabilities"), "{}", text(&output));
}
