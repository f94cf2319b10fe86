//! Storing what was found: start states and successors.

use policert_engine_api::{Budget, EngineError};
use policert_model::OpId;

use super::{BreadthFirstSearch, Stage, UndecidedState};
use crate::frontier::{Sink, holds};
use crate::state_table::{StateId, StateTable};

/// Successors that wait to be stored.
#[derive(Debug, Default)]
pub(super) struct Pending {
    /// Packed successors.
    pub(super) packed: Vec<u64>,
    /// Operators that dropped an outcome.
    pub(super) drops: Vec<OpId>,
    sources: Vec<Source>,
    hashes: Vec<u64>,
    targets: Vec<StateId>,
}

/// A state whose successors wait.
#[derive(Clone, Copy, Debug)]
struct Source {
    id: StateId,
    /// The end of its successors, in words.
    end: usize,
    /// The end of its operators that dropped an outcome.
    drops_end: usize,
    dropped: u64,
    undecided: bool,
}

impl Pending {
    /// Ends the successors of a state.
    pub(super) fn finish(&mut self, id: StateId, dropped: u64, undecided: bool) {
        let (end, drops_end) = (self.packed.len(), self.drops.len());
        self.sources.push(Source { id, end, drops_end, dropped, undecided });
    }

    /// Forgets the successors of a state that is not finished.
    pub(super) fn abandon(&mut self, start: usize) {
        self.packed.truncate(start);
        self.drops.truncate(self.sources.last().map_or(0, |s| s.drops_end));
    }

    pub(super) fn clear(&mut self) {
        self.packed.clear();
        self.drops.clear();
        self.sources.clear();
    }
}

impl BreadthFirstSearch<'_> {
    /// Stores a start state.
    pub(super) fn add_start(&mut self, state: &[i64]) -> Result<(), EngineError> {
        if let Some(id) = self.frontier.add_start(state)? {
            self.parents.push(None);
            self.check_unsafe(id);
        }
        Ok(())
    }

    /// Stores successors and counts; ends early at an unsafe state that answers the question.
    pub(super) fn store_all(
        &mut self,
        pending: &mut Pending,
        budget: &Budget,
    ) -> Result<(), EngineError> {
        let words = self.frontier.packing.words();
        self.frontier.table.check_growth(pending.packed.len() / words, budget)?;
        pending.hashes.clear();
        pending.hashes.extend(pending.packed.chunks_exact(words).map(StateTable::hash));
        let (mut next, mut drop) = (0, 0);
        for i in 0..pending.sources.len() {
            let source = pending.sources[i];
            pending.targets.clear();
            while next * words < source.end && !self.is_answered() {
                self.frontier.table.look_ahead(&pending.hashes, next);
                let packed = &pending.packed[next * words..][..words];
                let (id, new) = self.frontier.table.insert(packed, pending.hashes[next])?;
                pending.targets.push(id);
                if new {
                    self.parents.push(Some(source.id));
                    self.check_unsafe(id);
                }
                next += 1;
            }
            self.frontier.stats.successors += pending.targets.len() as u64;
            pending.targets.sort_unstable();
            pending.targets.dedup();
            let drops = &pending.drops[drop..source.drops_end];
            drop = source.drops_end;
            self.count(source, pending.targets.len() as u64, drops);
            if self.is_answered() {
                break;
            }
            budget.check_states(self.frontier.table.len())?;
        }
        Ok(())
    }

    /// Counts an expanded state.
    fn count(&mut self, source: Source, transitions: u64, drops: &[OpId]) {
        let Source { id, dropped, undecided, .. } = source;
        self.frontier.note_expanded(id, dropped, drops);
        self.frontier.counts.transitions += transitions;
        if undecided {
            self.undecided.push(UndecidedState { id, transitions, dropped });
        }
    }

    /// Notes an unsafe state.
    fn check_unsafe(&mut self, id: StateId) {
        self.frontier.look_at(id);
        if holds(&self.frontier.unsafe_condition, &self.frontier.point) {
            self.note_unsafe(id);
        }
    }

    /// Counts an unsafe state; it is the counterexample if none is nearer.
    pub(super) fn note_unsafe(&mut self, id: StateId) {
        self.frontier.counts.unsafe_states += 1;
        let is_nearer =
            |known: StateId| known.0 > id.0 && self.path(id).len() < self.path(known).len();
        match self.stage {
            Stage::Decided => {
                if self.counterexample.is_none_or(is_nearer) {
                    self.counterexample = Some(id);
                }
            }
            Stage::Undecided => self.undecided_unsafe = self.undecided_unsafe.or(Some(id)),
            Stage::BehindTerminal => {}
        }
    }
}
