//! The states that a safe verdict rests on.

use policert_engine_api::Budget;
use policert_numeric::IntBox;

use super::BreadthFirstSearch;
use crate::covering::{check_states, few_boxes};
use crate::state_table::StateId;

impl BreadthFirstSearch<'_> {
    /// The states that were reached, but for those behind terminal ones, as disjoint boxes; or why not.
    pub(super) fn reached(&self, budget: &mut Budget) -> Result<Vec<IntBox>, String> {
        let count = self.before_terminal.unwrap_or(self.frontier.table.len());
        check_states("engine explicit", count)?;
        let ids = (0u32..).take(count).map(StateId);
        let points = ids.map(|id| IntBox::point(&self.frontier.state(id)));
        few_boxes(points.collect(), budget)
    }
}
