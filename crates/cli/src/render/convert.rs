//! The result of `policert convert`.

use std::io::{self, Write};

use policert_files::{name, path};
use policert_lab::ConvertReport;
use policert_outcome::Outcome;

use super::{Detail, notes};
use crate::style::{Mark, Style};

/// Prints the result.
///
/// # Errors
/// If it cannot be written.
pub fn convert_report(
    out: &mut dyn Write,
    outcome: &Outcome<ConvertReport>,
    detail: Detail,
    style: Style,
) -> io::Result<()> {
    let report = &outcome.report;
    let head = style.paint(Mark::Good, "WRITTEN");
    let model = name(report.model.as_deref().unwrap_or("model"));
    let property = name(report.property.as_deref().unwrap_or_default());
    writeln!(out, "{head}: {model}, property {property}")?;
    if detail == Detail::Quiet {
        return Ok(());
    }
    for file in &report.outputs {
        writeln!(out, "  file: {}", path(file))?;
    }
    if let (Some(variables), Some(edges)) = (report.variables, report.edges) {
        writeln!(out, "  {variables} variables, {edges} edges; {:.1} s", outcome.time_s)?;
    }
    if let Some(states) = report.states {
        writeln!(out, "  {states} states; {:.1} s", outcome.time_s)?;
    }
    notes(out, &outcome.remarks.notes, style)
}
