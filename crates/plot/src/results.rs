//! Results of `policert reach` as files: what pictures need of them.

use std::path::Path;

use policert_files::number_of_text;
use policert_outcome::{Failure, Finding};
use serde::Deserialize;

use super::axis::number;

/// A result, as `policert reach --json` writes it.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub struct ReachResult {
    /// The file's name without folder and ending.
    #[serde(skip)]
    pub name: String,
    /// Name of the task or of its instance.
    pub task: Option<String>,
    /// The verdict in a word.
    pub verdict: String,
    pub exit_code: u8,
    /// The way in which boxes were merged.
    pub aggregation: Option<String>,
    /// Widths of the cells.
    pub granularity: Option<Vec<String>>,
    /// The counts of what was done.
    pub statistics: Option<ReachNumbers>,
}

/// Numbers of a result.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub struct ReachNumbers {
    /// Boxes at each step.
    pub boxes_per_step: Vec<u64>,
    /// Parts of the initial box.
    pub parts: u64,
    /// Those that are verified.
    pub parts_verified: u64,
    /// Time of the analysis in seconds.
    pub analysis_s: f64,
}

impl ReachResult {
    /// Reads a result.
    ///
    /// # Errors
    /// If the file cannot be read or is no result with statistics.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let invalid = |what: String| {
            let message = format!("{}: {what}", path.display());
            let file = Some(path.to_owned());
            Failure::Findings(vec![Finding { file, ..Finding::invalid(message) }])
        };
        let text = policert_files::read(path).map_err(|error| invalid(error.to_string()))?;
        let mut result: Self = serde_json::from_slice(&text)
            .map_err(|error| invalid(format!("no result of `policert reach --json`: {error}")))?;
        if result.statistics.is_none() {
            return Err(invalid(format!("a result without statistics ({})", result.verdict)));
        }
        let stem = path.file_stem().unwrap_or(path.as_os_str());
        result.name = stem.to_string_lossy().into_owned();
        Ok(result)
    }

    /// Returns whether a limit or the user stopped the run.
    pub(super) fn is_stopped(&self) -> bool {
        (30..40).contains(&self.exit_code)
    }

    /// The widths of the cells.
    pub(super) fn widths(&self) -> Option<Vec<f64>> {
        self.granularity.as_ref()?.iter().map(|width| number_of_text(width)).collect()
    }

    /// The task's name, or the file's.
    pub(super) fn title(&self) -> &str {
        self.task.as_deref().unwrap_or(&self.name)
    }
}

/// Returns what tells results apart: the first of task, aggregation, granularity by which they all
/// differ, else their names.
pub(super) fn labels(results: &[ReachResult]) -> Vec<String> {
    let aggregation = |result: &ReachResult| {
        Some(match result.aggregation.as_deref()? {
            "none" => "without aggregation".to_owned(),
            "as-written" => "aggregation as written".to_owned(),
            _ => "with aggregation".to_owned(),
        })
    };
    let granularity = |result: &ReachResult| {
        let widths: Vec<String> = result.widths()?.into_iter().map(number).collect();
        Some(format!("granularity ({})", widths.join(", ")))
    };
    let task = |result: &ReachResult| result.task.clone();
    let kinds: [fn(&ReachResult) -> Option<String>; 3] = [task, aggregation, granularity];
    for kind in kinds {
        let labels: Option<Vec<String>> = results.iter().map(kind).collect();
        let Some(labels) = labels else { continue };
        let mut different = labels.clone();
        different.sort();
        different.dedup();
        if different.len() == labels.len() {
            return labels;
        }
    }
    results.iter().map(|result| result.name.clone()).collect()
}
