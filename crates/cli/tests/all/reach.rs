//! `policert reach`: what is printed, limits, and options that share a grammar with others.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::support::loop_task::LoopTask;
use crate::support::program::{code, policert, text};

fn expect(folder: &Path, arguments: &str, expected: i32) -> String {
    let output = policert(folder, arguments).output().expect("the program runs");
    let text = text(&output);
    assert_eq!(code(&output), expected, "{arguments}: {text}");
    text
}

/// A walk from 0 or from a little further, as a controller says; unsafe from `low` on.
fn walk<'a>(policy: &'a str, low: &'a str, steps: &'a str) -> LoopTask<'a> {
    LoopTask {
        name: "walk",
        update: "x + u",
        clamp: None,
        state_space: ["-3", "30"],
        granularity: "0.5",
        policy,
        initial: ["0", "0.05"],
        goal: None,
        avoid: Some([low, "99"]),
        steps,
    }
}

fn folder(formula: &str, low: &str, steps: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let text = walk(&format!("formula = [\"{formula}\"]"), low, steps).text();
    fs::write(folder.path().join("walk.toml"), text).expect("written");
    folder
}

#[test]
fn an_unsafe_trajectory_is_shown_step_by_step() {
    let short = folder("0.1", "0.325", "9");
    let text = expect(short.path(), "reach walk.toml", 10);
    for line in [
        "UNSAFE: walk: a trajectory is in the unsafe set at step 3",
        "  start      x=1/40",
        "  step 1     u=1/10 → x=1/8",
        "  step 3     u=1/10 → x=13/40",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    assert!(!text.contains("step 4"), "{text}");
    let long = folder("0.1", "4", "99");
    let text = expect(long.path(), "reach walk.toml", 10);
    assert!(text.contains("step 1 ") && text.contains("steps; --verbose shows them"), "{text}");
    assert!(text.contains("  step 40    "), "{text}");
    assert!(!text.contains("step 20 "), "{text}");
    let text = expect(long.path(), "reach walk.toml --verbose", 10);
    assert!(text.contains("step 20 ") && !text.contains("shows them"), "{text}");
    assert!(!expect(long.path(), "reach walk.toml --quiet", 10).contains("step 1 "));
}

#[test]
fn what_is_not_decided_says_what_would_help() {
    let without_value = folder("1/(lo + 0.5) if lo > 0 else 1/lo", "20", "9");
    let text = expect(without_value.path(), "reach walk.toml", 20);
    assert!(text.contains("the controller has no value"), "{text}");
    assert!(text.contains("does not help; a controller with a value"), "{text}");
    let outside = folder("20", "29", "2");
    let text = expect(outside.path(), "reach walk.toml --refinements 0", 10);
    assert!(text.contains("step 2"), "{text}");
    let outside = folder("-2", "29", "9");
    let text = expect(outside.path(), "reach walk.toml", 20);
    assert!(text.contains("cells that reach further ([abstraction]) would help"), "{text}");
    let text = expect(outside.path(), "reach walk.toml --refinements 2", 20);
    assert!(text.contains("halved 2 times; a greater --refinements"), "{text}");
    let text = expect(outside.path(), "reach walk.toml --timeout 0", 30);
    assert!(text.contains("the time limit was reached"), "{text}");
    let never = folder("0.1", "0", "3");
    let path = never.path().join("walk.toml");
    let text = fs::read_to_string(&path).expect("a text");
    fs::write(&path, text.replace("[unsafe]", "[unsafe]\nfrom_step = 4")).expect("written");
    let text = expect(never.path(), "reach walk.toml", 0);
    assert!(text.contains("warning: the unsafe set counts from step 4 on"), "{text}");
}

#[test]
fn widths_of_cells_may_be_fractions() {
    let folder = folder("0.1", "20", "3");
    let folder = folder.path();
    let text = expect(folder, "reach walk.toml --granularity 1/3 --json r.json", 0);
    assert!(text.starts_with("SAFE"), "{text}");
    let report = fs::read_to_string(folder.join("r.json")).expect("written");
    assert!(report.contains("\"1/3\""), "{report}");
    for wrong in ["1/0", "a", "1/", "0", "1/2/3"] {
        expect(folder, &format!("reach walk.toml --granularity {wrong}"), 42);
    }
}

#[test]
fn many_boxes_and_many_cells_stop_at_the_limit_of_time() {
    // A policy that differs from cell to cell, with narrow cells: the merging of boxes takes long.
    let task = r#"
state = ["x", "y"]
input = ["u"]
aggregation_distance = [1e-9, 1e-9]
[dynamics]
kind = "difference"
update = ["x + 0.1*y", "y + 0.1*u"]
[abstraction]
edges = [[-2, 2], [-2, 2]]
state_space_lower = [-2, -2]
state_space_upper = [2, 2]
granularity = ["1/5000", "1/5000"]
[policy]
formula = ["-lo_x - 1000*(lo_x*lo_y)*(hi_x - lo_x)"]
[initial]
lower = [0.1, 0.1]
upper = [0.3, 0.3]
[unsafe]
lower = [1.95, -2]
upper = [2, 2]
[horizon]
steps = 100
"#
    .replace("edges = [[-2, 2], [-2, 2]]\n", "");
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("t.toml"), task).expect("written");
    for threads in [1, 2] {
        let begin = Instant::now();
        let output =
            policert(folder.path(), &format!("reach t.toml --timeout 1s --threads {threads}"))
                .output()
                .expect("the program runs");
        // Generous, for machines that do other work.
        assert!(begin.elapsed() < Duration::from_secs(8), "{:?}", begin.elapsed());
        assert!(matches!(output.status.code(), Some(30 | 0)), "{output:?}");
    }
}

#[test]
fn options_without_effect_are_refused() {
    let folder = folder("0.1", "20", "3");
    for (option, reason) in [
        ("--evaluation f32", "the controller is a formula"),
        ("--any-order", "the controller is a formula"),
        ("--between-samples", "the update is applied once"),
        ("--goal each", "the task has no goal"),
        ("--after-goal stop", "the task has no goal"),
        ("--aggregation as-written", "no distances"),
        ("--threads 2 --refinements 0", "--refinements 0 leaves one"),
    ] {
        let text = expect(folder.path(), &format!("reach walk.toml {option}"), 42);
        assert!(text.contains("has no effect") && text.contains(reason), "{option}: {text}");
    }
    let reads_state = walk("network = \"n.onnx\"\ninput = \"state\"", "20", "3").text();
    fs::write(folder.path().join("state.toml"), reads_state).expect("written");
    for option in ["--box-limit 9", "--granularity 1", "--any-order"] {
        let text = expect(folder.path(), &format!("reach state.toml {option}"), 42);
        assert!(text.contains("the network reads the state itself"), "{option}: {text}");
    }
}

#[test]
fn a_verdict_says_which_part_of_the_initial_box_it_is_about() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/cart"));
    let part = expect(folder, "reach cells.toml --initial p=0.4..0.5", 0);
    let said = "every trajectory that begins with p from 2/5 to 1/2 meets the specification";
    assert!(part.contains(said), "{part}");
    let whole = expect(folder, "reach cells.toml", 0);
    assert!(whole.contains("every trajectory meets the specification"), "{whole}");
}
