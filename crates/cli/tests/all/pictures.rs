//! The pictures of `policert reach` and `policert plot`: what is in them, and what is refused.

use std::fs;
use std::path::Path;

use crate::support::json_schema::{breaches, schema};
use crate::support::program::{code, policert, text};

/// A box that moves to the right, a quarter in each step, for four steps.
const TASK: &str = r#"
[task]
state = ["pos", "height", "z"]
grid = [["-1", "0", "1", "3"], ["-1", "2"], ["0", "1"]]
policy = "u = 0.25"
update = ["pos + u", "height", "z"]
initial = ["0", "0.125", "0", "0.25", "0.5", "0.5"]
goal = ["1", "1.25", "0", "0.5", "0", "1"]
unsafe = ["0.5", "0.75", "0.5", "0.75", "0", "1"]
steps = 6
goal_rule = "each"
after_goal = "stop"
"#;

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("walk.toml"), TASK).expect("written");
    folder
}

fn run(folder: &Path, arguments: &str, expected: i32) -> String {
    let output = policert(folder, arguments).output().expect("policert runs");
    assert_eq!(code(&output), expected, "{arguments}: {}", text(&output));
    text(&output)
}

fn read(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).expect("a file")
}

/// The number of lines that contain all of these texts.
fn lines(text: &str, parts: &[&str]) -> usize {
    text.lines().filter(|line| parts.iter().all(|part| line.contains(part))).count()
}

#[test]
fn each_box_is_a_rectangle() {
    let folder = folder();
    run(folder.path(), "reach walk.toml --plot walk.svg", 0);
    let svg = read(folder.path(), "walk.svg");
    assert!(svg.starts_with("<svg width=\"800\"") && svg.ends_with("</svg>\n"), "{svg}");
    assert_eq!(lines(&svg, &["<rect", "stroke=\"#D60000\""]), 5, "boxes: {svg}");
    assert_eq!(lines(&svg, &["<polyline", "stroke=\"#14963C\"", "stroke-width=\"8\""]), 30);
    assert_eq!(lines(&svg, &["<rect", "fill=\"#1F4ED8\""]), 2, "the goal, and in the legend");
    assert!(lines(&svg, &["<polyline", "stroke=\"#8A2BE2\""]) > 8, "dashes");
    for text in ["pos", "height", "goal", "unsafe", "trajectories", "reachable boxes"] {
        assert_eq!(svg.lines().filter(|line| *line == text).count(), 1, "{text}");
    }
    assert!(svg.contains("walk: SAFE, in the goal by step 4"), "{svg}");
    run(folder.path(), "reach walk.toml --plot again.svg", 0);
    assert!(svg == read(folder.path(), "again.svg"), "the same picture");
}

#[test]
fn one_panel_for_each_pair_of_variables() {
    let folder = folder();
    let pairs = "--plot-dims pos,z --plot-dims 2,3 --plot-dims z,height";
    run(folder.path(), &format!("reach walk.toml --plot walk.svg {pairs}"), 0);
    let svg = read(folder.path(), "walk.svg");
    for (name, count) in [("pos", 1), ("height", 2), ("z", 3)] {
        assert_eq!(svg.lines().filter(|line| *line == name).count(), count, "{name}");
    }
    // Where a box does not move, it is drawn again for each step.
    assert_eq!(lines(&svg, &["<rect", "stroke=\"#D60000\""]), 15);
}

#[test]
fn a_png_has_the_size_it_says() {
    let folder = folder();
    run(folder.path(), "reach walk.toml --plot walk.PNG --plot-boxes boxes.png", 0);
    for (name, width) in [("walk.PNG", 1600u32), ("boxes.png", 1600)] {
        let bytes = fs::read(folder.path().join(name)).expect("a picture");
        assert_eq!(&bytes[..8], b"\x89PNG\r\n\x1a\n");
        assert_eq!(bytes[16..20], width.to_be_bytes());
        assert!(bytes.len() > 5000, "something is drawn: {}", bytes.len());
    }
}

