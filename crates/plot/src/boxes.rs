//! Reachable boxes in planes of two variables, as in Figures 7 and 11 of the paper: boxes red,
//! trajectories green, goal blue, unsafe set purple and dashed.

use plotters::prelude::{
    DashedLineSeries, DrawingBackend, LineSeries, PathElement, RGBColor, Rectangle,
};
use plotters::style::{Color, ShapeStyle};
use policert_outcome::Failure;
use policert_reach::{LoopAnalysis, LoopRegion, ReachVerdict, StateBox, Task, UnsafeSide};

use super::axis::Axis;
use super::canvas::{Area, Picture, chart, defect, pixels};
use super::legend::{Legend, Mark};
use super::outline::outlines;
use super::view::{Sides, View, clipped, drawn, edges};

const BOXES: RGBColor = RGBColor(214, 0, 0);
const TRAJECTORIES: RGBColor = RGBColor(20, 150, 60);
const GOAL: RGBColor = RGBColor(31, 78, 216);
const AVOID: RGBColor = RGBColor(138, 43, 226);
const INITIAL: RGBColor = RGBColor(20, 20, 20);
const COUNTEREXAMPLE: RGBColor = RGBColor(230, 120, 0);

/// If there are more boxes, one line is drawn around those of each step.
const MOST_BOXES: usize = 20_000;

/// Reachable boxes in one plane or several.
#[derive(Debug)]
pub(crate) struct BoxesPicture {
    legend: Legend,
    size: (u32, u32),
    columns: usize,
    panels: Vec<Panel>,
}

impl BoxesPicture {
    /// The picture of a result in these planes; at least one.
    pub fn new(task: &Task, analysis: &LoopAnalysis, planes: &[(usize, usize)]) -> Self {
        let panels: Vec<Panel> =
            planes.iter().map(|&plane| Panel::new(task, analysis, plane)).collect();
        let columns = (1..).find(|k| k * k >= panels.len()).unwrap_or(1);
        let rows = panels.len().div_ceil(columns);
        let count = |n: usize| u32::try_from(n).unwrap_or(1);
        let panel = if columns == 1 { (800, 560) } else { (580, 460) };
        let width = panel.0 * count(columns);
        let legend = Legend::new(&title(task, analysis), entries(&panels), width);
        let size = (width, panel.1 * count(rows) + legend.height());
        Self { legend, size, columns, panels }
    }
}

impl Picture for BoxesPicture {
    fn size(&self) -> (u32, u32) {
        self.size
    }

    fn paint<B: DrawingBackend>(&self, area: &Area<B>, unit: u32) -> Result<(), Failure> {
        let (head, body) = area.split_vertically(pixels(self.legend.height(), unit));
        self.legend.paint(&head, unit)?;
        let rows = self.panels.len().div_ceil(self.columns);
        let areas = body.split_evenly((rows, self.columns));
        self.panels.iter().zip(&areas).try_for_each(|(panel, area)| panel.paint(area, unit))
    }
}

/// Name and verdict.
fn title(task: &Task, analysis: &LoopAnalysis) -> String {
    let verdict = match &analysis.verdict {
        ReachVerdict::Safe { goal_step: Some(step) } => format!("SAFE, in the goal by step {step}"),
        ReachVerdict::Safe { goal_step: None } => "SAFE".to_owned(),
        ReachVerdict::Unsafe(_) => "UNSAFE".to_owned(),
        ReachVerdict::Unknown(_) => "UNKNOWN".to_owned(),
    };
    format!("{}: {verdict}", task.name)
}

