//! The result of `policert certify`.

use std::io::{self, Write};

use policert_files::shown;
use policert_verify::CertifyReport;

use super::Detail;
use crate::style::{Mark, Style};

/// Prints the result.
///
/// # Errors
/// If it cannot be written.
pub fn certify_report(
    out: &mut dyn Write,
    report: &CertifyReport,
    detail: Detail,
    style: Style,
) -> io::Result<()> {
    let [lo, hi] = report.probability.clone().unwrap_or_default();
    let head = style.paint(Mark::Good, "CONFIRMED");
    writeln!(out, "{head}: the greatest probability lies between {lo} and {hi}")?;
    if detail == Detail::Quiet {
        return Ok(());
    }
    writeln!(
        out,
        "  bounds of {} states, {} start states; {:.1} s",
        report.states, report.start_states, report.time_s
    )?;
    if let Some(semantics) = &report.semantics {
        writeln!(out, "  semantics  {}", shown(&semantics.text))?;
    }
    Ok(())
}
