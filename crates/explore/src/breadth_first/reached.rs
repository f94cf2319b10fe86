//! The states that a safe verdict rests on.

use policert_engine_api::{Budget, Invariant};

use super::BreadthFirstSearch;
use crate::covering::covering_of_states;
use crate::frontier::Frontier;

impl BreadthFirstSearch<'_> {
    /// The states that were reached, but for those behind terminal ones; or why they cannot be written down.
    pub(super) fn reached(&self, budget: &mut Budget) -> Result<Invariant, String> {
        let Frontier { table, packing, question, .. } = &self.frontier;
        let count = self.before_terminal.unwrap_or(table.len());
        let space = question.model.domains();
        covering_of_states(table.first(count), packing, &space, budget)
    }
}
