//! A truck on a road with an icy stretch, which must be slow where it arrives.

use policert_policy::Network;
use serde_json::Value;

use super::{
    ExampleFile, Interface, all, binary, bounded, destination, edge, model, network,
    policy_property, text_file,
};
use crate::json_text::readable;

const FOLDER: &str = "icy_road";
/// Position of the loading bay.
const END: i64 = 30;
/// The icy stretch.
const ICE: (i64, i64) = (16, 22);
/// From here on, the truck must be slow.
const YARD: i64 = 26;
const FASTEST: i64 = 3;

pub(super) fn files() -> Vec<ExampleFile> {
    let interface = Interface {
        folder: FOLDER,
        inputs: &[("position", (0, END)), ("speed", (0, FASTEST))],
        outputs: &["accelerate", "coast", "brake"],
    };
    let mut files = vec![text_file(FOLDER, "model.jani", &readable(&jani()))];
    let careful =
        "Truck on an icy road: slow before the ice.\n2 inputs, 2 hidden layers, 3 outputs";
    let hasty = "Truck on an icy road: brakes on the ice.\n2 inputs, 2 hidden layers, 3 outputs";
    files.extend(interface.policy_files("careful", careful, &policy(8.0)));
    files.extend(interface.policy_files("hasty", hasty, &policy(16.0)));
    files
}

fn jani() -> Value {
    let at_speed = |s: i64| binary("=", "speed", s);
    let room = |distance: i64| binary("≤", "position", END - distance);
    let dry_before = binary("<", "position", ICE.0);
    let dry_after = binary("<", ICE.1, "position");
    let icy = all([binary("≤", ICE.0, "position"), binary("≤", "position", ICE.1)]);
    // The truck changes its speed, then moves by it.
    let moves = |p: Option<f64>, speed: i64| {
        let position = binary("+", "position", speed);
        destination(p, &[("position", position), ("speed", speed.into())])
    };
    let mut edges = Vec::new();
    for s in 0..FASTEST {
        let guard = all([at_speed(s), room(s + 1)]);
        edges.push(edge("accelerate", guard, vec![moves(None, s + 1)]));
    }
    for s in 0..=FASTEST {
        let guard = all([at_speed(s), room(s)]);
        edges.push(edge("coast", guard, vec![moves(None, s)]));
    }
    edges.push(edge("brake", at_speed(0), vec![moves(None, 0)]));
    for s in 1..=FASTEST {
        for dry in [&dry_before, &dry_after] {
            let guard = all([at_speed(s), dry.clone(), room(s - 1)]);
            edges.push(edge("brake", guard, vec![moves(None, s - 1)]));
        }
        // On ice, one attempt in four fails.
        let guard = all([at_speed(s), icy.clone()]);
        edges.push(edge("brake", guard, vec![moves(Some(0.75), s - 1), moves(Some(0.25), s)]));
    }

    let start = binary("≤", "position", 6);
    let reach = all([binary("≤", YARD, "position"), binary("≤", 2, "speed")]);
    let positions = [10, 12, 14, YARD].map(|p| binary("≥", "position", p));
    let speeds = [1, 2, 3].map(|s| binary("≥", "speed", s));
    let predicates = [positions.as_slice(), &speeds].concat();
    let property = |name: &str| {
        policy_property(name, &format!("{name}.jani2nnet"), &start, &reach, &predicates)
    };
    model(
        "icy_road",
        "A truck on a road with an icy stretch, which must be slow in the yard at its end.",
        &["accelerate", "coast", "brake"],
        vec![bounded("position", 0, END, 0), bounded("speed", 0, FASTEST, 0)],
        vec![property("careful"), property("hasty")],
        edges,
    )
}

/// A policy that slows down from speed 3 to speed 1 within 4 positions from `from` on.
///
/// The first layer bends the speed that it aims at, 3 at first, at five positions; the second
/// tells how much too slow and too fast the truck is. Within three eighths of the aim, it coasts.
fn policy(from: f64) -> Network {
    network(&[
        &[
            (&[1.0, 0.0], -from),
            (&[1.0, 0.0], -from - 1.0),
            (&[1.0, 0.0], -from - 3.0),
            (&[1.0, 0.0], -from - 4.0),
            (&[1.0, 0.0], -28.0),
            (&[0.0, 1.0], 0.0),
        ],
        &[
            (&[-0.25, -0.5, 0.5, 0.25, -0.5, -1.0], 3.0),
            (&[-0.25, -0.5, 0.5, 0.25, -0.5, -1.0], 2.0),
            (&[0.25, 0.5, -0.5, -0.25, 0.5, 1.0], -3.0),
            (&[0.25, 0.5, -0.5, -0.25, 0.5, 1.0], -4.0),
        ],
        &[
            (&[1.0, 0.5, -1.0, -0.5], -0.375),
            (&[0.0, 0.0, 0.0, 0.0], 0.0),
            (&[-1.0, -0.5, 1.0, 1.5], -0.375),
        ],
    ])
}
