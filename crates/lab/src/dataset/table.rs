//! The table that is written: inputs of a policy and the label it chooses, each inputs once.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use policert_files::csv_field;
use policert_model::Model;
use policert_policy::Policy;

/// Rows of a CSV table, in the order in which they were found.
#[derive(Debug)]
pub(super) struct Table {
    text: String,
    labels: Vec<String>,
    rows: Vec<usize>,
    known: BTreeSet<(Box<[i64]>, usize)>,
}

impl Table {
    /// The header alone: the variables, then `label_index` and `label`.
    pub(super) fn new(model: &Model, policy: &Policy) -> Self {
        let name = |v: &policert_model::VarId| model.variables[v.index()].name.clone();
        let labels: Vec<String> =
            policy.outputs().iter().map(|&l| model.label_name(Some(l)).to_owned()).collect();
        let mut text = String::new();
        for column in policy.inputs().iter().map(name) {
            text += &csv_field(&column);
            text.push(',');
        }
        text += "label_index,label\n";
        let rows = vec![0; labels.len()];
        Self { text, labels, rows, known: BTreeSet::new() }
    }

    /// Adds a row, unless the same inputs were there before; with `by_mask`, unless they were there
    /// with the same output.
    pub(super) fn add(&mut self, inputs: &[i64], output: usize, by_mask: bool) {
        let key = if by_mask { output } else { 0 };
        if !self.known.insert((inputs.into(), key)) {
            return;
        }
        self.rows[output] += 1;
        for value in inputs {
            // Writing to a string cannot fail.
            let _ = write!(self.text, "{value},");
        }
        let _ = writeln!(self.text, "{output},{}", csv_field(&self.labels[output]));
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn rows(&self) -> usize {
        self.rows.iter().sum()
    }

    pub(super) fn rows_by_label(&self) -> Vec<(String, usize)> {
        self.labels.iter().cloned().zip(self.rows.iter().copied()).collect()
    }
}
