//! Storing what was found: start states and successors.

use policert_model::OpId;

use super::{Budget, EngineError, Kleene, NO_PARENT, Search, Stage, StateId, UndecidedState};
use crate::state_table::StateTable;

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
    /// Number of words that wait.
    pub(super) fn words(&self) -> usize {
        self.packed.len()
    }

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

    fn clear(&mut self) {
        self.packed.clear();
        self.drops.clear();
        self.sources.clear();
    }
}

impl Search<'_> {
    /// Stores a start state.
    pub(super) fn add_start(&mut self, state: &[i64]) -> Result<(), EngineError> {
        let variables = &self.question.model.variables;
        let fits = state.len() == variables.len()
            && variables.iter().zip(state).all(|(v, &value)| v.domain.contains(value));
        if !fits {
            let state = self.question.model.display_state(state);
            let message = format!("start state outside the variables' domains: {state}");
            return Err(EngineError::Unsupported(message));
        }
        self.pending.packed.resize(self.packing.words(), 0);
        self.packing.pack(state, &mut self.pending.packed);
        let hash = StateTable::hash(&self.pending.packed);
        let (id, new) = self.table.insert(&self.pending.packed, hash)?;
        self.pending.packed.clear();
        if new {
            self.parents.push(NO_PARENT);
            self.counts.start_states += 1;
            self.check_unsafe(id);
        }
        Ok(())
    }

    /// Stores the successors that wait, and counts; ends early at an unsafe state that answers
    /// the question.
    pub(super) fn store(&mut self, budget: &Budget) -> Result<(), EngineError> {
        let mut pending = std::mem::take(&mut self.pending);
        let stored = self.store_all(&mut pending, budget);
        pending.clear();
        self.pending = pending;
        stored
    }

    fn store_all(&mut self, pending: &mut Pending, budget: &Budget) -> Result<(), EngineError> {
        let words = self.packing.words();
        self.table.check_growth(pending.packed.len() / words, budget)?;
        pending.hashes.clear();
        pending.hashes.extend(pending.packed.chunks_exact(words).map(StateTable::hash));
        let (mut next, mut drop) = (0, 0);
        for i in 0..pending.sources.len() {
            let source = pending.sources[i];
            pending.targets.clear();
            while next * words < source.end && !self.is_answered() {
                self.table.look_ahead(&pending.hashes, next);
                let packed = &pending.packed[next * words..][..words];
                let (id, new) = self.table.insert(packed, pending.hashes[next])?;
                pending.targets.push(id);
                if new {
                    self.parents.push(source.id.0);
                    self.check_unsafe(id);
                }
                next += 1;
            }
            self.stats.successors += pending.targets.len() as u64;
            pending.targets.sort_unstable();
            pending.targets.dedup();
            let drops = &pending.drops[drop..source.drops_end];
            drop = source.drops_end;
            self.count(source, pending.targets.len() as u64, drops);
            if self.is_answered() {
                break;
            }
            budget.check_states(self.table.len())?;
        }
        Ok(())
    }

    /// Counts an expanded state.
    fn count(&mut self, source: Source, transitions: u64, drops: &[OpId]) {
        let Source { id, dropped, undecided, .. } = source;
        self.counts.expanded_states += 1;
        self.counts.transitions += transitions;
        self.counts.dropped_outcomes += dropped;
        for &op in drops {
            let known = self.drops.iter().any(|&(o, _)| o == op);
            if self.drops.len() < self.config.drop_examples && !known {
                self.drops.push((op, id));
            }
        }
        if undecided {
            self.undecided.push(UndecidedState { id, transitions, dropped });
        }
    }

    /// Notes an unsafe state.
    fn check_unsafe(&mut self, id: StateId) {
        self.point.resize(self.packing.variables(), 0);
        self.packing.unpack(self.table.packed(id), &mut self.point);
        if self.unsafe_condition.truth(&self.point) != Kleene::True {
            return;
        }
        self.note_unsafe(id);
    }

    /// Counts an unsafe state; it is the counterexample if none is nearer.
    pub(super) fn note_unsafe(&mut self, id: StateId) {
        self.counts.unsafe_states += 1;
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