#[test]
fn counterexamples_are_drawn() {
    let folder = folder();
    let task = TASK.replace("\"0.75\", \"0.5\"", "\"0.75\", \"0\"");
    fs::write(folder.path().join("walk.toml"), task).expect("written");
    run(folder.path(), "reach walk.toml --plot walk.svg", 10);
    let svg = read(folder.path(), "walk.svg");
    assert!(svg.contains("walk: UNSAFE") && svg.contains("counterexample"), "{svg}");
    assert!(lines(&svg, &["<polyline", "stroke=\"#E67800\""]) > 2, "{svg}");
}

#[test]
fn a_journal_does_not_take_boxes_away() {
    let folder = folder();
    for name in ["first.svg", "second.svg"] {
        run(folder.path(), &format!("reach walk.toml --journal j --plot {name}"), 0);
    }
    assert!(read(folder.path(), "first.svg") == read(folder.path(), "second.svg"));
}

#[test]
fn results_are_compared() {
    let folder = folder();
    let json = |file: &str| -> serde_json::Value {
        serde_json::from_str(&read(folder.path(), file)).expect("JSON")
    };
    for (option, file) in [("", "a.json"), ("--aggregation none", "b.json")] {
        run(folder.path(), &format!("reach walk.toml {option} --json {file}"), 0);
        assert_eq!(breaches(&schema("reach"), &json(file)), [""; 0]);
    }
    assert_eq!(json("b.json")["aggregation"], "none");
    assert_eq!(json("b.json")["granularity"], serde_json::Value::Null);
    run(folder.path(), "plot boxes a.json b.json --out counts.svg", 0);
    let svg = read(folder.path(), "counts.svg");
    for text in ["with aggregation", "without aggregation", "walk: boxes at each step", "step"] {
        assert_eq!(svg.lines().filter(|line| *line == text).count(), 1, "{text}: {svg}");
    }
    let text = run(folder.path(), "plot granularity a.json --out g.svg", 40);
    assert!(text.contains("not of one width"), "{text}");
    for width in ["0.5", "0.25,1,1"] {
        let arguments = format!("reach walk.toml --granularity {width} --json {width}.json");
        run(folder.path(), &arguments, 0);
    }
    assert_eq!(json("0.25,1,1.json")["granularity"], serde_json::json!(["1/4", "1", "1"]));
    run(folder.path(), "plot granularity 0.5.json 0.25,1,1.json --out g.svg", 0);
    let svg = read(folder.path(), "g.svg");
    assert_eq!(lines(&svg, &["<circle", "r=\"40\""]), 6, "two points in three panels: {svg}");
    assert!(svg.contains("verified parts (%)"));
    run(folder.path(), "plot boxes 0.5.json 0.25,1,1.json --out w.svg", 0);
    let svg = read(folder.path(), "w.svg");
    assert_eq!(svg.lines().filter(|line| *line == "granularity (0.25, 1, 1)").count(), 1, "{svg}");
}

#[test]
fn what_cannot_be_drawn_is_refused_before_the_work() {
    let folder = folder();
    fs::write(folder.path().join("a.json"), "{\"verdict\": \"safe\"}").expect("written");
    for (arguments, expected, message) in [
        ("reach none.toml --plot walk.pdf", 42, "end in .svg or .png"),
        ("reach none.toml --plot-boxes walk", 42, "end in .svg or .png"),
        ("reach walk.toml --plot walk.svg --plot-dims pos,w", 42, "`w` is no variable"),
        ("reach walk.toml --plot walk.svg --plot-dims 1,4", 42, "`4` is no variable"),
        ("reach walk.toml --granularity 0.1,0.1", 42, "2 widths of cells for 3 variables"),
        ("reach walk.toml --granularity 0", 42, "impossible"),
        ("reach walk.toml --granularity fine", 42, "no number"),
        ("plot boxes a.json --out a.gif", 42, "end in .svg or .png"),
        ("plot boxes a.json --out a.svg", 40, "no result of"),
        ("plot boxes none.json --out a.svg", 40, "none.json"),
        ("plot boxes --out a.svg", 42, "RESULT"),
        ("plot boxes a.json", 42, "--out"),
    ] {
        let text = run(folder.path(), arguments, expected);
        assert!(text.contains(message), "{arguments}: {text}");
    }
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 2, "no picture");
}
