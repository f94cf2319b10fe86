//! A robot in a warehouse, which must be back at its charger before its battery is empty.

use policert_policy::Network;
use serde_json::Value;

use super::{
    ExampleFile, Interface, all, binary, bounded, destination, edge, model, network,
    policy_property, text_file,
};
use crate::json_text::readable;

const FOLDER: &str = "warehouse";
/// The floor has this many rows and columns, from 0.
const SIDE: i64 = 8;
/// A full battery.
const FULL: i64 = 40;
const LABELS: [&str; 5] = ["charge", "east", "north", "west", "south"];

pub(super) fn files() -> Vec<ExampleFile> {
    let interface = Interface {
        folder: FOLDER,
        inputs: &[("x", (0, SIDE - 1)), ("y", (0, SIDE - 1)), ("battery", (0, FULL))],
        outputs: &LABELS,
    };
    let mut files = vec![text_file(FOLDER, "model.jani", &readable(&jani()))];
    let comment = |reserve: &str| {
        format!(
            "Robot in a warehouse: keeps {reserve} for each step home.\n\
             3 inputs, 2 hidden layers, 5 outputs"
        )
    };
    files.extend(interface.policy_files("careful", &comment("2 units"), &policy(2.0)));
    files.extend(interface.policy_files("hasty", &comment("1 unit"), &policy(1.0)));
    files
}

fn jani() -> Value {
    // A step costs one unit, and two in one of ten cases, where the robot has to wait for people.
    let last = SIDE - 1;
    let step = |p: Option<f64>, coordinate: &str, by: i64, cost: i64| {
        let moved = binary("+", coordinate, by);
        destination(p, &[(coordinate, moved), ("battery", binary("-", "battery", cost))])
    };
    let mut edges = vec![edge(
        "charge",
        all([binary("=", "x", 0), binary("=", "y", 0)]),
        vec![destination(None, &[("battery", FULL.into())])],
    )];
    for (label, coordinate, by) in
        [("east", "x", 1), ("north", "y", 1), ("west", "x", -1), ("south", "y", -1)]
    {
        let inside = match by {
            1 => binary("<", coordinate, last),
            _ => binary("<", 0, coordinate),
        };
        // With a single unit left, there is no waiting: it is empty after the step either way.
        let enough = all([inside.clone(), binary("≤", 2, "battery")]);
        let outcomes = vec![step(Some(0.9), coordinate, by, 1), step(Some(0.1), coordinate, by, 2)];
        edges.push(edge(label, enough, outcomes));
        let little = all([inside, binary("=", "battery", 1)]);
        edges.push(edge(label, little, vec![step(None, coordinate, by, 1)]));
    }

    let away = binary("≤", 1, binary("+", "x", "y"));
    let empty = binary("≤", "battery", 0);
    let home = |each: i64| {
        let steps = binary("+", "x", "y");
        binary("≤", if each == 1 { steps } else { binary("*", each, steps) }, "battery")
    };
    let start = all([binary("≤", binary("+", "x", "y"), 3), home(2)]);
    let reach = all([empty.clone(), away.clone()]);
    let predicates = [home(2), empty, away];
    let property = |name: &str| {
        policy_property(name, &format!("{name}.jani2nnet"), &start, &reach, &predicates)
    };
    model(
        "warehouse",
        "A robot in a warehouse, which must be back at its charger before its battery is empty.",
        &LABELS,
        vec![bounded("x", 0, last, 0), bounded("y", 0, last, 0), bounded("battery", 0, FULL, FULL)],
        vec![property("careful"), property("hasty")],
        edges,
    )
}

/// A policy that explores the floor, turns home when fewer than 4 units are left beyond `each`
/// for every step home, and charges there.
fn policy(each: f64) -> Network {
    network(&[
        &[
            // what the reserve lacks
            (&[each, each, -1.0], 4.0),
            // at the charger
            (&[-1.0, -1.0, 0.0], 1.0),
            // at the walls
            (&[-1.0, 0.0, 0.0], 1.0),
            (&[0.0, -1.0, 0.0], 1.0),
            (&[1.0, 0.0, 0.0], -6.0),
            (&[0.0, 1.0, 0.0], -6.0),
            (&[0.0, 0.0, 1.0], 0.0),
            // east of the diagonal
            (&[1.0, -1.0, 0.0], 0.0),
        ],
        &[
            (&[1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], 0.0),
            // at the charger and not full
            (&[0.0, 40.0, 0.0, 0.0, 0.0, 0.0, -1.0, 0.0], 0.0),
            (&[0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0], 0.0),
            (&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0], 0.0),
            (&[0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], 0.0),
            (&[0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0], 0.0),
            (&[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], 0.0),
        ],
        &[
            (&[0.0, 10.0, 0.0, 0.0, 0.0, 0.0, 0.0], -1.0),
            (&[0.0, 0.0, 0.0, 0.0, -90.0, 0.0, -1.0], 4.0),
            (&[0.0, 0.0, 0.0, 0.0, 0.0, -90.0, 0.0], 3.5),
            (&[8.0, 0.0, -90.0, 0.0, 0.0, 0.0, 0.0], 0.25),
            (&[8.0, 0.0, 0.0, -90.0, 0.0, 0.0, 0.0], 0.0),
        ],
    ])
}
