//! Stage *bound* for tree ensembles: which outputs lose everywhere in a leaf of a decision map.

use std::time::Instant;

use policert_engine_api::StopReason;
use policert_numeric::{IntBox, IntInterval};

use crate::decision_map::{Lead, Progress, Sharing};
use crate::oracle::{Function, Oracle};
use crate::search::Search;
use crate::split::Cut;
use crate::statistics::Stage;

impl Oracle<'_> {
    /// The ranges of the inputs in a box along the axes.
    pub(crate) fn input_ranges(&self, sides: &IntBox) -> Vec<IntInterval> {
        self.axes.reads.iter().map(|&axis| sides[axis]).collect()
    }
}

impl Search<'_, '_, '_> {
    /// Bounds the score differences over a leaf and notes which outputs lose.
    pub(crate) fn bound_trees(&mut self, node: usize) -> Result<(), StopReason> {
        let started = Instant::now();
        self.budget.poll()?;
        let inputs = self.oracle.input_ranges(&self.map.nodes[node].sides);
        let semantics = self.oracle.policy().semantics();
        let outputs = self.oracle.applicable.len();
        self.oracle.statistics.bounds += 1;
        let Function::Trees(trees) = &mut self.oracle.function else { return Ok(()) };
        trees.enter(&inputs);
        let leaf = &mut self.map.nodes[node];
        let axes = self.oracle.axes.variables.len();
        for lesser in 0..outputs {
            let is_asked = lesser == self.output;
            if leaf.refuted.contains(lesser)
                || (self.map.sharing == Sharing::OneOutput && !is_asked)
            {
                continue;
            }
            let mut closest: Option<i128> = None;
            for greater in (0..outputs).filter(|&greater| greater != lesser) {
                let lower = trees.lower(greater, lesser);
                if semantics.requires(lesser, greater).is_excluded_by(lower) {
                    leaf.note_loss(lesser, greater);
                }
                if is_asked && closest.is_none_or(|most| lower > most) {
                    closest = Some(lower);
                }
            }
            if let Some(closest) = closest {
                let lower = trees.score(closest);
                leaf.leads.push(Lead { output: lesser, lower, axes: vec![(0.0, 0.0); axes] });
            }
        }
        leaf.leads.retain(|lead| !leaf.refuted.contains(lead.output));
        leaf.progress = Progress::Bounded;
        self.finish(Stage::Bound, started);
        Ok(())
    }

    /// Where to cut a leaf: at the threshold that helps most against the rival that is closest to
    /// beating the output. `None` for networks, and where all scores are constant in the leaf.
    pub(crate) fn tree_cut(&mut self, node: usize) -> Option<Cut> {
        let inputs = self.oracle.input_ranges(&self.map.nodes[node].sides);
        let outputs = self.oracle.applicable.len();
        let output = self.output;
        let Function::Trees(trees) = &mut self.oracle.function else { return None };
        trees.enter(&inputs);
        let leaf = &self.map.nodes[node];
        // Rivals that surely compete first.
        let rank = |rival: usize| match leaf.truths.get(rival) {
            None => 2,
            Some(policert_model::Truth::True) => 2,
            Some(policert_model::Truth::Maybe) => 1,
            Some(policert_model::Truth::False) => 0,
        };
        let rivals = (0..outputs).filter(|&rival| rival != output);
        let mut rivals: Vec<(i32, i128, usize)> =
            rivals.map(|rival| (rank(rival), trees.lower(rival, output), rival)).collect();
        rivals.sort_unstable_by(|a, b| b.cmp(a));
        let cut = rivals.iter().find_map(|&(_, _, rival)| trees.cut(rival, output));
        cut.map(|(input, at)| Cut { axis: self.oracle.axes.reads[input], at })
    }
}
