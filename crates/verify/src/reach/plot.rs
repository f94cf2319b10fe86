//! Pictures of reachable boxes, as SVG: boxes red, trajectories green, goal blue, unsafe set purple
//! and dashed.

use std::fmt::Write as _;

use policert_reach::{Analysis, ReachVerdict, Region, StateBox, Task};

use crate::Failure;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 540.0;
const MARGIN: f64 = 60.0;
/// More boxes than this are drawn as the hulls of groups.
const MOST_BOXES: usize = 60_000;

/// The variables on the axes: by name, or by position from 1; the first two if nothing is said.
pub(super) fn axes(
    task: &Task,
    wanted: Option<&(String, String)>,
) -> Result<(usize, usize), Failure> {
    let Some((x, y)) = wanted else {
        return Ok((0, usize::from(task.dimension() > 1)));
    };
    let find = |name: &String| {
        let position = name.parse::<usize>().ok().filter(|i| (1..=task.dimension()).contains(i));
        task.state.iter().position(|known| known == name).or(position.map(|i| i - 1)).ok_or_else(
            || {
                Failure::Usage(format!(
                    "`{name}` is no variable; there are {}",
                    task.state.join(", ")
                ))
            },
        )
    };
    Ok((find(x)?, find(y)?))
}

/// A rectangle: lower and upper bound of x, then of y.
type Rectangle = [f64; 4];

/// Draws the boxes of all steps in two dimensions.
pub(super) fn svg(task: &Task, analysis: &Analysis, (x, y): (usize, usize)) -> String {
    let rectangle = |state: &StateBox| -> Rectangle {
        let (x, y) = (state[x].outer, state[y].outer);
        [x.lo(), x.hi(), y.lo(), y.hi()]
    };
    let boxes: Vec<Rectangle> = analysis.recorded.iter().flatten().map(rectangle).collect();
    let boxes = thinned(boxes);
    let paths = lines(analysis, x, y);
    let mut picture = Picture::new(&boxes, &paths);
    let regions =
        [(&task.goal, "#1f4ed8", ""), (&task.avoid, "#8a2be2", " stroke-dasharray=\"6 4\"")];
    for (region, _, _) in &regions {
        if let Some(sides) = region.as_ref().and_then(|region| projected(region, x, y)) {
            picture.include(&sides);
        }
    }
    let mut body = String::new();
    for one in &boxes {
        picture.rectangle(&mut body, one, "stroke=\"#d00000\" stroke-width=\"0.6\"");
    }
    for path in &paths {
        picture.line(&mut body, path);
    }
    for (region, color, dashes) in regions {
        if let Some(sides) = region.as_ref().and_then(|region| projected(region, x, y)) {
            let style = format!("stroke=\"{color}\" stroke-width=\"2\"{dashes}");
            picture.rectangle(&mut body, &picture.limited(&sides), &style);
        }
    }
    let title = format!("{}: {} and {}", task.name, task.state[x], task.state[y]);
    picture.document(&title, &task.state[x], &task.state[y], &body)
}

/// Hulls of neighbours in the list, until there are few enough.
fn thinned(mut boxes: Vec<Rectangle>) -> Vec<Rectangle> {
    while boxes.len() > MOST_BOXES {
        boxes = boxes
            .chunks(2)
            .map(|pair| {
                let last = pair.last().unwrap_or(&pair[0]);
                let (a, b) = (pair[0], last);
                [a[0].min(b[0]), a[1].max(b[1]), a[2].min(b[2]), a[3].max(b[3])]
            })
            .collect();
    }
    boxes
}

/// The trajectories as lists of points.
fn lines(analysis: &Analysis, x: usize, y: usize) -> Vec<Vec<(f64, f64)>> {
    let shown: &[_] = match &analysis.verdict {
        ReachVerdict::Unsafe(counterexample) => &counterexample.trajectories,
        _ => &[],
    };
    let point = |state: &StateBox| (state[x].outer.midpoint(), state[y].outer.midpoint());
    let paths = analysis.samples.iter().chain(shown);
    paths.map(|path| path.states.iter().map(point).collect()).collect()
}

/// A region's rectangle; endless where a variable is free; `None` if both are.
fn projected(region: &Region, x: usize, y: usize) -> Option<Rectangle> {
    let mut rectangle = [f64::NEG_INFINITY, f64::INFINITY, f64::NEG_INFINITY, f64::INFINITY];
    let mut some = false;
    for side in region.sides() {
        for (variable, at) in [(x, 0), (y, 2)] {
            if side.variable == variable {
                rectangle[at] = side.lower.floor();
                rectangle[at + 1] = side.upper.ceil();
                some = true;
            }
        }
    }
    some.then_some(rectangle)
}

