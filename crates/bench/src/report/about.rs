//! What a report is about: the program, the files with their hashes, and what has changed since.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use policert_files::markdown;

use crate::freshness::changed;
use crate::journal::JournalEntry;
use crate::suite::Suite;

/// The greatest number of runs that are listed by name.
const LISTED: usize = 20;

/// The sections about program, files and changes.
pub(super) fn about(suite: &Suite, entries: &[JournalEntry], current: &[JournalEntry]) -> String {
    let mut text = String::from("\n## What this is about\n\n");
    let versions: BTreeSet<String> = current
        .iter()
        .map(|entry| match &*entry.version {
            "" => "of an unknown version".to_owned(),
            version => markdown(version),
        })
        .collect();
    let versions: Vec<String> = versions.into_iter().collect();
    let _ = writeln!(text, "Runs of policert {}.", versions.join(", "));
    let left_out: Vec<String> = entries
        .iter()
        .filter(|entry| entry.arguments != suite.arguments(&entry.key))
        .map(name)
        .collect();
    listed(&mut text, "Left out, because the suite has other options now", &left_out);
    let stale: Vec<String> = current
        .iter()
        .filter_map(|entry| {
            Some(format!("{}: {}", name(entry), markdown(&changed(suite, entry, None)?)))
        })
        .collect();
    listed(
        &mut text,
        "**Made before something changed** (`bench run --resume` makes them again)",
        &stale,
    );
    let files: BTreeSet<(String, &str)> = current
        .iter()
        .flat_map(|entry| &entry.files)
        .map(|file| (markdown(&file.path.display().to_string()), &*file.sha256))
        .collect();
    if !files.is_empty() {
        text += "\n| file | SHA-256 |\n|---|---|\n";
    }
    for (path, sha256) in files {
        let _ = writeln!(text, "| {path} | {} |", markdown(sha256));
    }
    text
}

fn name(entry: &JournalEntry) -> String {
    let share = entry.key.share.map_or(String::new(), |share| format!(", {share} %"));
    format!("{}, {}{share}", markdown(&entry.key.instance), markdown(&entry.key.configuration))
}

fn listed(text: &mut String, head: &str, names: &[String]) {
    if names.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n{head}:\n");
    for name in names.iter().take(LISTED) {
        let _ = writeln!(text, "- {name}");
    }
    if let Some(more) = names.len().checked_sub(LISTED).filter(|more| *more > 0) {
        let _ = writeln!(text, "- and {more} more");
    }
}
