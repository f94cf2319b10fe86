//! Two times of each instance against each other, on logarithmic axes.

use plotters::prelude::{Circle, DrawingBackend, LineSeries};
use plotters::style::{Color, RGBColor, ShapeStyle};
use policert_outcome::Failure;

use super::axis::Axis;
use super::canvas::{Area, Picture, chart, defect, pixels};
use super::counts::COLORS;
use super::legend::{Legend, Mark};

const SIZE: (u32, u32) = (640, 640);
const GREY: RGBColor = RGBColor(150, 150, 150);
/// The position of instances without a time, as a multiple of the limit.
const UNSOLVED: f64 = 2.0;
/// The least time shown, in seconds.
const LEAST: f64 = 0.001;

/// Two times of an instance in seconds; `None` for no verdict.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TimePair {
    /// The one along the horizontal axis.
    pub x: Option<f64>,
    /// The one along the vertical axis.
    pub y: Option<f64>,
}

/// Holds what is drawn.
#[derive(Clone, PartialEq, Debug)]
pub struct PairsPlot {
    /// The text above the plot.
    pub title: String,
    /// The label of the first times, which are in seconds.
    pub x: String,
    /// The label of the second times, which are in seconds.
    pub y: String,
    /// The limit of the time, in seconds.
    pub limit: f64,
    /// Pairs of times by group, with the groups' names; without verdict they stand beyond the line
    /// of the limit.
    pub groups: Vec<(String, Vec<TimePair>)>,
}

/// The picture of pairs of times.
#[derive(Debug)]
pub(super) struct PairsPicture {
    legend: Legend,
    axes: (Axis, Axis),
    groups: Vec<Vec<(f64, f64)>>,
    /// The position of the limit.
    limit: f64,
}

impl PairsPicture {
    pub(super) fn new(plot: &PairsPlot) -> Self {
        let limit = if plot.limit.is_finite() { plot.limit.max(LEAST) } else { LEAST };
        let end = limit * UNSOLVED;
        let time = |time: Option<f64>| time.unwrap_or(end).clamp(LEAST, end);
        let pairs = plot.groups.iter().flat_map(|(_, pairs)| pairs);
        let least = pairs.fold(limit, |least, &TimePair { x, y }| least.min(time(x)).min(time(y)));
        let axis = |name: &str| {
            Axis::logarithmic(&format!("{name}, beyond the line: no verdict"), least, end)
        };
        let axes = (axis(&plot.x), axis(&plot.y));
        let at = |x| axes.0.at(time(x));
        let groups = plot.groups.iter();
        let groups = groups
            .map(|(_, pairs)| pairs.iter().map(|&TimePair { x, y }| (at(x), at(y))).collect())
            .collect();
        let marks = COLORS.into_iter().cycle().map(Mark::Line);
        let names = plot.groups.iter().map(|(name, _)| name.clone());
        let legend = Legend::new(&plot.title, marks.zip(names).collect(), SIZE.0);
        let limit = axes.0.at(limit);
        Self { legend, axes, groups, limit }
    }
}

impl Picture for PairsPicture {
    fn size(&self) -> (u32, u32) {
        (SIZE.0, SIZE.1 + self.legend.height())
    }

    fn paint<B: DrawingBackend>(&self, area: &Area<B>, unit: u32) -> Result<(), Failure> {
        let (head, body) = area.split_vertically(pixels(self.legend.height(), unit));
        self.legend.paint(&head, unit)?;
        let mut chart = chart(&body, (&self.axes.0, &self.axes.1), unit)?;
        let (low, high, limit) = (self.axes.0.low(), self.axes.0.high(), self.limit);
        let style = ShapeStyle { color: GREY.to_rgba(), filled: false, stroke_width: unit };
        for line in [
            [(low, low), (high, high)],
            [(limit, low), (limit, high)],
            [(low, limit), (high, limit)],
        ] {
            chart.draw_series(LineSeries::new(line, style)).map_err(defect)?;
        }
        for (pairs, color) in self.groups.iter().zip(COLORS.into_iter().cycle()) {
            let dots =
                pairs.iter().map(|point| Circle::new(*point, 4 * unit, color.mix(0.7).filled()));
            chart.draw_series(dots).map_err(defect)?;
        }
        Ok(())
    }
}
