//! The result of `policert certify`.

use std::io::{self, Write};

use policert_evidence::{CertifyReport, OverStarts};
use policert_files::shown;
use policert_outcome::Outcome;

use super::Detail;
use crate::style::{Mark, Style};

/// Prints the result.
///
/// # Errors
/// If it cannot be written.
pub fn certify_report(
    out: &mut dyn Write,
    outcome: &Outcome<CertifyReport>,
    detail: Detail,
    style: Style,
) -> io::Result<()> {
    let report = &outcome.report;
    let head = style.paint(Mark::Good, "CONFIRMED");
    writeln!(out, "{head}: {}", what(report))?;
    if detail == Detail::Quiet {
        return Ok(());
    }
    if report.probability.is_some() {
        write!(
            out,
            "  bounds of {} states, {} start states; ",
            report.states, report.start_states
        )?;
    } else {
        write!(out, "  ")?;
    }
    writeln!(out, "{:.1} s", outcome.time_s)?;
    if let Some(semantics) = &report.semantics {
        writeln!(out, "  semantics  {}", shown(&semantics.text))?;
    }
    Ok(())
}

/// The claim that is confirmed, in words.
fn what(report: &CertifyReport) -> String {
    if let Some([lo, hi]) = &report.probability {
        let over = match report.over_start_states.unwrap_or_default() {
            OverStarts::Greatest => "the greatest probability",
            OverStarts::Least => "the least over the start states of the greatest probability",
            OverStarts::Sum => "the sum over the start states of the greatest probability",
            OverStarts::Average => "the mean over the start states of the greatest probability",
        };
        return format!("{over} lies between {lo} and {hi}");
    }
    match (report.steps, report.boxes) {
        (Some(1), _) => "an unsafe state is reached in 1 step".to_owned(),
        (Some(steps), _) => format!("an unsafe state is reached in {steps} steps"),
        (None, Some(0)) => "no unsafe state is reachable: there is no start state".to_owned(),
        (None, Some(boxes)) => {
            format!(
                "no unsafe state is reachable: an inductive invariant of {boxes} boxes shows it"
            )
        }
        (None, None) => "the evidence shows what it claims".to_owned(),
    }
}
