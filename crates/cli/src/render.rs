//! Results for people: the verdict first, then how it came about, then what to know about it.

mod certify;
mod check;
mod convert;
mod dataset;
mod generate;
mod query;
mod reach;
mod simulate;
mod train;
mod verdict;

use std::io::{self, Write};

use policert_verify::Failure;

use crate::style::{Mark, Style};

pub use certify::certify_report;
pub use check::check_report;
pub use convert::convert_report;
pub use dataset::dataset_report;
pub use generate::generate_report;
pub use query::{answer, query_details};
pub use reach::reach_report;
pub use simulate::{simulate_report, simulated_run};
pub use train::{learn_report, train_report};
pub use verdict::{Detail, verdict};

/// Prints why there is no verdict: every problem with its place.
///
/// # Errors
/// If it cannot be written.
pub fn failure(out: &mut dyn Write, failure: &Failure, style: Style) -> io::Result<()> {
    match failure {
        Failure::Problems(problems) => {
            for problem in problems {
                writeln!(out, "{}", marked_head(&problem.rendered, style))?;
            }
            let count = problems.len();
            if count > 1 {
                writeln!(out, "{}", style.paint(Mark::Bad, &format!("{count} problems")))?;
            }
            Ok(())
        }
        Failure::Stopped(reason) => {
            writeln!(out, "{}: {reason}, before an engine could start", unknown(style))
        }
        other => writeln!(out, "{}: {other}", style.paint(Mark::Bad, "error")),
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
