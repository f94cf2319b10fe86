//! `policert plot`.

use std::io;
use std::path::PathBuf;

use policert_outcome::{ExitStatus, OutputFiles};
use policert_plot::{plot_counts, plot_granularity};

use super::fail;
use crate::args::{PictureArg, PlotArgs};
use crate::style::Style;

/// Runs the command.
pub fn run(arguments: &PlotArgs) -> ExitStatus {
    let (PictureArg::Boxes(plotted) | PictureArg::Granularity(plotted)) = &arguments.picture;
    let results = plotted.results.as_slice();
    let outputs = OutputFiles::new([("--out", Some(plotted.out.as_path()))]);
    let drawn = outputs.check(results.iter().map(PathBuf::as_path)).and_then(|()| match &arguments
        .picture
    {
        PictureArg::Boxes(_) => plot_counts(results, &plotted.out),
        PictureArg::Granularity(_) => plot_granularity(results, &plotted.out),
    });
    match drawn {
        Ok(()) => ExitStatus::Safe,
        Err(failure) => fail(&failure, Style::new(plotted.color.when, &io::stderr())),
    }
}