/// The part of the plane that is drawn.
struct Picture {
    view: Rectangle,
}

impl Picture {
    fn new(boxes: &[Rectangle], paths: &[Vec<(f64, f64)>]) -> Self {
        let mut picture =
            Self { view: [f64::INFINITY, f64::NEG_INFINITY, f64::INFINITY, f64::NEG_INFINITY] };
        for one in boxes {
            picture.include(one);
        }
        for &(x, y) in paths.iter().flatten() {
            picture.include(&[x, x, y, y]);
        }
        picture
    }

    /// Makes room for the finite bounds of a rectangle.
    fn include(&mut self, rectangle: &Rectangle) {
        for (at, &value) in rectangle.iter().enumerate().filter(|(_, value)| value.is_finite()) {
            let low = at / 2 * 2;
            self.view[low] = self.view[low].min(value);
            self.view[low + 1] = self.view[low + 1].max(value);
        }
    }

    /// Low end and length of an axis, with some room.
    fn axis(&self, at: usize) -> (f64, f64) {
        let (low, high) = (self.view[at], self.view[at + 1]);
        if !low.is_finite() || !high.is_finite() {
            return (0.0, 1.0);
        }
        let room = ((high - low) * 0.05).max(1e-9);
        (low - room, high - low + 2.0 * room)
    }

    fn limited(&self, rectangle: &Rectangle) -> Rectangle {
        let mut limited = *rectangle;
        for at in [0, 2] {
            let (low, length) = self.axis(at);
            limited[at] = limited[at].clamp(low, low + length);
            limited[at + 1] = limited[at + 1].clamp(low, low + length);
        }
        limited
    }

    fn place(&self, x: f64, y: f64) -> (f64, f64) {
        let ((left, width), (bottom, height)) = (self.axis(0), self.axis(2));
        (
            MARGIN + (x - left) / width * (WIDTH - 2.0 * MARGIN),
            HEIGHT - MARGIN - (y - bottom) / height * (HEIGHT - 2.0 * MARGIN),
        )
    }

    fn rectangle(&self, out: &mut String, rectangle: &Rectangle, style: &str) {
        let (left, top) = self.place(rectangle[0], rectangle[3]);
        let (right, bottom) = self.place(rectangle[1], rectangle[2]);
        let _ = writeln!(
            out,
            "<rect x=\"{left:.2}\" y=\"{top:.2}\" width=\"{:.2}\" height=\"{:.2}\" fill=\"none\" \
             {style}/>",
            (right - left).max(0.1),
            (bottom - top).max(0.1)
        );
    }

    fn line(&self, out: &mut String, points: &[(f64, f64)]) {
        out.push_str("<polyline points=\"");
        for &(x, y) in points {
            let (x, y) = self.place(x, y);
            let _ = write!(out, "{x:.2},{y:.2} ");
        }
        out.push_str("\" fill=\"none\" stroke=\"#1a9641\" stroke-width=\"0.8\"/>\n");
    }

    fn document(&self, title: &str, x_name: &str, y_name: &str, body: &str) -> String {
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
             font-family=\"sans-serif\" font-size=\"13\">\n<title>{0}</title>\n\
             <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n",
            escaped(title)
        );
        let (right, bottom) = (WIDTH - MARGIN, HEIGHT - MARGIN);
        let _ = writeln!(
            out,
            "<path d=\"M{MARGIN} {MARGIN} V{bottom} H{right}\" fill=\"none\" stroke=\"black\"/>"
        );
        for part in 0..=4 {
            let share = f64::from(part) / 4.0;
            let ((left, width), (low, height)) = (self.axis(0), self.axis(2));
            let (x, y) = self.place(left + share * width, low + share * height);
            let _ = writeln!(
                out,
                "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{:.4}</text>\n\
                 <text x=\"{:.1}\" y=\"{y:.1}\" text-anchor=\"end\">{:.4}</text>",
                bottom + 18.0,
                left + share * width,
                MARGIN - 6.0,
                low + share * height
            );
        }
        let _ = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n\
             <text x=\"16\" y=\"{:.1}\">{}</text>\n\
             <text x=\"{:.1}\" y=\"28\" text-anchor=\"middle\">{}</text>",
            WIDTH / 2.0,
            HEIGHT - 16.0,
            escaped(x_name),
            MARGIN - 16.0,
            escaped(y_name),
            WIDTH / 2.0,
            escaped(title)
        );
        out + body + "</svg>\n"
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
