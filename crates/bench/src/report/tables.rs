//! Tables: all runs as CSV, those that a suite asks for, published numbers.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use policert_files::{csv_field, markdown};
use policert_outcome::decimal;
use policert_page::{Cell, Table};

use crate::journal::{JournalEntry, RunKey, RunResult};
use crate::suite::{Published, Suite, TableRows, TableSpec, plain};

/// Columns of the CSV file and of the table of all runs: title, and the measure.
pub(super) const NUMBERS: [(&str, &str); 7] = [
    ("predicates", "statistics.predicates"),
    ("start", "statistics.start_states"),
    ("proved safe", "statistics.start_states_proved_safe"),
    ("expanded", "statistics.expanded_states"),
    ("reachable", "statistics.reachable_states"),
    ("transitions", "statistics.transitions"),
    ("unsafe", "statistics.unsafe_states"),
];

/// All runs.
pub(super) fn csv(entries: &[JournalEntry]) -> String {
    let axes: BTreeSet<&String> = entries.iter().flat_map(|entry| entry.key.at.keys()).collect();
    let mut text = String::from("instance,configuration");
    for axis in &axes {
        text += ",";
        text += &csv_field(axis);
    }
    text += ",verdict,exit_code,time_s,cpu_s,memory_mb";
    for (_, measure) in NUMBERS {
        text += ",";
        text += measure.rsplit('.').next().unwrap_or(measure);
    }
    text += ",probability_low,probability_high,value,certified,certify_s,evidence_bytes,reason\n";
    for JournalEntry { key, result, .. } in entries {
        let [low, high] = result.probability.clone().unwrap_or_default();
        let mut fields = vec![key.instance.clone(), key.configuration.clone()];
        fields.extend(axes.iter().map(|axis| key.at.get(*axis).cloned().unwrap_or_default()));
        fields.push(result.verdict.clone());
        fields.push(result.exit_code.map_or(String::new(), |code| code.to_string()));
        fields.push(result.time_s.to_string());
        let number = |number: Option<f64>| number.map_or(String::new(), |n| n.to_string());
        fields.extend([result.cpu_s, result.peak_memory_mb].map(number));
        fields.extend(NUMBERS.map(|(_, measure)| number(result.measure(measure))));
        fields.extend([low, high, result.value.clone().unwrap_or_default()]);
        fields.push(certified(result).to_owned());
        fields.extend(
            ["certified.time_s", "certified.bytes"].map(|name| number(result.measure(name))),
        );
        fields.push(result.reason.clone().unwrap_or_default());
        let fields: Vec<String> = fields.iter().map(|field| csv_field(field)).collect();
        let _ = writeln!(text, "{}", fields.join(","));
    }
    text
}

/// A table in a Markdown document.
pub(super) fn markdown_table(table: &Table) -> String {
    let mut text = String::from("|");
    for column in &table.columns {
        let _ = write!(text, " {} |", markdown(column));
    }
    let _ = writeln!(text, "\n|{}", "---|".repeat(table.columns.len()));
    for row in &table.rows {
        text.push('|');
        for cell in row {
            let _ = match cell {
                Cell::Empty => write!(text, "  |"),
                Cell::Best(cell) => write!(text, " **{}** |", markdown(cell)),
                Cell::Text(cell) | Cell::Number(cell, _) | Cell::Link(cell, _) => {
                    write!(text, " {} |", markdown(cell))
                }
            };
        }
        text.push('\n');
    }
    text
}

/// The verdict, with the probability or the reason where there is one.
pub(super) fn verdict(result: &RunResult) -> String {
    let word = &*result.verdict;
    match (word, probability(result), &result.reason) {
        (_, Some(probability), None) => format!("{word}: {probability}"),
        (_, Some(probability), Some(reason)) => format!("{word}: {probability}; {reason}"),
        ("safe" | "unsafe", None, _) | (_, None, None) => word.to_owned(),
        (_, None, Some(reason)) => format!("{word}: {reason}"),
    }
}

/// Whether the evidence of a verdict was confirmed; empty where that was not asked for.
pub(super) fn certified(result: &RunResult) -> &'static str {
    match result.certified() {
        Some(true) => "yes",
        Some(false) => "no",
        None => "",
    }
}

