//! How many boxes there are at each step, as in Figure 8 of the paper: one line for each result.

use plotters::prelude::{DrawingBackend, LineSeries, RGBColor};
use plotters::style::{Color, ShapeStyle};
use policert_outcome::Failure;

use super::axis::Axis;
use super::canvas::{Area, Picture, chart, defect, pixels};
use super::legend::{Legend, Mark};
use super::results::{ReachResult, labels};

/// Colours of lines, again from the first on after the last.
pub(super) const COLORS: [RGBColor; 8] = [
    RGBColor(214, 0, 0),
    RGBColor(31, 78, 216),
    RGBColor(20, 150, 60),
    RGBColor(138, 43, 226),
    RGBColor(230, 120, 0),
    RGBColor(0, 150, 170),
    RGBColor(120, 80, 40),
    RGBColor(90, 90, 90),
];

const SIZE: (u32, u32) = (800, 500);
/// If the most boxes of one line are so many times those of another, the axis is logarithmic.
const LOGARITHMIC_FROM: f64 = 20.0;

/// Boxes at each step of several runs.
#[derive(Debug)]
pub struct CountsPicture {
    legend: Legend,
    axes: (Axis, Axis),
    lines: Vec<Vec<(f64, f64)>>,
}

impl CountsPicture {
    /// The picture of some results.
    #[must_use]
    pub fn new(results: &[ReachResult]) -> Self {
        let numbers = results.iter().filter_map(|result| result.statistics.as_ref());
        let counts: Vec<&[u64]> = numbers.map(|n| n.boxes_per_step.as_slice()).collect();
        let mut tasks: Vec<&str> = results.iter().map(ReachResult::title).collect();
        tasks.dedup();
        let of = if let [task] = tasks[..] { format!("{task}: ") } else { String::new() };
        Self::of_counts(&format!("{of}boxes at each step"), labels(results), &counts)
    }

    /// The picture of one run.
    pub(crate) fn of_run(task: &str, counts: &[u64]) -> Self {
        let labels = vec!["boxes of all parts".to_owned()];
        Self::of_counts(&format!("{task}: boxes at each step"), labels, &[counts])
    }

    fn of_counts(title: &str, labels: Vec<String>, counts: &[&[u64]]) -> Self {
        let most = |line: &[u64]| line.iter().copied().max().unwrap_or(0).max(1);
        let (least, greatest) = counts
            .iter()
            .map(|line| most(line))
            .fold((u64::MAX, 1), |(a, b), most| (a.min(most), b.max(most)));
        let steps = counts.iter().map(|line| line.len()).max().unwrap_or(0).max(2) - 1;
        #[expect(clippy::cast_precision_loss, reason = "for a picture")]
        let (least, greatest, steps) = (least as f64, greatest as f64, steps as f64);
        let logarithmic = greatest / least >= LOGARITHMIC_FROM;
        let smallest = counts.iter().flat_map(|line| line.iter()).copied().filter(|n| *n > 0).min();
        #[expect(clippy::cast_precision_loss, reason = "for a picture")]
        let smallest = smallest.unwrap_or(1) as f64;
        let y = if logarithmic {
            Axis::logarithmic("boxes (logarithmic)", smallest, greatest)
        } else {
            Axis::linear("boxes", 0.0, greatest * 1.05)
        };
        let lines = counts.iter().map(|line| {
            let positive = |(_, count): &(usize, &u64)| !logarithmic || **count > 0;
            let counted = line.iter().enumerate().filter(positive);
            #[expect(clippy::cast_precision_loss, reason = "for a picture")]
            counted.map(|(step, &count)| (step as f64, y.at(count as f64))).collect()
        });
        let lines = lines.collect();
        let marks = COLORS.into_iter().cycle().map(Mark::Line);
        let legend = Legend::new(title, marks.zip(labels).collect(), SIZE.0);
        Self { legend, axes: (Axis::linear("step", 0.0, steps), y), lines }
    }
}

impl Picture for CountsPicture {
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
            chart.draw_series(LineSeries::new(line.iter().copied(), style)).map_err(defect)?;
        }
        Ok(())
    }
}
