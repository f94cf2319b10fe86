//! The states that a safe verdict rests on.

use policert_engine_api::Budget;
use policert_numeric::IntBox;

use super::BreadthFirstSearch;
use crate::covering::few_boxes_of;
use crate::frontier::Frontier;

impl BreadthFirstSearch<'_> {
    /// The states that were reached, but for those behind terminal ones, as disjoint boxes; or why not.
    pub(super) fn reached(&self, budget: &mut Budget) -> Result<Vec<IntBox>, String> {
        let Frontier { table, packing, .. } = &self.frontier;
        let count = self.before_terminal.unwrap_or(table.len());
        few_boxes_of(table.first(count), packing, budget)
    }
}
