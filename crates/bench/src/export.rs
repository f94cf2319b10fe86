//! The finished runs of a journal in the formats of competitions.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use policert_files::{csv_field, number_of_text};
use policert_outcome::{Failure, make_folder, write_text};
use policert_page::shell_command;
use serde_json::{Value, json};

use crate::journal::{JournalEntry, RunResult};
use crate::suite::{Suite, plain};

/// A format in which other programs read results.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExportFormat {
    /// `results.csv` as the competition ARCH-COMP asks for: benchmark, instance, result, time.
    ArchComp,
    /// A JSON file for each answer about a probability, as the Quantitative Verification Benchmark Set and
    /// the competition QComp have them.
    QComp,
}

/// Writes the runs of a journal into a folder; the paths of the files.
///
/// # Errors
/// If a run is none of the suite, the format has nothing to say about any of them, or a file cannot be written.
///
/// Runs with other options than the suite has are left out.
pub fn export(
    suite: &Suite,
    entries: &[JournalEntry],
    format: ExportFormat,
    folder: &Path,
) -> Result<Vec<PathBuf>, Failure> {
    suite.check_entries(entries)?;
    let is_current = |entry: &&JournalEntry| {
        let is_other = suite.configuration(&entry.key).is_some_and(|c| c.program.is_some());
        !is_other && entry.arguments == suite.arguments(&entry.key)
    };
    let entries: Vec<&JournalEntry> = entries.iter().filter(is_current).collect();
    let (files, what) = match format {
        ExportFormat::ArchComp => (arch_comp(&entries), "verdicts"),
        ExportFormat::QComp => (qcomp(&entries)?, "probabilities"),
    };
    if files.is_empty() {
        let message = format!("the journal has no runs with {what} that belong to the suite");
        return Err(Failure::Usage(message));
    }
    make_folder("--out", folder)?;
    let mut written = Vec::new();
    for (name, text) in files {
        let path = folder.join(name);
        write_text(&path, &text)?;
        written.push(path);
    }
    Ok(written)
}

/// The name of an instance, with the configuration where there are several, and the values of axes.
fn instance(entry: &JournalEntry, names_configuration: bool) -> String {
    let configuration = names_configuration.then(|| entry.key.configuration.clone());
    let point = entry.key.at.values().cloned();
    configuration.into_iter().chain(point).collect::<Vec<_>>().join("-")
}

fn has_several_configurations(entries: &[&JournalEntry]) -> bool {
    let mut names = entries.iter().map(|entry| &entry.key.configuration);
    names.next().is_some_and(|first| names.any(|other| other != first))
}

/// Rows as tools of ARCH-COMP write them. The time is empty where there is no answer.
fn arch_comp(entries: &[&JournalEntry]) -> BTreeMap<String, String> {
    let several = has_several_configurations(entries);
    let mut text = String::from("benchmark,instance,result,time\n");
    let mut rows = 0;
    for entry in entries {
        let result = match &*entry.result.verdict {
            "safe" => "verified",
            "unsafe" => "falsified",
            "unknown" => "unknown",
            _ => continue,
        };
        let time =
            if result == "unknown" { String::new() } else { entry.result.time_s.to_string() };
        let fields =
            [entry.key.instance.clone(), instance(entry, several), result.to_owned(), time];
        let fields: Vec<String> = fields.iter().map(|field| csv_field(field)).collect();
        let _ = writeln!(text, "{}", fields.join(","));
        rows += 1;
    }
    if rows == 0 { BTreeMap::new() } else { BTreeMap::from([("results.csv".to_owned(), text)]) }
}

/// A file for each run that bounds a probability.
fn qcomp(entries: &[&JournalEntry]) -> Result<BTreeMap<String, String>, Failure> {
    let mut files = BTreeMap::new();
    for entry in entries {
        let Some(property) = property(&entry.result) else { continue };
        let words = [entry.key.instance.clone(), instance(entry, true)];
        let name = format!("policert.{}.json", words.map(|word| plain(&word)).join("."));
        let text = serde_json::to_string_pretty(&document(entry, &property))
            .map_err(|error| Failure::Internal(format!("a result as JSON: {error}")))?;
        if files.insert(name.clone(), format!("{text}\n")).is_some() {
            let message = format!("two runs would be {name}: give their instances different names");
            return Err(Failure::Usage(message));
        }
    }
    Ok(files)
}

/// What is said about the property, if it is one about a probability.
fn property(result: &RunResult) -> Option<Value> {
    let [low, high] = result.probability.as_ref()?;
    let (low, high) = (number_of_text(low)?, number_of_text(high)?);
    let exact = result.value.as_deref().and_then(number_of_text);
    let mut values = vec![
        json!({"name": "lower bound", "value": low}),
        json!({"name": "upper bound", "value": high}),
    ];
    if let Some(text) = result.value.as_ref().filter(|_| exact.is_some()) {
        values.push(json!({"name": "exact value", "value": text}));
    }
    Some(json!({
        "property": result.report["property"],
        "value": exact.unwrap_or(f64::midpoint(low, high)),
        "values": values,
    }))
}

fn document(entry: &JournalEntry, property: &Value) -> Value {
    let options: Vec<&str> = entry.arguments.iter().map(String::as_str).collect();
    let statistics = &entry.result.report["statistics"];
    let counts = [("states", "reachable_states"), ("transitions", "transitions")];
    let counts: Vec<Value> = counts
        .into_iter()
        .filter(|(_, member)| statistics[member].is_u64())
        .map(|(name, member)| json!({"name": name, "value": statistics[member]}))
        .collect();
    let mut data = vec![property.clone()];
    if !counts.is_empty() {
        data.insert(0, json!({"group": "State space exploration", "values": counts}));
    }
    let bytes = entry.result.peak_memory_mb.map(|megabytes| (megabytes * 1e6).round());
    json!({
        "file": options.get(1),
        "version": 1,
        "open-parameter-values": parameters(&options),
        "tool": {"name": "Policert", "version": entry.version},
        "command": shell_command(["policert"].into_iter().chain(options)),
        "time": entry.result.time_s,
        "memory": bytes,
        "data": data,
    })
}

/// The values of constants that a run was given.
fn parameters(options: &[&str]) -> Vec<Value> {
    let given = options.windows(2).filter(|pair| pair[0] == "--const").map(|pair| pair[1]);
    let pairs = given.flat_map(|text| text.split(',')).filter_map(|pair| pair.split_once('='));
    pairs
        .map(|(name, value)| {
            let value = serde_json::from_str(value).unwrap_or_else(|_| json!(value));
            json!({"name": name, "value": value})
        })
        .collect()
}
