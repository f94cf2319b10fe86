//! What a report is about: the program, the files with their hashes, and what has changed since.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use policert_files::markdown;
use policert_page::{Cell, Html, Table};

use crate::freshness::changed;
use crate::journal::JournalEntry;
use crate::suite::Suite;

/// The greatest number of runs that are listed by name.
const LISTED: usize = 20;

/// What a report is about.
pub(super) struct About {
    versions: BTreeSet<String>,
    left_out: Vec<String>,
    stale: Vec<String>,
    files: BTreeSet<(String, String)>,
}

const LEFT_OUT: &str = "Left out, because the suite has other options now";
const STALE: &str = "Made before something changed";

impl About {
    pub(super) fn new(
        suite: &Suite,
        entries: &[JournalEntry],
        current: &[JournalEntry],
        work: &Path,
    ) -> Self {
        let version = |entry: &JournalEntry| match &*entry.version {
            "" => "of an unknown version".to_owned(),
            version => version.to_owned(),
        };
        let is_left_out = |entry: &&JournalEntry| entry.arguments != suite.arguments(&entry.key);
        let why = |entry: &JournalEntry| {
            Some(format!("{}: {}", name(entry), changed(suite, entry, work, None)?))
        };
        let files = current.iter().flat_map(|entry| &entry.files);
        Self {
            versions: current.iter().map(version).collect(),
            left_out: entries.iter().filter(is_left_out).map(name).collect(),
            stale: current.iter().filter_map(why).collect(),
            files: files
                .map(|file| (file.path.display().to_string(), file.sha256.clone()))
                .collect(),
        }
    }

    fn program(&self) -> String {
        let versions: Vec<&str> = self.versions.iter().map(String::as_str).collect();
        format!("Runs of policert {}.", versions.join(", "))
    }

    /// The section of a Markdown document.
    pub(super) fn markdown(&self) -> String {
        let mut text = format!("\n## What this is about\n\n{}\n", markdown(&self.program()));
        for (head, names) in [
            (LEFT_OUT.to_owned(), &self.left_out),
            (format!("**{STALE}** (`bench run --resume` makes them again)"), &self.stale),
        ] {
            if names.is_empty() {
                continue;
            }
            let _ = writeln!(text, "\n{head}:\n");
            for name in listed(names) {
                let _ = writeln!(text, "- {}", markdown(&name));
            }
        }
        if !self.files.is_empty() {
            text += "\n| file | SHA-256 |\n|---|---|\n";
        }
        for (path, sha256) in &self.files {
            let _ = writeln!(text, "| {} | {} |", markdown(path), markdown(sha256));
        }
        text
    }

    /// The section of a page.
    pub(super) fn add_to(&self, html: &mut Html) {
        html.leaf("p", &self.program());
        for (head, names) in [(LEFT_OUT, &self.left_out), (STALE, &self.stale)] {
            if names.is_empty() {
                continue;
            }
            html.element("p", &[("class", "note")], |p| p.text(&format!("{head}:")));
            html.element("ul", &[], |ul| {
                listed(names).iter().for_each(|name| ul.leaf("li", name));
            });
        }
        let row = |(path, sha256): &(String, String)| {
            vec![Cell::Text(path.clone()), Cell::Text(sha256.clone())]
        };
        let table = Table {
            id: "files".to_owned(),
            caption: "Files that the runs read".to_owned(),
            columns: vec!["file".to_owned(), "SHA-256".to_owned()],
            rows: self.files.iter().map(row).collect(),
            filters: true,
        };
        table.add_to(html);
    }
}

/// A run in words.
pub(super) fn name(entry: &JournalEntry) -> String {
    let key = &entry.key;
    let words = [key.instance.clone(), key.configuration.clone(), key.point()];
    words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(", ")
}

fn listed(names: &[String]) -> Vec<String> {
    let mut listed: Vec<String> = names.iter().take(LISTED).cloned().collect();
    if names.len() > LISTED {
        listed.push(format!("and {} more", names.len() - LISTED));
    }
    listed
}
