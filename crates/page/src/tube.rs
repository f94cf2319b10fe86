//! Pictures of control loops: enclosures of the states over time and in a plane, with trajectories, the goal and
//! unsafe sets.

use std::fmt::Write as _;

use policert_files::number_of_text;
use serde_json::Value;

use crate::frame::{Frame, Range, figure, path};
use crate::html::Html;

/// The most boxes of a picture in a plane; if there are more, the box around those of each step is drawn.
const MOST_BOXES: usize = 4000;
/// The most variables that are drawn over time.
const MOST_VARIABLES: usize = 12;

/// Lower and upper bound in each variable.
type Sides = Vec<Range>;

/// A region, and what the page calls it.
#[derive(Clone, PartialEq, Debug)]
struct Region {
    name: &'static str,
    style: &'static str,
    sides: Sides,
}

impl Region {
    fn bounds(&self, variable: usize) -> bool {
        self.sides[variable].0.is_finite() || self.sides[variable].1.is_finite()
    }

    /// True if whether a state belongs to it is told by these variables alone.
    fn depends_on(&self, variables: &[usize]) -> bool {
        (0..self.sides.len()).all(|i| variables.contains(&i) || !self.bounds(i))
    }
}

/// What a result of a control loop shows in pictures.
#[derive(Clone, PartialEq, Debug)]
pub struct Tube {
    variables: Vec<String>,
    initial: Sides,
    regions: Vec<Region>,
    /// The boxes of each step.
    boxes: Vec<Vec<Sides>>,
    /// Sample trajectories, by step and variable.
    samples: Vec<Vec<Vec<f64>>>,
    /// Those of the counterexample.
    counterexample: Vec<Vec<Vec<f64>>>,
    /// True if there are sets that have no box.
    has_others: bool,
}

impl Tube {
    /// The pictures of a result of `reach`; `None` if it has none.
    ///
    /// # Errors
    /// If a member has other variables than the picture.
    pub fn new(result: &Value) -> Result<Option<Self>, String> {
        let picture = &result["picture"];
        if picture.is_null() {
            return Ok(None);
        }
        let names = picture["variables"].as_array().into_iter().flatten();
        let variables: Vec<String> =
            names.map(|name| name.as_str().unwrap_or_default().to_owned()).collect();
        let n = variables.len();
        let wrong = || "`picture` has other variables than its boxes".to_owned();
        let sides = |value: &Value| sides(value).filter(|sides| sides.len() == n);
        let mut regions = Vec::new();
        let mut has_others = false;
        for (member, name, style) in [("goal", "goal", "goal"), ("unsafe", "unsafe", "avoid")] {
            for region in picture[member].as_array().into_iter().flatten() {
                if region["ranges"].is_null() {
                    has_others = true;
                    continue;
                }
                let is_outside = region["side"] == "outside";
                regions.push(Region {
                    name: if is_outside { "must not be left" } else { name },
                    style,
                    sides: sides(&region["ranges"]).ok_or_else(wrong)?,
                });
            }
        }
        let steps = result["boxes"].as_array().into_iter().flatten();
        let boxes = steps
            .map(|step| step.as_array().into_iter().flatten().map(&sides).collect::<Option<_>>())
            .collect::<Option<Vec<Vec<Sides>>>>()
            .ok_or_else(wrong)?;
        let path = |states: &Value, point: &dyn Fn(&Value) -> Option<Vec<f64>>| {
            let states = states.as_array().into_iter().flatten().map(point);
            states.collect::<Option<Vec<_>>>().filter(|path| path.iter().all(|p| p.len() == n))
        };
        let numbers =
            |state: &Value| state.as_array()?.iter().map(number).collect::<Option<Vec<f64>>>();
        let middle = |state: &Value| Some(self::sides(state)?.iter().map(Range::middle).collect());
        let samples = picture["trajectories"].as_array().into_iter().flatten();
        let samples = samples.map(|path_of| path(path_of, &numbers));
        let found = result["counterexample"]["trajectories"].as_array().into_iter().flatten();
        let found = found.map(|trajectory| path(&trajectory["states"], &middle));
        Ok(Some(Self {
            initial: sides(&picture["initial"]).ok_or_else(wrong)?,
            regions,
            boxes,
            samples: samples.collect::<Option<_>>().ok_or_else(wrong)?,
            counterexample: found.collect::<Option<_>>().ok_or_else(wrong)?,
            has_others,
            variables,
        }))
    }

