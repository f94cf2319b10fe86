//! `policert plot`.

use std::io;

use policert_verify::{ExitStatus, plot_counts, plot_granularity};

use super::fail;
use crate::args::{PictureArg, PlotArgs};
use crate::style::Style;

/// Runs the command.
pub fn run(arguments: &PlotArgs) -> ExitStatus {
    let (plotted, drawn) = match &arguments.picture {
        PictureArg::Boxes(plotted) => (plotted, plot_counts(&plotted.results, &plotted.out)),
        PictureArg::Granularity(plotted) => {
            (plotted, plot_granularity(&plotted.results, &plotted.out))
        }
    };
    match drawn {
        Ok(()) => ExitStatus::Safe,
        Err(failure) => fail(&failure, Style::new(plotted.color, &io::stderr())),
    }
}
