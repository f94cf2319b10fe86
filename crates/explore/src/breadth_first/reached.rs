//! The states that a safe verdict rests on.

use policert_engine_api::Budget;
use policert_numeric::IntBox;

use super::BreadthFirstSearch;
use crate::covering::merged;
use crate::state_table::StateId;

/// The greatest number of states that are written down as boxes.
const MOST_STATES: usize = 500_000;
/// The greatest number of boxes.
const MOST_BOXES: usize = 100_000;

impl BreadthFirstSearch<'_> {
    /// The states that were reached, but for those behind terminal ones, as disjoint boxes; or why not.
    pub(super) fn reached(&self, budget: &mut Budget) -> Result<Vec<IntBox>, String> {
        let count = self.before_terminal.unwrap_or(self.frontier.table.len());
        if count > MOST_STATES {
            return Err(format!(
                "engine explicit reached {count} states, of which it keeps {MOST_STATES} at most as \
                 evidence"
            ));
        }
        let ids = (0u32..).take(count).map(StateId);
        let points = ids.map(|id| IntBox::point(&self.frontier.state(id)));
        let boxes = merged(points.collect(), budget).map_err(|reason| {
            format!("the states that were reached could not be written as boxes: {reason}")
        })?;
        if boxes.len() > MOST_BOXES {
            return Err(format!(
                "the states that were reached make {} boxes; evidence has {MOST_BOXES} at most",
                boxes.len()
            ));
        }
        Ok(boxes)
    }
}
