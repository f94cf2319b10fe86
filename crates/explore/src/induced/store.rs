//! Storing what was found: start states, successors and choices.

use policert_engine_api::{Budget, EngineError};
use policert_model::OpId;

use super::Search;
use super::choices::PendingChoices;
use crate::state_table::{StateId, StateTable};

/// Successors that wait to be stored.
#[derive(Debug, Default)]
pub(super) struct Pending {
    /// Packed successors.
    pub packed: Vec<u64>,
    /// Their choices.
    pub choices: PendingChoices,
    /// Operators that dropped an outcome.
    pub drops: Vec<OpId>,
    sources: Vec<Source>,
    hashes: Vec<u64>,
    targets: Vec<u32>,
    outcomes: Vec<(u32, policert_mdp::ProbabilityId)>,
}

/// A state whose successors wait.
#[derive(Clone, Copy, Debug)]
struct Source {
    id: StateId,
    /// The end of its choices.
    choices_end: usize,
    /// The end of its operators that dropped an outcome.
    drops_end: usize,
    dropped: u64,
}

impl Pending {
    /// Number of words that wait.
    pub(super) fn words(&self) -> usize {
        self.packed.len()
    }

    /// Ends the successors of a state.
    pub(super) fn finish(&mut self, id: StateId, dropped: u64) {
        let (choices_end, drops_end) = (self.choices.len(), self.drops.len());
        self.sources.push(Source { id, choices_end, drops_end, dropped });
    }

    fn clear(&mut self) {
        self.packed.clear();
        self.choices.clear();
        self.drops.clear();
        self.sources.clear();
        self.hashes.clear();
        self.targets.clear();
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
        let mut packed = vec![0; self.packing.words()];
        self.packing.pack(state, &mut packed);
        let (id, new) = self.table.insert(&packed, StateTable::hash(&packed))?;
        if new {
            self.initial.push(id.0);
            self.counts.start_states += 1;
            self.classify(id);
        }
        Ok(())
    }

    /// Stores the successors that wait, and the choices that lead to them.
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
        pending.hashes.extend(pending.packed.chunks_exact(words).map(StateTable::hash));
        for (at, packed) in pending.packed.chunks_exact(words).enumerate() {
            self.table.look_ahead(&pending.hashes, at);
            let (id, new) = self.table.insert(packed, pending.hashes[at])?;
            pending.targets.push(id.0);
            if new {
                self.classify(id);
            }
        }
        self.stats.successors += pending.targets.len() as u64;
        let (mut choice, mut drop) = (0, 0);
        for source in &pending.sources {
            self.end_states(source.id.0)?;
            while choice < source.choices_end {
                let (waiting, outcomes) = pending.choices.get(choice);
                pending.outcomes.clear();
                let stored = outcomes.iter().map(|&(at, p)| (pending.targets[at as usize], p));
                pending.outcomes.extend(stored);
                match waiting.distribution {
                    Some(id) => self.builder.choice_from(id, &pending.outcomes)?,
                    None => self.builder.choice(&pending.outcomes)?,
                }
                choice += 1;
            }
            self.builder.end_state()?;
            self.counts.expanded_states += 1;
            self.counts.dropped_outcomes += source.dropped;
            for &op in &pending.drops[drop..source.drops_end] {
                let known = self.drops.iter().any(|&(o, _)| o == op);
                if self.drops.len() < self.config.drop_examples && !known {
                    self.drops.push((op, source.id));
                }
            }
            drop = source.drops_end;
        }
        self.counts.transitions = self.builder.transitions() as u64;
        budget.check_states(self.table.len())?;
        Ok(())
    }

    /// Ends all states before `end`, without choices.
    pub(super) fn end_states(&mut self, end: u32) -> Result<(), EngineError> {
        while self.builder.states() < end as usize {
            self.builder.end_state()?;
        }
        Ok(())
    }

    /// Notes whether a new state is in the target, or has failed.
    fn classify(&mut self, id: StateId) {
        self.point.resize(self.packing.variables(), 0);
        self.packing.unpack(self.table.packed(id), &mut self.point);
        if Self::holds(&self.target_condition, &self.point) {
            self.target.insert(id.0);
            self.counts.unsafe_states += 1;
        } else if !Self::holds(&self.stay_condition, &self.point)
            || Self::holds(&self.terminal_condition, &self.point)
        {
            self.avoid.insert(id.0);
        }
    }
}
