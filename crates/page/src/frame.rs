//! The frame of a picture: its axes, and where points lie in it.

use crate::html::Html;

/// A lower and an upper bound.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Range(pub f64, pub f64);

impl Range {
    pub(crate) fn middle(&self) -> f64 {
        f64::midpoint(self.0, self.1)
    }

    pub(crate) fn include(&mut self, value: f64) {
        if value.is_finite() {
            (self.0, self.1) = (self.0.min(value), self.1.max(value));
        }
    }

    /// The same for a range, but no farther than once the length beyond `core`.
    pub(crate) fn include_near(&mut self, range: Self, core: Self) {
        let room = (core.1 - core.0).max(1e-9);
        for value in [range.0, range.1].into_iter().filter(|value| value.is_finite()) {
            self.include(value.clamp(core.0 - room, core.1 + room));
        }
    }
}

/// Width and height of a picture, and the room for the numbers of the axes.
const SIZE: (f64, f64) = (560.0, 360.0);
const LEFT: f64 = 62.0;
const BOTTOM: f64 = 40.0;
const EDGE: f64 = 10.0;

/// The part of a plane that is drawn.
pub(crate) struct Frame {
    x: Range,
    y: Range,
}

impl Frame {
    pub(crate) fn new(x: Range, y: Range) -> Self {
        Self { x: with_room(x), y: with_room(y) }
    }

    pub(crate) fn view() -> String {
        format!("0 0 {} {}", SIZE.0, SIZE.1)
    }

    /// Where a point lies; what is outside of the frame lies on its border.
    pub(crate) fn point(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let share =
            |value: f64, range: Range| ((value - range.0) / (range.1 - range.0)).clamp(0.0, 1.0);
        let (width, height) = (SIZE.0 - LEFT - EDGE, SIZE.1 - BOTTOM - EDGE);
        (LEFT + share(x, self.x) * width, EDGE + (1.0 - share(y, self.y)) * height)
    }

    /// The part of a rectangle that lies in the frame; nothing if there is none.
    pub(crate) fn rectangle(&self, (x, y): (Range, Range)) -> String {
        let misses = |a: Range, b: Range| a.1 < b.0 || b.1 < a.0;
        if misses(x, self.x) || misses(y, self.y) {
            return String::new();
        }
        let ((left, bottom), (right, top)) = (self.point((x.0, y.0)), self.point((x.1, y.1)));
        // A thin box is seen, too.
        let (right, bottom) = (right.max(left + 0.6), bottom.max(top + 0.6));
        format!("M{left:.1} {bottom:.1}H{right:.1}V{top:.1}H{left:.1}Z")
    }

    /// A line through points.
    pub(crate) fn line(&self, points: &[(f64, f64)]) -> String {
        let mut line = String::new();
        for (at, &point) in points.iter().enumerate() {
            let (x, y) = self.point(point);
            line += &format!("{}{x:.1} {y:.1}", if at == 0 { "M" } else { "L" });
        }
        line
    }

    /// A word in the upper left corner of what is seen of a rectangle.
    pub(crate) fn label(&self, svg: &mut Html, (x, y): (Range, Range), text: &str) {
        if self.rectangle((x, y)).is_empty() {
            return;
        }
        let (left, top) = self.point((x.0, y.1));
        let (left, top) = (format!("{:.1}", left + 5.0), format!("{:.1}", top + 14.0));
        svg.element("text", &[("class", "region"), ("x", &left), ("y", &top)], |html| {
            html.text(text)
        });
    }

