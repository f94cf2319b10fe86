//! Whoever reads may stop reading (`policert … | head -1`): every command that prints then ends as if all
//! had been read, and says nothing about it.

use crate::support::example::Example;
use crate::support::program::{code, text};

const SUITE: &str = r#"
name = "Walker"
folder = "."
seconds = 60
memory = "1GB"
[[instance]]
name = "far"
arguments = ["model.jani", "--interface", "policy.jani2nnet"]
[[configuration]]
name = "explicit"
arguments = ["--engine", "explicit"]
[[table]]
name = "states"
title = "States"
rows = "instances"
columns = [{ title = "reachable", measure = "statistics.reachable_states" }]
"#;

/// Commands and the codes that they end with; a later one may read what an earlier one wrote.
const COMMANDS: &[(&str, i32)] = &[
    ("--help", 0),
    ("--version", 0),
    ("completions bash", 0),
    ("verify model.jani --interface policy.jani2nnet", 0),
    ("verify model.jani --property middle --json -", 10),
    ("verify model.jani --evidence evidence.json --json result.json", 0),
    ("certify evidence.json", 0),
    ("check model.jani", 0),
    ("simulate model.jani --runs 5", 0),
    ("convert model.jani --policy-as-automaton real --output converted.jani", 0),
    ("dataset model.jani --rollouts 5 --output rows.csv", 0),
    ("report result.json --out page.html", 0),
    ("interface model.jani policy.nnet --output first.json", 0),
    ("generate npuzzle 2 2 --output puzzle.jani", 0),
    ("bench run suite.toml --journal study.jsonl", 0),
    ("bench report suite.toml --journal study.jsonl --out pages", 0),
];

#[test]
fn a_closed_pipe_ends_every_command_quietly() {
    let example = Example::new();
    example.write("suite.toml", SUITE);
    let mut wrong = Vec::new();
    for &(arguments, expected) in COMMANDS {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let output = example.command(arguments).stdout(writer).output().expect("policert runs");
        // What goes to standard error in any case may stand there.
        let text = text(&output);
        if code(&output) != expected || text.contains("pipe") || text.contains("error:") {
            wrong.push(format!("{arguments}: {} {text}", code(&output)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