fn probability(result: &RunResult) -> Option<String> {
    match (&result.value, &result.probability) {
        (Some(value), _) => Some(value.clone()),
        (None, Some([low, high])) if low == high => Some(low.clone()),
        (None, Some([low, high])) => Some(format!("from {low} to {high}")),
        (None, None) => None,
    }
}

/// The bounds in a table: four digits after the point, rounded outwards.
fn bounds(result: &RunResult) -> Option<String> {
    let Some([low, high]) = &result.probability else { return result.value.clone() };
    let (low, high) = (decimal::parse(low)?, decimal::parse(high)?);
    let [low, high] = [decimal::rounded_down(&low, DIGITS), decimal::rounded_up(&high, DIGITS)];
    Some(format!("[{}, {}]", decimal::decimal(&low, DIGITS), decimal::decimal(&high, DIGITS)))
}

/// Digits of bounds after the point.
const DIGITS: usize = 4;

/// What a column says about a run: `verdict`, `certified`, `probability`, or a measure.
fn cell(result: &RunResult, measure: &str) -> Cell {
    match measure {
        "verdict" => Cell::Text(result.verdict.clone()),
        "certified" => Cell::Text(certified(result).to_owned()),
        "probability" => bounds(result).map_or(Cell::Empty, Cell::Text),
        _ => number(result.measure(measure), measure),
    }
}

/// Counts are whole numbers; times have two digits after the point.
fn number(value: Option<f64>, measure: &str) -> Cell {
    let digits = if measure.ends_with("_s") || measure.contains("times_s") { 2 } else { 3 };
    match value {
        Some(value) if value.fract() == 0.0 => Cell::number(Some(value), 0),
        value => Cell::number(value, digits),
    }
}

/// A table that the suite asks for.
pub(super) fn table(suite: &Suite, spec: &TableSpec, entries: &[JournalEntry]) -> Table {
    let named = &spec.configurations;
    let takes_part =
        |entry: &&JournalEntry| named.is_empty() || named.contains(&entry.key.configuration);
    let entries: Vec<&JournalEntry> = entries.iter().filter(takes_part).collect();
    let (columns, rows) = match spec.rows {
        TableRows::Runs => runs(spec, &entries),
        TableRows::Instances => instances(suite, spec, &entries),
        TableRows::Domains => domains(suite, spec, &entries),
    };
    let source = spec.source.as_ref().map_or(String::new(), |source| format!(" ({source})"));
    let caption = format!("{}{source}", spec.title);
    Table { id: format!("table-{}", plain(&spec.name)), caption, columns, rows, filters: false }
}

type Grid = (Vec<String>, Vec<Vec<Cell>>);

fn runs(spec: &TableSpec, entries: &[&JournalEntry]) -> Grid {
    let mut columns = vec!["instance".to_owned(), "configuration".to_owned(), "at".to_owned()];
    columns.extend(spec.columns.iter().map(|column| column.title.clone()));
    let row = |entry: &&JournalEntry| {
        let key = &entry.key;
        let names = [key.instance.clone(), key.configuration.clone(), key.point()];
        let measured = spec.columns.iter().map(|column| cell(&entry.result, &column.measure));
        names.into_iter().map(Cell::Text).chain(measured).collect()
    };
    (columns, entries.iter().map(row).collect())
}

fn instances(suite: &Suite, spec: &TableSpec, entries: &[&JournalEntry]) -> Grid {
    // The axes of an instance make rows, those of a configuration columns.
    let split = |key: &RunKey| {
        let axes = suite.instance(key).map(|instance| &instance.axes);
        let of_instance = |name: &String| axes.is_some_and(|axes| axes.contains_key(name));
        let (row, column): (BTreeMap<_, _>, BTreeMap<_, _>) =
            key.at.clone().into_iter().partition(|(name, _)| of_instance(name));
        let row = RunKey { at: row, configuration: String::new(), ..key.clone() };
        (row, RunKey { at: column, instance: String::new(), ..key.clone() })
    };
    let mut rows: Vec<RunKey> = Vec::new();
    let mut heads: Vec<RunKey> = Vec::new();
    let mut cells: BTreeMap<(RunKey, RunKey), &RunResult> = BTreeMap::new();
    for entry in entries {
        let (row, head) = split(&entry.key);
        if !rows.contains(&row) {
            rows.push(row.clone());
        }
        if !heads.contains(&head) {
            heads.push(head.clone());
        }
        cells.insert((row, head), &entry.result);
    }
    let name = |first: &str, key: &RunKey| match key.point() {
        point if point.is_empty() => first.to_owned(),
        point => format!("{first}, {point}"),
    };
    let titles = heads.iter().flat_map(|head| {
        let first = name(&head.configuration, head);
        spec.columns.iter().map(move |column| format!("{first}: {}", column.title))
    });
    let columns = ["instance".to_owned()].into_iter().chain(titles).collect();
    let rows = rows.iter().map(|row| {
        let results = heads.iter().map(|head| cells.get(&(row.clone(), head.clone())));
        let measured = results.flat_map(|result| {
            spec.columns.iter().map(move |column| {
                result.map_or(Cell::Empty, |result| cell(result, &column.measure))
            })
        });
        [Cell::Text(name(&row.instance, row))].into_iter().chain(measured).collect()
    });
    (columns, rows.collect())
}

