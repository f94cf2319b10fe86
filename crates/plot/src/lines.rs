//! Lines over a common axis, with a logarithmic axis of values.

use plotters::prelude::{Circle, DrawingBackend, LineSeries};
use plotters::style::{Color, ShapeStyle};
use policert_outcome::Failure;

use super::axis::Axis;
use super::canvas::{Area, Picture, chart, defect, pixels};
use super::counts::COLORS;
use super::legend::{Legend, Mark};

const SIZE: (u32, u32) = (800, 500);

/// Holds what is drawn.
#[derive(Clone, PartialEq, Debug)]
pub struct LinesPlot {
    /// The text above the plot.
    pub title: String,
    /// The label of the horizontal axis, for the points' first numbers.
    pub x: String,
    /// The ends of the axis of first numbers.
    pub x_range: (f64, f64),
    /// The label of the vertical axis, for their second numbers. The axis is logarithmic, so
    /// numbers that are not positive are left out.
    pub y: String,
    /// Lines with their names.
    pub lines: Vec<(String, Vec<(f64, f64)>)>,
    /// True if lines join the points.
    pub is_joined: bool,
}

/// The picture of lines.
#[derive(Debug)]
pub(super) struct LinesPicture {
    legend: Legend,
    axes: (Axis, Axis),
    lines: Vec<Vec<(f64, f64)>>,
    is_joined: bool,
}

impl LinesPicture {
    pub(super) fn new(plot: &LinesPlot) -> Self {
        let drawn = |(x, y): &(f64, f64)| x.is_finite() && y.is_finite() && *y > 0.0;
        let lines: Vec<Vec<(f64, f64)>> = plot
            .lines
            .iter()
            .map(|(_, line)| line.iter().copied().filter(drawn).collect())
            .collect();
        let values = lines.iter().flatten().map(|&(_, y)| y);
        let ends = values.fold(None, |ends: Option<(f64, f64)>, value| {
            Some(ends.map_or((value, value), |(a, b)| (a.min(value), b.max(value))))
        });
        let (x, y) = (plot.x_range, ends.unwrap_or((1.0, 10.0)));
        let axis = Axis::logarithmic(&format!("{} (logarithmic)", plot.y), y.0, y.1);
        let lines = lines
            .into_iter()
            .map(|line| line.into_iter().map(|(x, y)| (x, axis.at(y))).collect())
            .collect();
        let marks = COLORS.into_iter().cycle().map(Mark::Line);
        let names = plot.lines.iter().map(|(name, _)| name.clone());
        let legend = Legend::new(&plot.title, marks.zip(names).collect(), SIZE.0);
        let axes = (Axis::linear(&plot.x, x.0, x.1), axis);
        Self { legend, axes, lines, is_joined: plot.is_joined }
    }
}

impl Picture for LinesPicture {
    fn size(&self) -> (u32, u32) {
        (SIZE.0, SIZE.1 + self.legend.height())
    }

    fn paint<B: DrawingBackend>(&self, area: &Area<B>, unit: u32) -> Result<(), Failure> {
        let (head, body) = area.split_vertically(pixels(self.legend.height(), unit));
        self.legend.paint(&head, unit)?;
        let mut chart = chart(&body, (&self.axes.0, &self.axes.1), unit)?;
        for (line, color) in self.lines.iter().zip(COLORS.into_iter().cycle()) {
            let style =
                ShapeStyle { color: color.to_rgba(), filled: false, stroke_width: 2 * unit };
            if self.is_joined {
                chart.draw_series(LineSeries::new(line.iter().copied(), style)).map_err(defect)?;
            }
            let dots = line.iter().map(|point| Circle::new(*point, 4 * unit, color.filled()));
            chart.draw_series(dots).map_err(defect)?;
        }
        Ok(())
    }
}
