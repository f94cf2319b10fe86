//! Pictures of the boxes of an invariant: their shadows in planes of two variables, and a list of them.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::frame::{Frame, Range, figure, path};
use crate::html::Html;
use crate::record::plain;
use crate::table::{Cell, Table};

/// The most boxes that are listed, and that are drawn.
const LISTED: usize = 300;
const DRAWN: usize = 20_000;
/// The most variables of whose pairs there are pictures.
const PLANES_OF: usize = 4;

/// The boxes of an invariant.
pub(crate) struct Invariant<'a> {
    boxes: Vec<&'a Map<String, Value>>,
    conditions: Vec<usize>,
    /// The variables that the diagram asks for, if there is one.
    asked: Option<Vec<String>>,
    /// The bounded variables, those first that the most boxes bound, with the values that occur.
    variables: Vec<(String, Range)>,
}

impl<'a> Invariant<'a> {
    /// The invariant of evidence, if it is one.
    pub(crate) fn new(evidence: &'a Value) -> Option<Self> {
        let boxes: Vec<&Map<String, Value>> =
            evidence["invariant"].as_array()?.iter().filter_map(Value::as_object).collect();
        let mut counts: BTreeMap<&str, (usize, Range)> = BTreeMap::new();
        for (name, value) in boxes.iter().flat_map(|one| one.iter()) {
            let Some(Range(low, high)) = range(value) else { continue };
            let (count, extent) = counts.entry(name).or_insert((0, Range(low, high)));
            *count += 1;
            extent.include(low);
            extent.include(high);
        }
        let mut variables: Vec<_> = counts.into_iter().collect();
        variables.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
        let variables =
            variables.into_iter().map(|(name, (_, extent))| (name.to_owned(), extent)).collect();
        let conditions = evidence["where"].as_array().into_iter().flatten();
        let conditions = conditions.map(|all| all.as_array().map_or(0, Vec::len)).collect();
        let asked = evidence["diagram"]["variables"].as_array();
        let asked = asked.map(|names| names.iter().map(plain).collect());
        Some(Self { boxes, conditions, asked, variables })
    }

    /// Adds pictures and the list.
    pub(crate) fn add_to(&self, html: &mut Html) {
        if let Some(variables) = &self.asked {
            html.leaf(
                "p",
                &format!(
                    "Too many boxes to be listed: the states are in a decision diagram, which asks for {}.",
                    variables.join(", ")
                ),
            );
        }
        if self.boxes.is_empty() {
            if self.asked.is_some() {
                return;
            }
            html.leaf("p", "There are no boxes: no state is a start state.");
            return;
        }
        if self.variables.is_empty() {
            html.leaf(
                "p",
                "The boxes bound no variable: all states may be reached, and none is unsafe.",
            );
            return;
        }
        self.add_planes(html);
        self.add_list(html);
    }

    fn add_planes(&self, html: &mut Html) {
        let first = &self.variables[..self.variables.len().min(PLANES_OF)];
        if self.boxes.len() > DRAWN || first.len() < 2 {
            return;
        }
        html.leaf(
            "p",
            "Shadows of the boxes, in planes of the variables that most of them bound: outside of what is filled there \
             are no reachable states. A box that does not bound a variable goes from side to side.",
        );
        let mut pairs = Vec::new();
        for (at, x) in first.iter().enumerate() {
            pairs.extend(first[at + 1..].iter().map(|y| (x, y)));
        }
        html.element("div", &[("class", "pictures")], |html| {
            for ((x, x_range), (y, y_range)) in pairs {
                let wide = |range: &Range| Range(range.0 - 1.0, range.1 + 1.0);
                let frame = Frame::new(wide(x_range), wide(y_range));
                let title = format!("{y} against {x}");
                let text = format!("{} boxes", self.boxes.len());
                figure(html, &title, &text, &frame, (x, y), |svg| {
                    let side = |one: &Map<String, Value>, name: &str| match one
                        .get(name)
                        .and_then(range)
                    {
                        Some(Range(low, high)) => Range(low - 0.5, high + 0.5),
                        None => Range(f64::NEG_INFINITY, f64::INFINITY),
                    };
                    let mut shadows: Vec<String> = self
                        .boxes
                        .iter()
                        .map(|one| frame.rectangle((side(one, x), side(one, y))))
                        .collect();
                    shadows.sort();
                    shadows.dedup();
                    path(svg, "shadow", &shadows.concat());
                });
            }
        });
    }

    fn add_list(&self, html: &mut Html) {
        let has_conditions = self.conditions.iter().any(|count| *count > 0);
        let names = || self.variables.iter().map(|(name, _)| name.clone());
        let mut columns = vec!["box".to_owned()];
        columns.extend(names());
        if has_conditions {
            columns.push("further conditions".to_owned());
        }
        let number = |value: usize| {
            #[expect(clippy::cast_precision_loss, reason = "counts on a page are small")]
            Cell::Number(value.to_string(), value as f64)
        };
        let row = |(at, one): (usize, &&Map<String, Value>)| {
            let mut row = vec![number(at + 1)];
            row.extend(names().map(|name| one.get(&name).map_or(Cell::Empty, cell)));
            if has_conditions {
                row.push(number(self.conditions.get(at).copied().unwrap_or(0)));
            }
            row
        };
        let left_out = self.boxes.len().saturating_sub(LISTED);
        html.element("details", &[], |details| {
            details.leaf("summary", "List of the boxes");
            let table = Table {
                id: "boxes".to_owned(),
                caption:
                    "Boxes of the invariant; an empty cell is a variable that has all its values"
                        .to_owned(),
                columns,
                rows: self.boxes.iter().enumerate().take(LISTED).map(row).collect(),
                filters: false,
            };
            table.add_to(details);
            if left_out > 0 {
                details.leaf(
                    "p",
                    &format!("{left_out} more boxes are in the file, not on this page."),
                );
            }
        });
    }
}

/// A range of integers or truth values.
fn range(value: &Value) -> Option<Range> {
    let number = |value: &Value| match value {
        Value::Bool(is_true) => Some(f64::from(u8::from(*is_true))),
        value => value.as_f64(),
    };
    match value.as_array()?.as_slice() {
        [low, high] => Some(Range(number(low)?, number(high)?)),
        _ => None,
    }
}

fn cell(value: &Value) -> Cell {
    match value.as_array().map(Vec::as_slice) {
        Some([low, high]) if low == high => match low.as_f64() {
            Some(value) => Cell::Number(plain(low), value),
            None => Cell::Text(plain(low)),
        },
        Some([low, high]) => Cell::Text(format!("{} to {}", plain(low), plain(high))),
        _ => Cell::Text(plain(value)),
    }
}
