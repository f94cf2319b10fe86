//! The result of `policert dataset`.

use std::io::{self, Write};

use policert_files::{name, path, shown};
use policert_lab::DatasetReport;
use policert_outcome::Outcome;

use super::{Detail, unknown};
use crate::style::{Mark, Style};

/// Prints the result.
///
/// # Errors
/// If it cannot be written.
pub fn dataset_report(
    out: &mut dyn Write,
    outcome: &Outcome<DatasetReport>,
    detail: Detail,
    style: Style,
) -> io::Result<()> {
    let report = &outcome.report;
    let head = match &outcome.reason {
        None => style.paint(Mark::Good, "WRITTEN"),
        Some(reason) => format!("{}: {}", unknown(style), shown(reason)),
    };
    let model = name(report.model.as_deref().unwrap_or("model"));
    writeln!(out, "{head}: {model}: {} rows", report.rows)?;
    if detail == Detail::Quiet {
        return Ok(());
    }
    if let Some(file) = &report.output {
        writeln!(out, "  table: {}", path(file))?;
    }
    for (label, rows) in &report.rows_by_label {
        writeln!(out, "  {}: {rows}", name(label))?;
    }
    writeln!(
        out,
        "  {} runs, {} states, {} without a single label; {:.1} s",
        report.rollouts, report.states, report.without_choice, outcome.time_s
    )
}
