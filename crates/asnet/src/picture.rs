//! The modules of a problem as a picture: which read which.

use std::fmt::Write as _;

use crate::asnet::Architecture;
use crate::instance::{Instance, Truth};

/// Pixels between two modules of a layer, and between two layers.
const STEP: usize = 22;
const GAP: usize = 260;
const MARGIN: usize = 40;
/// Pixels from the top to the first module.
const TOP: usize = 60;

/// An SVG picture of all layers, with a line for each module that another one reads. Modules of one
/// schema or predicate, which share weights, have one colour.
#[must_use]
pub fn picture(instance: &Instance, architecture: &Architecture) -> String {
    let columns = 2 * architecture.layers + 2;
    let rows = instance.atoms.len().max(instance.actions.len()).max(1);
    let (width, height) = (2 * MARGIN + GAP * columns, TOP + STEP * rows + MARGIN);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"11\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n"
    );
    let x = |column: usize| MARGIN + GAP * column;
    let y = |row: usize| TOP + STEP * row;
    // Lines first, so that modules are on top.
    for column in 1..columns {
        for (action, node) in instance.actions.iter().enumerate() {
            for &atom in &node.slots {
                let (left, right) = if column % 2 == 1 { (atom, action) } else { (action, atom) };
                let _ = writeln!(
                    svg,
                    "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"#bbb\"/>",
                    x(column - 1),
                    y(left),
                    x(column),
                    y(right)
                );
            }
        }
    }
    for column in 0..columns {
        let title = match (column, column % 2) {
            (0, _) => "truth and goal".to_owned(),
            (_, 1) if column + 1 == columns => "scores of actions".to_owned(),
            (_, 1) => format!("actions, layer {}", column / 2 + 1),
            _ => format!("propositions, layer {}", column / 2),
        };
        let _ =
            writeln!(svg, "<text x=\"{}\" y=\"30\" font-weight=\"bold\">{title}</text>", x(column));
        if column % 2 == 1 {
            for (row, action) in instance.actions.iter().enumerate() {
                module(&mut svg, x(column), y(row), action.schema, &action.name, false);
            }
        } else {
            for (row, atom) in instance.atoms.iter().enumerate() {
                let is_constant = matches!(atom.truth, Truth::Constant(_));
                let goal = match atom.goal {
                    0 => "",
                    1.. => " (wanted)",
                    _ => " (not wanted)",
                };
                let name = format!("{}{goal}", atom.name);
                module(&mut svg, x(column), y(row), atom.predicate, &name, is_constant);
            }
        }
    }
    svg + "</svg>\n"
}

fn module(svg: &mut String, x: usize, y: usize, kind: usize, name: &str, is_constant: bool) {
    const COLOURS: [&str; 8] =
        ["#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#17becf"];
    let colour = if is_constant { "#999" } else { COLOURS[kind % COLOURS.len()] };
    let text = name.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let _ = writeln!(
        svg,
        "<circle cx=\"{x}\" cy=\"{y}\" r=\"6\" fill=\"{colour}\"/>\
         <text x=\"{}\" y=\"{}\">{text}</text>",
        x + 10,
        y + 4
    );
}
