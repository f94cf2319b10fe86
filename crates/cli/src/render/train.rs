//! The result of `policert train`.

mod learn;

use std::io::{self, Write};

use policert_files::{name, path, shown};
use policert_lab::TrainReport;
use policert_outcome::Outcome;

use super::{Detail, unknown};
use crate::style::{Mark, Style};

pub use learn::learn_report;

/// Prints the result.
///
/// # Errors
/// If it cannot be written.
pub fn train_report(
    out: &mut dyn Write,
    outcome: &Outcome<TrainReport>,
    detail: Detail,
    style: Style,
) -> io::Result<()> {
    let report = &outcome.report;
    let head = match &outcome.reason {
        None => style.paint(Mark::Good, "TRAINED"),
        Some(reason) => format!("{}: {}", unknown(style), shown(reason)),
    };
    let task = name(report.task.as_deref().unwrap_or("task"));
    writeln!(
        out,
        "{head}: {task}: {} of {} runs do as asked; no proof",
        report.solved, report.runs
    )?;
    if detail == Detail::Quiet {
        return Ok(());
    }
    if let Some(network) = &report.network {
        writeln!(out, "  network: {}", path(network))?;
    }
    writeln!(
        out,
        "  seed {}; {} attempts, {} episodes, {} steps; {:.1} s",
        report.seed, report.attempts, report.episodes, report.steps, outcome.time_s
    )
}
