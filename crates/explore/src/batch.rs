//! A batch of states on its way through guards and policy.

use policert_engine_api::EngineError;

use crate::enabled_edges::{EdgeId, Enabled};
use crate::lazy_operators::LazyOperators;
use crate::packing::StatePacking;
use crate::state_table::{StateId, StateTable};

/// States with their values and enabled edges.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    variables: usize,
    ids: Vec<StateId>,
    values: Vec<i64>,
    edges: Vec<EdgeId>,
    /// By state: the end of its edges.
    ends: Vec<usize>,
    enabled: Enabled,
}

impl Batch {
    pub(crate) fn new(packing: &StatePacking) -> Self {
        Self { variables: packing.variables(), ..Self::default() }
    }

    pub(crate) fn clear(&mut self) {
        self.ids.clear();
        self.values.clear();
        self.edges.clear();
        self.ends.clear();
    }

    /// Unpacks a state that is to be expanded; `keep` may reject it.
    #[inline]
    pub(crate) fn load(
        &mut self,
        id: StateId,
        table: &StateTable,
        packing: &StatePacking,
        keep: impl FnOnce(&[i64]) -> bool,
    ) {
        let start = self.values.len();
        self.values.resize(start + self.variables, 0);
        packing.unpack(table.packed(id), &mut self.values[start..]);
        if keep(&self.values[start..]) {
            self.ids.push(id);
        } else {
            self.values.truncate(start);
        }
    }

    /// Finds the enabled edges of all states. After an error the batch ends before the state
    /// that has it.
    ///
    /// # Errors
    /// A guard without truth value, where that is an error.
    pub(crate) fn find_edges(
        &mut self,
        operators: &mut LazyOperators<'_>,
    ) -> Result<(), EngineError> {
        for row in 0..self.ids.len() {
            let state = &self.values[row * self.variables..][..self.variables];
            if let Err(error) = operators.enabled_edges(state, &mut self.enabled) {
                self.ids.truncate(row);
                return Err(error);
            }
            self.edges.extend_from_slice(&self.enabled.edges);
            self.ends.push(self.edges.len());
        }
        Ok(())
    }

    /// Number of states.
    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }

    pub(crate) fn id(&self, row: usize) -> StateId {
        self.ids[row]
    }

    /// The values of a state.
    #[inline]
    pub(crate) fn state(&self, row: usize) -> &[i64] {
        &self.values[row * self.variables..][..self.variables]
    }

    /// The enabled edges of a state.
    #[inline]
    pub(crate) fn edges(&self, row: usize) -> &[EdgeId] {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.edges[start..self.ends[row]]
    }
}
