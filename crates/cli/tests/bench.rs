//! `policert bench`: runs in processes of their own, a journal that survives, tables and figures.

#[path = "support/example.rs"]
mod example;
#[path = "support/program.rs"]
mod program;

use example::Example;
use program::{code, text};

const SUITE: &str = r#"
name = "Walker"
folder = "."
seconds = 60
memory = "4GB"
[[instance]]
name = "far"
arguments = ["model.jani", "--property", "0"]
shares = [50, 100]
[[instance]]
name = "middle"
arguments = ["model.jani", "--property", "1"]
[[configuration]]
name = "native"
arguments = ["--engine", "ppa"]
figures = ["presets", "sizes", "tests"]
[[configuration]]
name = "explicit"
arguments = ["--engine", "explicit"]
shares = false
"#;

#[test]
fn a_study_goes_on_where_it_was() {
    let example = Example::new();
    let suite =
        SUITE.replace("\"model.jani\",", "\"model.jani\", \"--interface\", \"policy.jani2nnet\",");
    example.write("suite.toml", &suite);
    let first = example.run("bench run suite.toml --journal study.jsonl --only native");
    assert_eq!(code(&first), 0, "{}", text(&first));
    assert!(text(&first).contains("3 of 3 runs are finished, 3 of them now"), "{}", text(&first));
    let again = example.run("bench run suite.toml --journal study.jsonl");
    assert_eq!(code(&again), 42, "a journal is not overwritten: {}", text(&again));
    // The last line was cut off while it was written.
    let journal = example.read("study.jsonl");
    assert_eq!(journal.lines().count(), 3, "{journal}");
    example.write("study.jsonl", &journal[..journal.len() - 20]);
    let more = example.run("bench run suite.toml --journal study.jsonl --resume");
    assert!(text(&more).contains("5 of 5 runs are finished, 3 of them now"), "{}", text(&more));
    let journal = example.read("study.jsonl");
    assert_eq!(journal.lines().count(), 5);
    assert_eq!(journal.matches("\"verdict\":\"unsafe\"").count(), 2, "{journal}");

    example.write("other.toml", &suite.replace("\"ppa\"", "\"cegar\""));
    for command in ["run other.toml --resume", "report other.toml --out o"] {
        let other = example.run(&format!("bench {command} --journal study.jsonl"));
        assert_eq!(code(&other), 42, "{}", text(&other));
        assert!(text(&other).contains("one of another suite"), "{}", text(&other));
    }
    let report =
        example.run("bench report suite.toml --journal study.jsonl --out out --figures png");
    assert_eq!(code(&report), 0, "{}", text(&report));
    let table = example.read("out/report.md");
    for part in ["# Walker", "## far", "| native | 50 % |", "| explicit |  | safe |"] {
        assert!(table.contains(part), "{part}: {table}");
    }
    assert_eq!(example.read("out/runs.csv").lines().count(), 6);
    let figure = std::fs::read(example.path("out/figure1-time-far.png")).expect("a figure");
    assert!(figure.starts_with(b"\x89PNG"));
}

#[test]
fn suites_are_checked() {
    let example = Example::new();
    for (old, new, part) in [
        ("name = \"Walker\"", "", "missing field `name`"),
        ("seconds = 60", "seconds = 0", "no positive number"),
        ("name = \"middle\"", "name = \"far\"", "the name `far` is there twice"),
        ("figures = [\"presets\"", "figures = [\"pictures\"", "unknown variant `pictures`"),
    ] {
        example.write("suite.toml", SUITE);
        example.replace("suite.toml", old, new);
        let output = example.run("bench run suite.toml --journal j");
        assert_eq!(code(&output), 40, "{part}: {}", text(&output));
        assert!(text(&output).contains(part), "{part}: {}", text(&output));
    }
    let output = example.run("bench report missing.toml --journal j --out o");
    assert_eq!(code(&output), 40, "{}", text(&output));
}