    /// Adds the axes with their numbers and names.
    pub(crate) fn add_axes(&self, svg: &mut Html, (x, y): (&str, &str)) {
        let ((left, bottom), (right, top)) =
            (self.point((self.x.0, self.y.0)), self.point((self.x.1, self.y.1)));
        let border = format!("M{left} {top}H{right}V{bottom}H{left}Z");
        svg.element("path", &[("class", "axis"), ("d", &border)], |_| ());
        for (value, text) in ticks(self.x) {
            let (at, _) = self.point((value, self.y.0));
            let mark = format!("M{at:.1} {bottom}v5");
            svg.element("path", &[("class", "axis"), ("d", &mark)], |_| ());
            word(svg, "tick", (at, bottom + 17.0), &text);
        }
        for (value, text) in ticks(self.y) {
            let (_, at) = self.point((self.x.0, value));
            let mark = format!("M{left} {at:.1}h-5");
            svg.element("path", &[("class", "axis"), ("d", &mark)], |_| ());
            word(svg, "tick end", (left - 8.0, at + 4.0), &text);
        }
        word(svg, "tick", (f64::midpoint(left, right), SIZE.1 - 6.0), x);
        // Upright beside the axis.
        let (at, turn) =
            (f64::midpoint(top, bottom), format!("rotate(-90 12 {})", f64::midpoint(top, bottom)));
        let (left, at) = ("12".to_owned(), format!("{at:.1}"));
        let attributes = [
            ("class", "tick"),
            ("x", left.as_str()),
            ("y", at.as_str()),
            ("transform", turn.as_str()),
        ];
        svg.element("text", &attributes, |html| html.text(y));
    }
}

/// Adds a path, if there is one.
pub(crate) fn path(svg: &mut Html, style: &str, d: &str) {
    if !d.is_empty() {
        svg.element("path", &[("class", style), ("d", d)], |_| ());
    }
}

/// Adds a picture in a frame, with what it shows in words.
pub(crate) fn figure(
    html: &mut Html,
    title: &str,
    text: &str,
    frame: &Frame,
    names: (&str, &str),
    inside: impl FnOnce(&mut Html),
) {
    html.element("figure", &[("class", "tube")], |figure| {
        let (view, label) = (Frame::view(), format!("{title}. {text}"));
        let attributes = [
            ("class", "plot"),
            ("viewBox", view.as_str()),
            ("role", "img"),
            ("aria-label", &label),
        ];
        figure.element("svg", &attributes, |svg| {
            inside(svg);
            frame.add_axes(svg, names);
        });
        figure.leaf("figcaption", title);
    });
}

fn word(svg: &mut Html, class: &str, (x, y): (f64, f64), text: &str) {
    let (x, y) = (format!("{x:.1}"), format!("{y:.1}"));
    svg.element("text", &[("class", class), ("x", &x), ("y", &y)], |html| html.text(text));
}

fn with_room(range: Range) -> Range {
    let Range(low, high) = range;
    let room = ((high - low) * 0.04).max(low.abs().max(high.abs()) * 1e-6).max(1e-9);
    Range(low - room, high + room)
}

/// Round numbers in a range, at most seven, and how they are written.
fn ticks(range: Range) -> Vec<(f64, String)> {
    let length = range.1 - range.0;
    if !length.is_finite() || length <= 0.0 {
        return Vec::new();
    }
    let power = 10f64.powf((length / 6.0).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|times| times * power);
    let step = steps.into_iter().find(|step| length / step <= 6.0).unwrap_or(10.0 * power);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the conversion saturates"
    )]
    let digits = (-step.log10().floor()).clamp(0.0, 12.0) as usize;
    let first = (range.0 / step).ceil();
    let values = (0..7).map(|k| (first + f64::from(k)) * step);
    // Not -0.
    values
        .take_while(|value| *value <= range.1)
        .map(|v| (v, format!("{:.digits$}", v + 0.0)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round() {
        let texts = |low, high| -> Vec<String> {
            ticks(Range(low, high)).into_iter().map(|(_, text)| text).collect()
        };
        assert_eq!(texts(-0.52, 1.04), ["-0.5", "0.0", "0.5", "1.0"]);
        assert_eq!(texts(0.0, 30.0), ["0", "5", "10", "15", "20", "25", "30"]);
        assert_eq!(texts(0.00101, 0.00199), ["0.0012", "0.0014", "0.0016", "0.0018"]);
        assert_eq!(texts(1.0, 1.0), [""; 0]);
    }

    #[test]
    fn what_is_outside_is_cut_off() {
        let frame = Frame { x: Range(0.0, 1.0), y: Range(0.0, 1.0) };
        assert_eq!(frame.rectangle((Range(2.0, 3.0), Range(0.0, 1.0))), "");
        let endless = Range(f64::NEG_INFINITY, f64::INFINITY);
        assert_eq!(frame.rectangle((endless, endless)), "M62.0 320.0H550.0V10.0H62.0Z");
    }
}
