//! `policert bench`: runs in processes of their own, a journal that survives, tables and figures.

use crate::support::example::Example;
use crate::support::program::{code, text};

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
    let none = example.run("bench run suite.toml --journal study.jsonl --resume");
    assert_eq!(code(&none), 42, "there is nothing to go on with: {}", text(&none));
    assert!(text(&none).contains("--resume has no effect"), "{}", text(&none));
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

    // What has changed is run again, and a report of what was leaves it out or says so.
    example.write("other.toml", &suite.replace("\"ppa\"", "\"cegar\""));
    let report = example.run("bench report other.toml --journal study.jsonl --out other");
    assert_eq!(code(&report), 0, "{}", text(&report));
    let table = example.read("other/report.md");
    assert!(table.contains("Left out, because the suite has other options now"), "{table}");
    assert!(!table.contains("| native | 50 % |"), "{table}");
    let run = |options: &str| {
        let line = format!("bench run other.toml --resume --journal study.jsonl {options}");
        text(&example.run(&line))
    };
    let other = run("");
    assert!(other.contains("is run again: other options"), "{other}");
    assert!(other.contains("5 of 5 runs are finished, 3 of them now"), "{other}");
    // So is every run that reads a file that has changed.
    example.replace("policy.nnet", "-1.0,1.0,", "-1.0,1.5,");
    let report = example.run("bench report other.toml --journal study.jsonl --out other");
    assert_eq!(code(&report), 0, "{}", text(&report));
    let table = example.read("other/report.md");
    assert!(table.contains("policy.nnet was another file"), "{table}");
    let changed = run("");
    assert!(changed.contains("policy.nnet was another file"), "{changed}");
    assert!(changed.contains("5 of 5 runs are finished, 5 of them now"), "{changed}");
    let unchanged = run("");
    assert!(unchanged.contains("5 of 5 runs are finished, 0 of them now"), "{unchanged}");
    let limits = run("--timeout 59s");
    assert!(limits.contains("is run again: other limits (60 s, 4GB)"), "{limits}");

    example.write("third.toml", &suite.replace("\"far\"", "\"near\""));
    for command in ["run third.toml --resume", "report third.toml --out o"] {
        let third = example.run(&format!("bench {command} --journal study.jsonl"));
        assert_eq!(code(&third), 42, "{}", text(&third));
        assert!(text(&third).contains("one of another suite"), "{}", text(&third));
    }
}

#[test]
fn only_what_is_there_can_be_chosen() {
    let example = Example::new();
    example.write("suite.toml", SUITE);
    let none = example.run("bench run suite.toml --journal j --only nothing");
    assert_eq!(code(&none), 42, "{}", text(&none));
    assert!(text(&none).contains("there are far, middle, native, explicit"), "{}", text(&none));
    assert!(!example.path("j").exists());
}

#[test]
fn a_configuration_has_its_own_limits_and_probabilities_are_kept() {
    let example = Example::new();
    let limited = r#""--engine", "prob", "--timeout=9s", "--memory", "3GB""#;
    let suite = SUITE
        .replace("\"model.jani\",", "\"model.jani\", \"--interface\", \"policy.jani2nnet\",")
        .replace(r#""--engine", "ppa""#, limited)
        .replace("shares = [50, 100]\n", "")
        .replace("name = \"middle\"", "name = \"middle\"\ndomain = \"walk\"");
    example.write("suite.toml", &suite);
    let run = example.run("bench run suite.toml --journal j");
    assert_eq!(code(&run), 0, "{}", text(&run));
    let report = example.run("bench report suite.toml --journal j --out out");
    assert_eq!(code(&report), 0, "{}", text(&report));
    let (csv, table) = (example.read("out/runs.csv"), example.read("out/report.md"));
    let middle = csv.lines().find(|line| line.starts_with("middle,native,,probability,"));
    assert!(middle.is_some_and(|line| line.contains(",1,1,1,")), "{csv}");
    assert!(table.contains("| probability: 1 |"), "{table}");
    assert!(table.contains("| native | **1** (1) | **1** (1) |"), "{table}");
    assert!(table.contains("| policy.nnet | "), "{table}");
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
