//! How much memory it takes to load a large model.

use std::fmt::Write as _;
use std::path::Path;

use policert_jani::{LoadOptions, load_bytes};

/// A model with many edges, in few bytes for each.
fn many_edges(edges: usize) -> String {
    let mut text =
        r#"{"jani-version": 1, "name": "many", "type": "lts", "variables": [{"name": "x",
        "type": {"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": 1000},
        "initial-value": 0}], "automata": [{"name": "A", "locations": [{"name": "l"}],
        "initial-locations": ["l"], "edges": ["#
            .to_owned();
    for i in 0..edges {
        let (comma, bound) = (if i == 0 { "" } else { ", " }, i % 1000);
        write!(
            text,
            r#"{comma}{{"location": "l", "guard": {{"exp": {{"op": "≤", "left": "x", "right": {bound}}}}},
            "destinations": [{{"location": "l", "assignments": [{{"ref": "x",
            "value": {{"op": "+", "left": "x", "right": 1}}}}]}}]}}"#
        )
        .expect("a string takes all");
    }
    text + r#"]}], "system": {"elements": [{"automaton": "A"}]}}"#
}

/// The most memory that this process had at once, in bytes.
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("a peak");
    let number = line.split_whitespace().nth(1).and_then(|kib| kib.parse::<usize>().ok());
    number.expect("a number") * 1024
}

/// The tree of a file's values and its syntax took more than ten times its size.
#[test]
fn a_large_model_takes_at_most_three_times_its_size() {
    let before = peak();
    let text = many_edges(50_000);
    let size = text.len();
    let loaded = load_bytes(Path::new("many.jani"), text.into_bytes(), &LoadOptions::default());
    let taken = peak() - before;
    assert_eq!(loaded.model().map(|model| model.instances[0].edges.len()), Some(50_000));
    assert!(taken <= 3 * size, "{taken} bytes for {size}");
}
