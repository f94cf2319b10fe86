//! Pictures of results of `policert reach`, as SVG or PNG (`docs/reach.md`).
//!
//! - `boxes`: reachable boxes, trajectories, goal and unsafe set in planes of two variables.
//! - `counts`: how many boxes there are at each step.
//! - `lines`: lines over a common axis, for studies.
//! - `pairs`: two times of each instance against each other, for studies.
//! - `granularity`: time, boxes and verified parts against the width of cells.
//!
//! The same drawing becomes an image of either format. Text is set in a font that is part of the
//! program, so that nothing is needed from the system.
//!
//! ```
//! use policert_plot::{LinesPlot, plot_lines};
//!
//! let plot = LinesPlot {
//!     title: "boxes at each step".to_owned(),
//!     x: "step".to_owned(),
//!     x_range: (0.0, 2.0),
//!     y: "boxes".to_owned(),
//!     lines: vec![("cart".to_owned(), vec![(0.0, 1.0), (1.0, 4.0), (2.0, 9.0)])],
//!     is_joined: true,
//! };
//! let folder = tempfile::tempdir()?;
//! plot_lines(&plot, &folder.path().join("boxes.svg")).expect("a picture");
//! assert!(folder.path().join("boxes.svg").exists());
//! // The name says the format.
//! assert!(plot_lines(&plot, &folder.path().join("boxes.txt")).is_err());
//! # Ok::<(), std::io::Error>(())
//! ```

mod axis;
mod boxes;
mod canvas;
mod counts;
mod granularity;
mod legend;
mod lines;
mod outline;
mod pairs;
mod results;
mod view;

use std::path::{Path, PathBuf};

use policert_outcome::{Failure, write_file};
use policert_reach::{LoopAnalysis, Task};

use boxes::BoxesPicture;
use canvas::{Picture, image};
use counts::CountsPicture;
use granularity::GranularityPicture;

pub use canvas::ImageFormat;
pub use lines::LinesPlot;
pub use pairs::{PairsPlot, TimePair};
use results::ReachResult;

/// Draws the number of boxes at each step, one line for each result file.
///
/// # Errors
/// If a file is no result, the output's name has no known ending, or it cannot be written.
pub fn plot_counts(results: &[PathBuf], out: &Path) -> Result<(), Failure> {
    let format = ImageFormat::of(out)?;
    let results = results.iter().map(|path| ReachResult::read(path));
    save(&CountsPicture::new(&results.collect::<Result<Vec<_>, _>>()?), format, out)
}

/// Draws time, boxes and verified parts against the width of cells, from result files.
///
/// # Errors
/// If a file is no result or names no granularity, the output's name has no known ending, or it
/// cannot be written.
pub fn plot_granularity(results: &[PathBuf], out: &Path) -> Result<(), Failure> {
    let format = ImageFormat::of(out)?;
    let results = results.iter().map(|path| ReachResult::read(path));
    save(&GranularityPicture::new(&results.collect::<Result<Vec<_>, _>>()?)?, format, out)
}

/// Draws the reachable boxes of a task in these planes of two variables.
///
/// # Errors
/// If the output's name has no known ending, or it cannot be written.
pub fn plot_boxes(
    task: &Task,
    analysis: &LoopAnalysis,
    planes: &[(usize, usize)],
    out: &Path,
) -> Result<(), Failure> {
    save(&BoxesPicture::new(task, analysis, planes), ImageFormat::of(out)?, out)
}

/// Draws the number of boxes at each step of one run.
///
/// # Errors
/// If the output's name has no known ending, or it cannot be written.
pub fn plot_counts_of_run(task: &str, counts: &[u64], out: &Path) -> Result<(), Failure> {
    save(&CountsPicture::of_run(task, counts), ImageFormat::of(out)?, out)
}

/// Draws lines.
///
/// # Errors
/// If the output's name has no known ending, or it cannot be written.
pub fn plot_lines(plot: &LinesPlot, out: &Path) -> Result<(), Failure> {
    save(&lines::LinesPicture::new(plot), ImageFormat::of(out)?, out)
}

/// Lines as a document in SVG.
///
/// # Errors
/// None but defects of ours.
pub fn lines_svg(plot: &LinesPlot) -> Result<String, Failure> {
    svg(&lines::LinesPicture::new(plot))
}

/// Two times of each instance against each other, as a document in SVG.
///
/// # Errors
/// None but defects of ours.
pub fn pairs_svg(plot: &PairsPlot) -> Result<String, Failure> {
    svg(&pairs::PairsPicture::new(plot))
}

fn svg(picture: &impl Picture) -> Result<String, Failure> {
    let bytes = image(picture, ImageFormat::Svg)?;
    String::from_utf8(bytes).map_err(canvas::defect)
}

/// Draws two times of each instance against each other.
///
/// # Errors
/// If the output's name has no known ending, or it cannot be written.
pub fn plot_pairs(plot: &PairsPlot, out: &Path) -> Result<(), Failure> {
    save(&pairs::PairsPicture::new(plot), ImageFormat::of(out)?, out)
}

/// Draws a picture into a file.
fn save(picture: &impl Picture, format: ImageFormat, path: &Path) -> Result<(), Failure> {
    write_file(path, &image(picture, format)?)
        .map_err(|source| Failure::Output { what: path.display().to_string(), source })
}
