//! The result of `policert train` on a model.

use std::io::{self, Write};

use policert_files::{name, path, shown};
use policert_lab::LearnReport;
use policert_outcome::Outcome;

use super::super::{Detail, unknown, warnings};
use crate::style::{Mark, Style};

/// Prints the result.
///
/// # Errors
/// If it cannot be written.
pub fn learn_report(
    out: &mut dyn Write,
    outcome: &Outcome<LearnReport>,
    detail: Detail,
    style: Style,
) -> io::Result<()> {
    let report = &outcome.report;
    let head = match &outcome.reason {
        None => style.paint(Mark::Good, "TRAINED"),
        Some(reason) => format!("{}: {}", unknown(style), shown(reason)),
    };
    let model = name(report.task.as_ref().map_or("model", |(model, _)| model));
    let score = &report.score;
    writeln!(
        out,
        "{head}: {model}: {:.1} % of {} runs reach the goal, {:.1} % an unsafe state; no proof",
        100.0 * score.success_rate,
        score.runs,
        100.0 * score.unsafe_rate
    )?;
    if detail == Detail::Quiet {
        return Ok(());
    }
    warnings(out, &outcome.remarks.warnings, style)?;
    for file in &report.files {
        writeln!(out, "  written: {}", path(file))?;
    }
    let starts = match report.start_states {
        Some(count) => format!("{count} start states"),
        None => "start states drawn at random".to_owned(),
    };
    writeln!(
        out,
        "  {starts}; mean return {:.3}, {:.1} choices a run; {:.1} % end elsewhere, {:.1} % are cut \
         off",
        score.mean_return,
        score.mean_choices,
        100.0 * score.stuck_rate,
        100.0 * score.cut_off_rate
    )?;
    writeln!(
        out,
        "  seed {}; {} steps, {} of learning, {:.1} s; {:.1} s in all",
        report.seed, report.steps, report.updates, report.training_s, outcome.time_s
    )
}