    /// Adds the pictures, and what their lines mean.
    pub fn add_to(&self, html: &mut Html) {
        let has_boxes = !self.boxes.is_empty();
        if !has_boxes && self.counterexample.is_empty() {
            html.leaf(
                "p",
                "The result has no boxes; --record-boxes keeps them, with some trajectories.",
            );
            return;
        }
        self.add_legend(html);
        let shown: Vec<usize> = self.order().into_iter().take(MOST_VARIABLES).collect();
        html.element("div", &[("class", "pictures")], |html| {
            if let [x, y, ..] = shown[..] {
                self.add_plane(html, x, y);
            }
            shown.iter().for_each(|&variable| self.add_over_time(html, variable));
        });
        if shown.len() < self.variables.len() {
            let text =
                format!("{} more variables are not drawn.", self.variables.len() - shown.len());
            html.element("p", &[("class", "note")], |p| p.text(&text));
        }
    }

    /// The variables, those first that the regions bound.
    fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.variables.len()).collect();
        order.sort_by_key(|&i| !self.regions.iter().any(|region| region.bounds(i)));
        order
    }

    fn add_legend(&self, html: &mut Html) {
        let has = |style: &str| self.regions.iter().any(|region| region.style == style);
        html.element("ul", &[("class", "legend")], |ul| {
            for (is_there, style, text) in [
                (
                    !self.boxes.is_empty(),
                    "box",
                    "enclosures of all reachable states, by step: thin frames",
                ),
                (!self.samples.is_empty(), "sample", "random trajectories: thin lines"),
                (
                    !self.counterexample.is_empty(),
                    "found",
                    "the counterexample: a thick line with dots",
                ),
                (has("goal"), "goal", "goal: a thick frame"),
                (has("avoid"), "avoid", "border of an unsafe set: dashed"),
                (true, "initial", "initial states: a dotted frame"),
            ] {
                if is_there {
                    ul.element("li", &[], |li| {
                        let size = [("width", "34"), ("height", "14"), ("aria-hidden", "true")];
                        li.element("svg", &[("class", "plot"), size[0], size[1], size[2]], |svg| {
                            svg.element("path", &[("class", style), ("d", "M1 7H33")], |_| ());
                        });
                        li.text(text);
                    });
                }
            }
        });
        if self.has_others {
            html.leaf("p", "Sets that are given by conditions are not drawn.");
        }
    }

    fn trajectories(&self) -> impl Iterator<Item = (&'static str, &Vec<Vec<f64>>)> {
        let samples = self.samples.iter().map(|path| ("sample", path));
        samples.chain(self.counterexample.iter().map(|path| ("found", path)))
    }

    /// The states of one step against those of another variable.
    fn add_plane(&self, html: &mut Html, x: usize, y: usize) {
        let drawn: Vec<&Region> =
            self.regions.iter().filter(|region| region.depends_on(&[x, y])).collect();
        let points = || self.trajectories().flat_map(|(_, path)| path);
        let boxes = || self.boxes.iter().flatten();
        let extent = |i: usize| {
            let mut all = self.initial[i];
            points().for_each(|point| all.include(point[i]));
            let core = all;
            boxes().for_each(|sides| all.include_near(sides[i], core));
            drawn.iter().for_each(|region| all.include_near(region.sides[i], core));
            all
        };
        let frame = Frame::new(extent(x), extent(y));
        let title = format!("{} against {}", self.variables[y], self.variables[x]);
        figure(
            html,
            &title,
            &self.text(&[x, y]),
            &frame,
            (&self.variables[x], &self.variables[y]),
            |svg| {
                for region in &drawn {
                    let corners = (region.sides[x], region.sides[y]);
                    path(svg, region.style, &frame.rectangle(corners));
                    frame.label(svg, corners, region.name);
                }
                let count = boxes().count();
                let mut outline = String::new();
                for step in &self.boxes {
                    if count <= MOST_BOXES {
                        step.iter().for_each(|b| outline += &frame.rectangle((b[x], b[y])));
                    } else if let Some(hull) = hull(step, x).zip(hull(step, y)) {
                        outline += &frame.rectangle(hull);
                    }
                }
                path(svg, "box", &outline);
                for (style, states) in self.trajectories() {
                    let points: Vec<(f64, f64)> = states.iter().map(|s| (s[x], s[y])).collect();
                    self.add_line(svg, &frame, style, &points);
                }
                path(svg, "initial", &frame.rectangle((self.initial[x], self.initial[y])));
            },
        );
    }

    /// The bounds of a variable by step.
    fn add_over_time(&self, html: &mut Html, variable: usize) {
        let drawn: Vec<&Region> = self
            .regions
            .iter()
            .filter(|r| r.bounds(variable) && r.depends_on(&[variable]))
            .collect();
        let longest = self.trajectories().map(|(_, path)| path.len()).max().unwrap_or(0);
        let steps = self.boxes.len().max(longest).max(1);
        #[expect(clippy::cast_precision_loss, reason = "numbers of steps are small")]
        let time = |step: usize| step as f64;
        let mut all = self.initial[variable];
        self.trajectories().flat_map(|(_, path)| path).for_each(|p| all.include(p[variable]));
        let core = all;
        self.boxes.iter().flatten().for_each(|b| all.include_near(b[variable], core));
        drawn.iter().for_each(|region| all.include_near(region.sides[variable], core));
        let frame = Frame::new(Range(-0.5, time(steps) - 0.5), all);
        let name = &self.variables[variable];
        let title = format!("{name} over time");
        figure(html, &title, &self.text(&[variable]), &frame, ("step", name), |svg| {
            for region in &drawn {
                let corners = (Range(f64::NEG_INFINITY, f64::INFINITY), region.sides[variable]);
                path(svg, region.style, &frame.rectangle(corners));
                frame.label(svg, corners, region.name);
            }
            let mut outline = String::new();
            for (step, boxes) in self.boxes.iter().enumerate() {
                let along = Range(time(step) - 0.4, time(step) + 0.4);
                for range in union(boxes.iter().map(|sides| sides[variable])) {
                    outline += &frame.rectangle((along, range));
                }
            }
            path(svg, "box", &outline);
            for (style, states) in self.trajectories() {
                let points: Vec<(f64, f64)> =
                    states.iter().enumerate().map(|(step, s)| (time(step), s[variable])).collect();
                self.add_line(svg, &frame, style, &points);
            }
            path(svg, "initial", &frame.rectangle((Range(-0.45, 0.45), self.initial[variable])));
        });
    }

    fn add_line(&self, svg: &mut Html, frame: &Frame, style: &'static str, points: &[(f64, f64)]) {
        path(svg, style, &frame.line(points));
        if style == "found" {
            for &point in points.iter().filter(|_| points.len() <= 200) {
                let (x, y) = frame.point(point);
                let (x, y) = (format!("{x:.1}"), format!("{y:.1}"));
                svg.element(
                    "circle",
                    &[("class", "found"), ("cx", &x), ("cy", &y), ("r", "2.5")],
                    |_| (),
                );
            }
        }
    }

    /// What the picture says about some variables, in words.
    fn text(&self, variables: &[usize]) -> String {
        let mut text = String::new();
        for &i in variables {
            let name = &self.variables[i];
            let Range(low, high) = self.initial[i];
            let _ = write!(text, "{name} begins between {low} and {high}");
            if let Some(Range(low, high)) = self.boxes.last().and_then(|step| hull(step, i)) {
                let _ = write!(
                    text,
                    ", and is between {low:.4} and {high:.4} in the last step that is drawn"
                );
            }
            text.push_str(". ");
        }
        text.truncate(text.trim_end().len());
        text
    }
}