fn entries(panels: &[Panel]) -> Vec<(Mark, String)> {
    let some = |shown: fn(&Panel) -> bool| panels.iter().any(shown);
    let merged = some(|panel| !panel.lines.is_empty());
    let boxes = if merged { "reachable boxes (outlines)" } else { "reachable boxes" };
    [
        (true, Mark::Frame(BOXES), boxes),
        (some(|panel| !panel.trajectories.is_empty()), Mark::Line(TRAJECTORIES), "trajectories"),
        (some(|panel| panel.goal.is_some()), Mark::Frame(GOAL), "goal"),
        (some(|panel| !panel.avoid.is_empty()), Mark::Dashes(AVOID), "unsafe"),
        (true, Mark::Frame(INITIAL), "initial"),
        (
            some(|panel| !panel.counterexample.is_empty()),
            Mark::Line(COUNTEREXAMPLE),
            "counterexample",
        ),
    ]
    .into_iter()
    .filter(|(shown, _, _)| *shown)
    .map(|(_, mark, text)| (mark, text.to_owned()))
    .collect()
}

type Points = Vec<(f64, f64)>;

/// One plane.
#[derive(Debug)]
struct Panel {
    axes: (Axis, Axis),
    boxes: Vec<Sides>,
    /// Instead of boxes, if there are too many.
    lines: Vec<Points>,
    trajectories: Vec<Points>,
    counterexample: Vec<Points>,
    goal: Option<Sides>,
    avoid: Vec<Sides>,
    initial: Sides,
}

impl Panel {
    fn new(task: &Task, analysis: &LoopAnalysis, (x, y): (usize, usize)) -> Self {
        let trajectories: Vec<Points> =
            analysis.samples.iter().map(|path| points(path.until_goal(task), x, y)).collect();
        let counterexample: Vec<Points> = match &analysis.verdict {
            ReachVerdict::Unsafe(found) => {
                found.trajectories.iter().map(|p| points(&p.states, x, y)).collect()
            }
            _ => Vec::new(),
        };
        let goal = sides(task.goal.as_ref(), x, y);
        let inside = task.avoid.iter().filter(|set| set.side == UnsafeSide::Inside);
        let avoid: Vec<Sides> = inside.filter_map(|set| sides(Some(&set.region), x, y)).collect();
        let bounds = |i: usize| (task.initial[i].0.to_f64(), task.initial[i].1.to_f64());
        let (first, second) = (bounds(x), bounds(y));
        let initial = [first.0, first.1, second.0, second.1];
        let steps: Vec<Vec<Sides>> =
            analysis.recorded.iter().map(|step| projected(step, x, y)).collect();

        // Trajectories and the goal are always in view; what goes far beyond them is cut off.
        let mut core = View::default();
        core.include(&initial);
        let seen = trajectories.iter().chain(&counterexample).flatten();
        seen.for_each(|&(x, y)| core.include(&[x, x, y, y]));
        goal.iter().for_each(|goal| core.include(goal));
        let mut view = core.clone();
        let room = core.clone();
        avoid.iter().for_each(|avoid| view.include_near(avoid, &room));
        steps.iter().flatten().for_each(|one| view.include_near(one, &room));
        let view = view.with_room();

        let axes = (
            Axis::linear(&task.state[x], view[0], view[1]),
            Axis::linear(&task.state[y], view[2], view[3]),
        );
        let (boxes, lines) = if steps.iter().map(Vec::len).sum::<usize>() <= MOST_BOXES {
            (steps.concat().iter().filter_map(|one| drawn(one, &view)).collect(), Vec::new())
        } else {
            let lines = steps.iter().map(|step| {
                let inside: Vec<Sides> = step.iter().filter_map(|one| drawn(one, &view)).collect();
                outlines(&inside, &view)
            });
            (Vec::new(), lines.flatten().collect())
        };
        let initial = drawn(&initial, &view).unwrap_or(initial);
        Self { axes, boxes, lines, trajectories, counterexample, goal, avoid, initial }
    }

    fn view(&self) -> Sides {
        [self.axes.0.low(), self.axes.0.high(), self.axes.1.low(), self.axes.1.high()]
    }

