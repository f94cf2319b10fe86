//! What a suite says about its report: figures, tables, and published numbers beside ours.

use serde::Deserialize;

/// A figure. Its points are finished runs.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FigureSpec {
    /// Its name, also of its file.
    pub name: String,
    /// The line above it.
    pub title: String,
    /// The figure of a paper that it corresponds to.
    pub source: Option<String>,
    /// What is drawn.
    pub kind: FigureKind,
    /// Of lines and points: an axis, a value of instances or a measure. Of pairs: a configuration.
    pub x: Option<String>,
    /// The measure of each run (`docs/bench.md`). Of pairs: a configuration.
    #[serde(default = "time")]
    pub y: String,
    /// The configurations that take part, all if none is named.
    #[serde(default)]
    pub configurations: Vec<String>,
    /// The instances that take part, all if none is named.
    #[serde(default)]
    pub instances: Vec<String>,
    /// Axes, or `instance`: there is a picture for each of their values.
    #[serde(default)]
    pub each: Vec<String>,
}

fn time() -> String {
    "time_s".to_owned()
}

/// Kinds of figures.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FigureKind {
    /// A line for each configuration (and instance) over `x`.
    Lines,
    /// A point for each run, `y` over `x`.
    Points,
    /// How many instances each configuration solves within a time.
    Cactus,
    /// A point for each instance: the times of two configurations.
    Pairs,
}

/// A table.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableSpec {
    /// Its name: published numbers stand beside the table of the name.
    pub name: String,
    /// The line above it.
    pub title: String,
    /// The table of a paper that it corresponds to.
    pub source: Option<String>,
    /// What its rows are.
    pub rows: TableRows,
    /// The measures that are its columns.
    pub columns: Vec<ColumnSpec>,
    /// The configurations that take part, all if none is named.
    #[serde(default)]
    pub configurations: Vec<String>,
}

/// Rows of tables.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TableRows {
    /// The runs.
    Runs,
    /// The instances, with the columns of each configuration beside each other.
    Instances,
    /// The domains and configurations: means over the runs that have an answer.
    Domains,
}

/// A column of a table.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColumnSpec {
    /// Its head.
    pub title: String,
    /// The measure.
    pub measure: String,
}

/// Published numbers.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// The table or figure of ours beside which they stand.
    pub beside: String,
    /// Where they are from.
    pub source: String,
    /// The heads of their columns.
    pub columns: Vec<String>,
    /// Their rows.
    pub rows: Vec<Vec<String>>,
    /// What differs from our study.
    pub note: Option<String>,
}
