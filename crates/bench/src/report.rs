//! The report of a journal: a page, a Markdown document, a CSV file, and figures.

mod about;
mod coverage;
mod evidence;
mod figures;
mod page;
mod tables;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use policert_files::markdown;
use policert_outcome::{Failure, make_folder};
use policert_page::Table;

use crate::journal::JournalEntry;
use crate::suite::Suite;
use about::About;
use figures::{Drawing, Figure};

/// The parts of a report.
struct Sections {
    summary: String,
    tables: Vec<NamedTable>,
    figures: Vec<Figure>,
}

/// A table, and what is said below it.
struct NamedTable {
    name: String,
    table: Table,
    texts: Vec<String>,
}

/// Writes all tables and figures into a folder; their paths. Figures get the ending given, `svg` or
/// `png`. `work` is the folder of generated files.
///
/// # Errors
/// If a run is none of the suite, or the folder or a file cannot be written.
///
/// Runs with other options than the suite has are left out; runs about files that have changed since
/// are kept, and the report says so.
pub fn write_report(
    suite: &Suite,
    entries: &[JournalEntry],
    work: &Path,
    folder: &Path,
    ending: &str,
) -> Result<Vec<PathBuf>, Failure> {
    suite.check_entries(entries)?;
    let is_current = |entry: &&JournalEntry| entry.arguments == suite.arguments(&entry.key);
    let current: Vec<JournalEntry> = entries.iter().filter(is_current).cloned().collect();
    let about = About::new(suite, entries, &current, work);
    let entries = current.as_slice();
    let sections = sections(suite, entries);
    make_folder("--out", folder)?;
    let mut written = Vec::new();
    for (name, text) in [
        ("report.html", page::html(suite, entries, &sections, &about)?),
        ("report.md", document(suite, entries, &sections, &about)),
        ("runs.csv", tables::csv(entries)),
    ] {
        let path = folder.join(name);
        policert_outcome::write_text(&path, &text)?;
        written.push(path);
    }
    for figure in &sections.figures {
        let path = folder.join(format!("{}.{ending}", figure.name));
        match &figure.drawing {
            Drawing::Lines(plot) => policert_plot::plot_lines(plot, &path)?,
            Drawing::Pairs(plot) => policert_plot::plot_pairs(plot, &path)?,
        }
        written.push(path);
    }
    Ok(written)
}

fn sections(suite: &Suite, entries: &[JournalEntry]) -> Sections {
    // All runs of a journal have the same limits.
    let of_suite = (suite.seconds, suite.memory.clone());
    let (seconds, memory) = entries.first().map_or(&of_suite, |entry| &entry.limits);
    let mut verdicts: BTreeMap<&str, usize> = BTreeMap::new();
    for entry in entries {
        *verdicts.entry(&entry.result.verdict).or_default() += 1;
    }
    let counts = verdicts.iter().map(|(verdict, count)| format!("{count} {verdict}"));
    let summary = format!(
        "{} of {} runs are finished: {}. Limits of each run, where a configuration names no other: \
         {seconds} s, {memory}. Times are those of the whole process, as the system measures them.",
        entries.len(),
        suite.runs().len(),
        counts.collect::<Vec<_>>().join(", ")
    );
    let mut tables: Vec<NamedTable> = Vec::new();
    if let Some((table, agreement)) = coverage::coverage(suite, entries) {
        let texts = vec![agreement];
        tables.push(NamedTable { name: "coverage".to_owned(), table, texts });
    }
    for spec in &suite.tables {
        let table = tables::table(suite, spec, entries);
        if !table.rows.is_empty() {
            tables.push(NamedTable { name: spec.name.clone(), table, texts: Vec::new() });
        }
    }
    if let Some((table, summary)) = evidence::evidence(entries) {
        let texts = vec![summary];
        tables.push(NamedTable { name: "evidence".to_owned(), table, texts });
    }
    Sections { summary, tables, figures: figures::figures(suite, entries) }
}

/// The report as a Markdown document.
fn document(suite: &Suite, entries: &[JournalEntry], sections: &Sections, about: &About) -> String {
    let mut text = format!("# {}\n", markdown(&suite.name));
    for paragraph in suite.about.iter().chain([&sections.summary]) {
        let _ = write!(text, "\n{}\n", markdown(paragraph));
    }
    text += &about.markdown();
    let mut add = |head: &str, table: &Table, texts: &[String]| {
        let _ = write!(
            text,
            "\n{head} {}\n\n{}",
            markdown(&table.caption),
            tables::markdown_table(table)
        );
        for paragraph in texts {
            let _ = write!(text, "\n{}\n", markdown(paragraph));
        }
    };
    let beside = |name: &str| {
        let all = suite.published.iter().enumerate();
        let named = all.filter(|(_, published)| published.beside == name);
        let named = named.map(|(number, published)| {
            (tables::published(published, number), published.note.clone().into_iter().collect())
        });
        named.collect::<Vec<(Table, Vec<String>)>>()
    };
    for NamedTable { name, table, texts } in &sections.tables {
        add("##", table, texts);
        beside(name).iter().for_each(|(table, texts)| add("###", table, texts));
    }
    for figure in &suite.figures {
        beside(&figure.name).iter().for_each(|(table, texts)| add("###", table, texts));
    }
    for instance in &suite.instances {
        let own = entries.iter().enumerate().filter(|(_, e)| e.key.instance == instance.name);
        let own: Vec<(usize, &JournalEntry)> = own.collect();
        if !own.is_empty() {
            add("##", &tables::all_runs("", instance.name.clone(), &own, None), &[]);
        }
    }
    text
}