    fn paint<B: DrawingBackend>(&self, area: &Area<B>, unit: u32) -> Result<(), Failure> {
        let mut chart = chart(area, (&self.axes.0, &self.axes.1), unit)?;
        let goal = self.goal.iter().map(|region| (region, GOAL));
        for (region, color) in goal.chain(self.avoid.iter().map(|region| (region, AVOID))) {
            if let Some(inside) = clipped(region, &self.view()) {
                let fill = Rectangle::new(corners(&inside), color.mix(0.1).filled());
                chart.draw_series([fill]).map_err(defect)?;
            }
        }
        let thin = ShapeStyle { color: BOXES.to_rgba(), filled: false, stroke_width: 1 };
        let boxes = self.boxes.iter().map(|one| Rectangle::new(corners(one), thin));
        chart.draw_series(boxes).map_err(defect)?;
        let thin = ShapeStyle { stroke_width: (unit * 6 / 10).max(1), ..thin };
        let lines = self.lines.iter().map(|line| PathElement::new(line.clone(), thin));
        chart.draw_series(lines).map_err(defect)?;
        let green = line(TRAJECTORIES, (unit * 8 / 10).max(1));
        let paths = self.trajectories.iter().map(|path| PathElement::new(path.clone(), green));
        chart.draw_series(paths).map_err(defect)?;
        // Step by step: joints of broad lines would be spikes.
        let orange = line(COUNTEREXAMPLE, 2 * unit);
        let steps = self.counterexample.iter().flat_map(|path| path.windows(2));
        let steps = steps.map(|step| PathElement::new(step.to_vec(), orange));
        chart.draw_series(steps).map_err(defect)?;
        let [left, right, bottom, top] = self.initial;
        let frame = [(left, bottom), (right, bottom), (right, top), (left, top), (left, bottom)];
        let style = line(INITIAL, unit * 3 / 2);
        chart.draw_series([PathElement::new(frame, style)]).map_err(defect)?;
        for edge in self.goal.iter().flat_map(|goal| edges(goal, &self.view())) {
            chart.draw_series(LineSeries::new(edge, line(GOAL, 2 * unit))).map_err(defect)?;
        }
        for edge in self.avoid.iter().flat_map(|avoid| edges(avoid, &self.view())) {
            let (dash, gap) = (pixels(8, unit), pixels(5, unit));
            let dashes = DashedLineSeries::new(edge, dash, gap, line(AVOID, 2 * unit));
            chart.draw_series(dashes).map_err(defect)?;
        }
        Ok(())
    }
}

fn line(color: RGBColor, stroke_width: u32) -> ShapeStyle {
    ShapeStyle { color: color.to_rgba(), filled: false, stroke_width }
}

fn corners(sides: &Sides) -> [(f64, f64); 2] {
    [(sides[0], sides[2]), (sides[1], sides[3])]
}

fn points(states: &[StateBox], x: usize, y: usize) -> Points {
    let point = |state: &StateBox| (state[x].outer.midpoint(), state[y].outer.midpoint());
    let finite = |&(x, y): &(f64, f64)| x.is_finite() && y.is_finite();
    states.iter().map(point).take_while(finite).collect()
}

/// The boxes of a step in a plane, without repetitions.
fn projected(step: &[StateBox], x: usize, y: usize) -> Vec<Sides> {
    let sides = |state: &StateBox| {
        let (x, y) = (state[x].outer, state[y].outer);
        [x.lo(), x.hi(), y.lo(), y.hi()]
    };
    let mut all: Vec<Sides> = step.iter().map(sides).collect();
    all.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
    all.dedup();
    all
}

/// A region in a plane; endless where a variable is free. `None` if that would mislead: if only a
/// third variable tells whether a state on one side of a line belongs to it, or a condition.
fn sides(region: Option<&LoopRegion>, x: usize, y: usize) -> Option<Sides> {
    let mut sides = [f64::NEG_INFINITY, f64::INFINITY, f64::NEG_INFINITY, f64::INFINITY];
    let mut bounded = [false; 2];
    let mut others = false;
    for side in region?.sides()? {
        others |= side.variable != x && side.variable != y;
        for (axis, _) in [x, y].iter().enumerate().filter(|(_, i)| **i == side.variable) {
            sides[2 * axis] = side.lower.floor();
            sides[2 * axis + 1] = side.upper.ceil();
            bounded[axis] = true;
        }
    }
    (bounded == [true; 2] || !others).then_some(sides)
}
