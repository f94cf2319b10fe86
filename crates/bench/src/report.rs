//! Tables and figures of a journal, as in PPA 2022: Figure 1 (a to i), Table 2 and Figure 2; and as
//! in POLIC3: Table 1 and Figure 1.

mod about;
mod coverage;
mod figures;
mod tables;

use std::path::{Path, PathBuf};

use policert_outcome::{Failure, make_folder};

use crate::journal::JournalEntry;
use crate::suite::Suite;

/// Writes all tables and figures into a folder; their paths. Figures get the ending given, `svg` or
/// `png`.
///
/// # Errors
/// If a run is none of the suite, or the folder or a file cannot be written.
///
/// Runs with other options than the suite has are left out; runs about files that have changed since
/// are kept, and the report says so.
pub fn write_report(
    suite: &Suite,
    entries: &[JournalEntry],
    folder: &Path,
    ending: &str,
) -> Result<Vec<PathBuf>, Failure> {
    suite.check_entries(entries)?;
    let is_current = |entry: &&JournalEntry| entry.arguments == suite.arguments(&entry.key);
    let current: Vec<JournalEntry> = entries.iter().filter(is_current).cloned().collect();
    let about = about::about(suite, entries, &current);
    let entries = current.as_slice();
    make_folder("--out", folder)?;
    let mut written = Vec::new();
    for (name, text) in [
        ("runs.csv", tables::csv(entries)),
        ("report.md", tables::markdown(suite, entries, &about)),
    ] {
        let path = folder.join(name);
        policert_outcome::write_text(&path, &text)?;
        written.push(path);
    }
    for (name, figure) in figures::figures(suite, entries) {
        let path = folder.join(format!("{name}.{ending}"));
        policert_plot::plot_lines(&figure, &path)?;
        written.push(path);
    }
    for (name, figure) in figures::comparisons(suite, entries) {
        let path = folder.join(format!("{name}.{ending}"));
        policert_plot::plot_pairs(&figure, &path)?;
        written.push(path);
    }
    Ok(written)
}
