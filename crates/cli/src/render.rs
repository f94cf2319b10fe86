//! Results for people: the verdict first, then how it came about, then what to know about it.

mod certify;
mod check;
mod convert;
mod dataset;
mod generate;
mod query;
mod reach;
mod simulate;
mod trace;
mod train;
mod verdict;

use std::io::{self, Write};

use policert_files::shown;
use policert_outcome::Failure;

use crate::style::{Mark, Style};

pub use certify::certify_report;
use certify::{certified, not_certified};
pub use check::check_report;
pub use convert::convert_report;
pub use dataset::dataset_report;
pub use generate::generate_report;
pub use query::{answer, query_details};
pub use reach::reach_report;
pub use simulate::{simulate_report, simulated_run};
pub use train::{learn_report, train_report};
pub use verdict::{Detail, files_not_written, verdict};

/// The greatest number of problems, warnings or notes that are printed; the result as JSON has
/// more of them.
const LISTED: usize = 50;

/// Prints why there is no verdict: every problem with its place.
///
/// # Errors
/// If it cannot be written.
pub fn failure(out: &mut dyn Write, failure: &Failure, style: Style) -> io::Result<()> {
    match failure {
        Failure::Expression { option, findings } => {
            writeln!(out, "{}: {option}:", style.paint(Mark::Bad, "error"))?;
            findings
                .iter()
                .take(LISTED)
                .try_for_each(|finding| writeln!(out, "{}", finding.rendered))
        }
        Failure::Findings(findings) => {
            for finding in findings.iter().take(LISTED) {
                writeln!(out, "{}", marked_head(&finding.rendered, style))?;
            }
            let count = findings.len();
            let listed = match count {
                0 | 1 => return Ok(()),
                _ if count > LISTED => format!("{count} problems, the first {LISTED} are shown"),
                _ => format!("{count} problems"),
            };
            writeln!(out, "{}", style.paint(Mark::Bad, &listed))
        }
        Failure::Stopped(reason) => {
            writeln!(out, "{}: {reason} before there was anything to tell", unknown(style))
        }
        other => {
            writeln!(out, "{}: {}", style.paint(Mark::Bad, "error"), shown(&other.to_string()))
        }
    }
}

/// Prints a line of details: its name, then text of any origin.
fn line(out: &mut dyn Write, name: &str, text: &str) -> io::Result<()> {
    writeln!(out, "  {name:<10} {}", shown(text))
}

/// Prints warnings.
fn warnings(out: &mut dyn Write, texts: &[String], style: Style) -> io::Result<()> {
    remarks(out, &style.paint(Mark::Caution, "warning"), texts)
}

/// Prints notes.
fn notes(out: &mut dyn Write, texts: &[String], style: Style) -> io::Result<()> {
    remarks(out, &style.paint(Mark::Name, "note"), texts)
}

fn remarks(out: &mut dyn Write, head: &str, texts: &[String]) -> io::Result<()> {
    for text in texts.iter().take(LISTED) {
        writeln!(out, "{head}: {}", shown(text))?;
    }
    match texts.len().saturating_sub(LISTED) {
        0 => Ok(()),
        more => writeln!(out, "{head}: {more} more are in the result (--json)"),
    }
}

fn unknown(style: Style) -> String {
    style.paint(Mark::Caution, "UNKNOWN")
}

/// Marks the word before the first colon or bracket: `error`, `warning`, `note`.
pub fn marked_head(text: &str, style: Style) -> String {
    let end = text.find([':', '[']).unwrap_or(0);
    let (head, rest) = text.split_at(end);
    let mark = match head {
        "error" | "unsupported" => Mark::Bad,
        "warning" => Mark::Caution,
        _ => Mark::Name,
    };
    format!("{}{rest}", style.paint(mark, head))
}