fn domains(suite: &Suite, spec: &TableSpec, entries: &[&JournalEntry]) -> Grid {
    let mut groups: BTreeMap<(String, &str), Vec<&RunResult>> = BTreeMap::new();
    for entry in entries {
        let domain = suite.instance(&entry.key).and_then(|instance| instance.domain.clone());
        let group = (domain.unwrap_or_default(), entry.key.configuration.as_str());
        groups.entry(group).or_default().push(&entry.result);
    }
    let mut columns: Vec<String> =
        ["domain", "configuration", "runs", "answered"].map(str::to_owned).to_vec();
    columns.extend(spec.columns.iter().map(|column| format!("{}, mean", column.title)));
    let row = |((domain, configuration), results): ((String, &str), Vec<&RunResult>)| {
        let answered: Vec<_> = results.iter().filter(|result| result.has_answer()).collect();
        let whole = |count: usize| Cell::Number(count.to_string(), size(count));
        let mut row = vec![Cell::Text(domain), Cell::Text(configuration.to_owned())];
        row.extend([whole(results.len()), whole(answered.len())]);
        row.extend(spec.columns.iter().map(|column| {
            let numbers: Vec<f64> =
                answered.iter().filter_map(|result| result.measure(&column.measure)).collect();
            let mean = numbers.iter().sum::<f64>() / size(numbers.len());
            Cell::number((!numbers.is_empty()).then_some(mean), 2)
        }));
        row
    };
    (columns, groups.into_iter().map(row).collect())
}

fn size(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

/// Published numbers as a table.
pub(super) fn published(published: &Published, number: usize) -> Table {
    let row = |row: &Vec<String>| row.iter().cloned().map(Cell::Text).collect();
    Table {
        id: format!("published-{number}"),
        caption: format!("Published: {}", published.source),
        columns: published.columns.clone(),
        rows: published.rows.iter().map(row).collect(),
        filters: false,
    }
}

/// The table of all runs of some instances; `link` gives the part of the page about a run.
pub(super) fn all_runs(
    id: &str,
    caption: String,
    entries: &[(usize, &JournalEntry)],
    link: Option<fn(usize) -> String>,
) -> Table {
    let mut columns: Vec<String> =
        ["instance", "configuration", "at", "verdict", "time (s)", "processor (s)", "memory (MB)"]
            .map(str::to_owned)
            .to_vec();
    columns.extend(NUMBERS.map(|(title, _)| title.to_owned()));
    let has_certified = entries.iter().any(|(_, entry)| entry.result.certified().is_some());
    if has_certified {
        columns.push("certified".to_owned());
    }
    let row = |(number, entry): &(usize, &JournalEntry)| {
        let JournalEntry { key, result, .. } = entry;
        let name = match link {
            Some(link) => Cell::Link(key.instance.clone(), link(*number)),
            None => Cell::Text(key.instance.clone()),
        };
        let mut row = vec![name, Cell::Text(key.configuration.clone()), Cell::Text(key.point())];
        row.push(Cell::Text(verdict(result)));
        row.push(Cell::number(Some(result.time_s), 2));
        row.push(Cell::number(result.cpu_s, 2));
        row.push(Cell::number(result.peak_memory_mb, 0));
        row.extend(NUMBERS.map(|(_, measure)| Cell::number(result.measure(measure), 0)));
        if has_certified {
            row.push(Cell::Text(certified(result).to_owned()));
        }
        row
    };
    let rows = entries.iter().map(row).collect();
    Table { id: id.to_owned(), caption, columns, rows, filters: link.is_some() }
}
