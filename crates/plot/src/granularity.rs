//! What the width of cells does, as in Figure 9 of the paper: time, boxes and verified parts.

use std::collections::BTreeMap;

use plotters::prelude::{Circle, DrawingBackend, LineSeries, WHITE};
use plotters::style::{Color, ShapeStyle};
use policert_outcome::Failure;

use super::axis::Axis;
use super::canvas::{Area, Picture, chart, defect, pixels};
use super::counts::COLORS;
use super::legend::{Legend, Mark};
use super::results::{ReachNumbers, ReachResult};

const PANEL: (u32, u32) = (480, 420);

/// Results with cells of several widths, one line for each task and kind of aggregation.
#[derive(Debug)]
pub struct GranularityPicture {
    legend: Legend,
    panels: Vec<Panel>,
}

/// One number against the width of cells.
#[derive(Debug)]
struct Panel {
    axes: (Axis, Axis),
    lines: Vec<Line>,
}

/// A result: width of cells, then the three numbers.
#[derive(Debug)]
struct Row {
    width: f64,
    numbers: [f64; 3],
    stopped: bool,
}

/// The points of a line; those of runs that were stopped are hollow.
type Line = Vec<((f64, f64), bool)>;

impl GranularityPicture {
    /// The picture of some results.
    ///
    /// # Errors
    /// If a result names no granularity.
    pub fn new(results: &[ReachResult]) -> Result<Self, Failure> {
        let mut lines: BTreeMap<String, Vec<Row>> = BTreeMap::new();
        for result in results {
            let (Some(width), Some(numbers)) = (width(result), &result.statistics) else {
                let name = &result.name;
                let message = format!("{name}: a result of cells that are not of one width");
                return Err(Failure::invalid(message));
            };
            let mut name = result.title().to_owned();
            if result.aggregation.as_deref() == Some("none") {
                name += ", without aggregation";
            }
            let row = Row { width, numbers: row(numbers), stopped: result.is_stopped() };
            lines.entry(name).or_default().push(row);
        }
        for line in lines.values_mut() {
            line.sort_by(|a, b| a.width.total_cmp(&b.width));
        }
        let panels = ["time of the analysis (s)", "boxes", "verified parts (%)"];
        let panels = panels.iter().enumerate().map(|(at, name)| Panel::new(name, at, &lines));
        let panels: Vec<Panel> = panels.collect();
        let marks = COLORS.into_iter().cycle().map(Mark::Line);
        let entries = marks.zip(lines.keys().cloned()).collect();
        let stopped = results.iter().any(ReachResult::is_stopped);
        let title = if stopped { "Granularity (hollow: stopped)" } else { "Granularity" };
        Ok(Self { legend: Legend::new(title, entries, 3 * PANEL.0), panels })
    }
}

/// The width of cells along the first variable.
fn width(result: &ReachResult) -> Option<f64> {
    result.widths()?.first().copied().filter(|width| width.is_finite() && *width > 0.0)
}

#[expect(clippy::cast_precision_loss, reason = "for a picture")]
fn row(numbers: &ReachNumbers) -> [f64; 3] {
    let boxes: u64 = numbers.boxes_per_step.iter().sum();
    let share = numbers.parts_verified as f64 / numbers.parts.max(1) as f64;
    [numbers.analysis_s.max(1e-4), boxes.max(1) as f64, share * 100.0]
}

impl Panel {
    fn new(name: &str, at: usize, lines: &BTreeMap<String, Vec<Row>>) -> Self {
        let range = |values: &mut dyn Iterator<Item = f64>| {
            values.fold((f64::INFINITY, 0.0f64), |(low, high), v| (low.min(v), high.max(v)))
        };
        let widths = range(&mut lines.values().flatten().map(|row| row.width));
        let values = range(&mut lines.values().flatten().map(|row| row.numbers[at]));
        let x = Axis::logarithmic("granularity (first variable)", widths.0, widths.1);
        let y = if at == 2 {
            Axis::linear(name, 0.0, 105.0)
        } else {
            Axis::logarithmic(name, values.0, values.1)
        };
        let point = |row: &Row| ((x.at(row.width), y.at(row.numbers[at])), row.stopped);
        let lines = lines.values().map(|line| line.iter().map(point).collect()).collect();
        Self { axes: (x, y), lines }
    }
}

impl Picture for GranularityPicture {
    fn size(&self) -> (u32, u32) {
        (3 * PANEL.0, PANEL.1 + self.legend.height())
    }

    fn paint<B: DrawingBackend>(&self, area: &Area<B>, unit: u32) -> Result<(), Failure> {
        let (head, body) = area.split_vertically(pixels(self.legend.height(), unit));
        self.legend.paint(&head, unit)?;
        let areas = body.split_evenly((1, 3));
        for (panel, area) in self.panels.iter().zip(&areas) {
            let mut chart = chart(area, (&panel.axes.0, &panel.axes.1), unit)?;
            for (line, color) in panel.lines.iter().zip(COLORS.into_iter().cycle()) {
                let style =
                    ShapeStyle { color: color.to_rgba(), filled: false, stroke_width: 2 * unit };
                let path = line.iter().map(|(at, _)| *at);
                chart.draw_series(LineSeries::new(path, style)).map_err(defect)?;
                for (at, stopped) in line {
                    let disk =
                        |radius, fill: ShapeStyle| Circle::new(*at, pixels(radius, unit), fill);
                    chart.draw_series([disk(4, color.filled())]).map_err(defect)?;
                    if *stopped {
                        chart.draw_series([disk(2, WHITE.filled())]).map_err(defect)?;
                    }
                }
            }
        }
        Ok(())
    }
}
