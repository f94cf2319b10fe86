//! Files that a run writes: what cannot be written is noticed before the work, no input is ever
//! overwritten, and an answer is printed even if its file fails. And inputs that are no files.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use crate::support::example::Example;
use crate::support::program::{code, text};
use crate::support::small_files::{LOOP, PROPERTY, cell_network};

fn example() -> Example {
    let example = Example::new();
    example.write("loop.toml", LOOP);
    example.write("cart.toml", &cell_network());
    example.write("p.vnnlib", PROPERTY);
    example
}

fn expect(example: &Example, arguments: &str, expected: i32) -> String {
    let output = example.run(arguments);
    assert_eq!(code(&output), expected, "{arguments}: {}", text(&output));
    text(&output)
}

/// Commands with each of their options that name a file to be written.
const WRITERS: [&str; 12] = [
    "verify model.jani --json",
    "verify model.jani --evidence",
    "verify model.jani --engine ppa --record-queries",
    "check model.jani --json",
    "query policy.nnet p.vnnlib --json",
    "reach loop.toml --json",
    "reach loop.toml --plot",
    "reach loop.toml --plot-boxes",
    "reach loop.toml --journal",
    "train cart.toml --out n.onnx --json",
    "train cart.toml --out",
    "plot boxes result.json --out",
];

#[test]
fn what_cannot_be_written_is_noticed_before_the_work() {
    let example = example();
    fs::create_dir(example.path("folder.svg")).expect("a folder");
    for writer in WRITERS {
        for (file, message) in [
            ("no/such/file.svg", "the folder no/such does not exist"),
            ("loop.toml/file.svg", "the folder loop.toml is none"),
            ("folder.svg", "is a folder"),
        ] {
            // Inputs that are not there are not even looked for.
            let blind = writer.replace("model.jani", "none.jani").replace("loop.toml", "none.toml");
            let found = expect(&example, &format!("{blind} {file}"), 42);
            let option = writer.rsplit(' ').next().unwrap_or_default();
            assert!(found.contains(message) && found.contains(option), "{writer}: {found}");
            assert!(!found.contains(".policert-"), "{found}");
        }
    }
}

#[test]
fn a_folder_that_cannot_be_filled_stays_as_it_is() {
    let example = example();
    expect(&example, "generate blocksworld 4 --output model.jani/new", 42);
    fs::create_dir_all(example.path("part/reach.jani")).expect("a folder");
    expect(&example, "generate blocksworld 4 --output part --force", 42);
    assert!(!example.path("part/start.jani").exists(), "nothing is half-written");
}

/// To open it waits for whoever reads it, perhaps for ever.
#[test]
fn a_named_pipe_is_no_output() {
    let example = example();
    let made = Command::new("mkfifo").arg(example.path("pipe")).status();
    assert!(made.is_ok_and(|status| status.success()));
    let text = expect(&example, "verify model.jani --quiet --json pipe", 42);
    assert!(text.contains("--json pipe: is a named pipe"), "{text}");
}

#[test]
fn no_input_is_overwritten() {
    let example = example();
    for (writer, input) in [
        ("verify model.jani --json", "model.jani"),
        ("verify model.jani --property 1 --evidence", "policy.jani2nnet"),
        ("verify model.jani --engine ppa --record-queries", "policy.nnet"),
        ("verify model.jani --json", "policy.nnet"),
        ("check model.jani --json", "policy.nnet"),
        ("simulate model.jani --runs 3 --json", "policy.nnet"),
        ("dataset model.jani --rollouts 3 --output", "policy.nnet"),
        ("dataset model.jani --rollouts 3 --output t.csv --json", "policy.nnet"),
        ("query policy.nnet p.vnnlib --json", "p.vnnlib"),
        ("query policy.nnet p.vnnlib --json", "policy.nnet"),
        ("reach loop.toml --json", "loop.toml"),
        ("reach loop.toml --journal", "loop.toml"),
        ("train cart.toml --out", "cart.toml"),
    ] {
        for kind in ["itself", "hard link", "symbolic link"] {
            let other = example.path("other.name");
            let _ = fs::remove_file(&other);
            match kind {
                "hard link" => fs::hard_link(example.path(input), &other).expect("a link"),
                "symbolic link" => symlink(example.path(input), &other).expect("a link"),
                _ => {}
            }
            let file = if kind == "itself" { input } else { "other.name" };
            let before = example.read(input);
            let found = expect(&example, &format!("{writer} {file}"), 42);
            assert!(found.contains("this is the input"), "{writer} {kind}: {found}");
            assert!(!found.contains("SAFE"), "before the work: {found}");
            assert_eq!(example.read(input), before, "{writer} {kind}");
        }
    }
}