/// The smallest range around those of a step.
fn hull(step: &[Sides], variable: usize) -> Option<Range> {
    step.iter().map(|sides| sides[variable]).reduce(|a, b| Range(a.0.min(b.0), a.1.max(b.1)))
}

/// Ranges, where those that touch are one.
fn union(ranges: impl Iterator<Item = Range>) -> Vec<Range> {
    let mut sorted: Vec<Range> = ranges.collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut union: Vec<Range> = Vec::new();
    for range in sorted {
        match union.last_mut() {
            Some(last) if range.0 <= last.1 => last.1 = last.1.max(range.1),
            _ => union.push(range),
        }
    }
    union
}

/// A number, or a fraction as text.
fn number(value: &Value) -> Option<f64> {
    let text = match value {
        Value::String(text) => text,
        other => return other.as_f64().filter(|number| number.is_finite()),
    };
    number_of_text(text).filter(|number| number.is_finite())
}

/// Lower and upper bound of each variable; `null` where there is none.
fn sides(value: &Value) -> Option<Sides> {
    let bound = |value: &Value, none: f64| if value.is_null() { Some(none) } else { number(value) };
    let pair = |pair: &Value| match pair.as_array()?.as_slice() {
        [low, high] => Some(Range(bound(low, f64::NEG_INFINITY)?, bound(high, f64::INFINITY)?)),
        _ => None,
    };
    value.as_array()?.iter().map(pair).collect()
}