#[test]
fn no_broken_input_is_overwritten() {
    let example = example();
    example.write("policy.nnet", "no network");
    for writer in ["verify model.jani --json", "check model.jani --json"] {
        expect(&example, &format!("{writer} policy.nnet"), 42);
        assert_eq!(example.read("policy.nnet"), "no network");
    }
    example.write("net.onnx", "no network");
    expect(&example, "reach cart.toml --json net.onnx", 42);
    assert_eq!(example.read("net.onnx"), "no network");
}

#[test]
fn no_two_outputs_are_one_file() {
    let example = example();
    for arguments in [
        "verify model.jani --property 1 --json a --evidence ./a",
        "verify model.jani --engine ppa --json a --record-queries a",
        "reach loop.toml --plot a.svg --plot-boxes a.svg",
        "reach loop.toml --json a --journal a",
        "train cart.toml --out a --json a",
    ] {
        let found = expect(&example, arguments, 42);
        assert!(found.contains("writes the same file"), "{arguments}: {found}");
        assert!(!example.path("a").exists());
    }
}

#[test]
fn an_answer_is_printed_even_if_its_file_fails() {
    let example = example();
    symlink("/dev/full", example.path("full.svg")).expect("a link");
    for (arguments, answer) in [
        ("verify model.jani --json full.svg", "SAFE"),
        ("verify model.jani --engine ppa --record-queries full.svg", "SAFE"),
        ("verify model.jani --property 1 --evidence full.svg", "UNSAFE"),
        ("query policy.nnet p.vnnlib --json full.svg", "unsat"),
        ("reach loop.toml --json full.svg", "SAFE"),
        ("reach loop.toml --plot full.svg", "SAFE"),
        ("reach loop.toml --plot-boxes full.svg", "SAFE"),
        ("train cart.toml --out full.svg --timeout 1s", "cart"),
        ("dataset model.jani --output full.svg --rollouts 3", "rows"),
    ] {
        let found = expect(&example, arguments, 50);
        assert!(found.contains(answer), "{arguments}: {found}");
        assert!(found.contains("full.svg") && !found.contains(".policert-"), "{found}");
    }
    // The result of a run whose picture fails is there, and says so.
    expect(&example, "reach loop.toml --plot full.svg --json result.json", 50);
    let result = example.read("result.json");
    assert!(result.contains("\"safe\"") && result.contains("not written: full.svg"), "{result}");
}

#[test]
fn a_full_disk_at_a_checkpoint_ends_no_training() {
    let example = example();
    expect(&example, "generate npuzzle 2 2 --output g", 0);
    // No file may become longer than 4 kB: the network can be written, a checkpoint cannot.
    let arguments = "train g/npuzzle_2_2.jani --property g/pa_npuzzle_2_2.jani:0 --out n --hidden 4 \
                     --steps 3000 --checkpoint c --json r.json";
    let program = env!("CARGO_BIN_EXE_policert");
    let script = format!("trap '' XFSZ; ulimit -f 8; exec {program} {arguments}");
    let mut shell = Command::new("sh");
    let output = shell.current_dir(example.path(".")).args(["-c", &script]).output().expect("sh");
    let found = text(&output);
    assert_eq!(code(&output), 50, "{found}");
    assert!(found.contains("of 1000 runs reach the goal"), "the answer is printed: {found}");
    assert!(found.contains("--checkpoint c: "), "{found}");
    assert!(example.path("n.nnet").exists() && !example.path("c").exists(), "{found}");
}

#[test]
fn pipes_are_no_inputs() {
    let example = example();
    let pipes = ["pipe", "pipe.nnet"].map(|name| example.path(name));
    assert!(Command::new("mkfifo").args(pipes).status().expect("mkfifo").success());
    for arguments in [
        "verify pipe",
        "check pipe",
        "verify model.jani --property pipe:0",
        "verify model.jani --policy pipe.nnet",
        "verify model.jani --interface pipe",
        "query pipe.nnet p.vnnlib",
        "query policy.nnet pipe",
        "reach pipe",
        "train pipe --out n.onnx",
        "verify /dev/null",
    ] {
        let found = expect(&example, arguments, 40);
        assert!(found.contains("no regular file"), "{arguments}: {found}");
    }
    expect(&example, "reach loop.toml --journal pipe", 42);
    example.replace("cart.toml", "net.onnx", "pipe.nnet");
    expect(&example, "reach cart.toml", 40);
}
