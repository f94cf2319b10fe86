//! Storing what was found: start states, successors and choices.

use policert_engine_api::{Budget, EngineError};
use policert_model::OpId;

use super::InducedSearch;
use super::choices::PendingChoices;
use crate::frontier::{Frontier, holds};
use crate::state_table::{StateId, StateTable};

/// Successors that wait to be stored.
#[derive(Debug, Default)]
pub(super) struct Pending {
    /// Packed successors.
    pub packed: Vec<u64>,
    pub choices: PendingChoices,
    /// Those of the process from above, where the policy draws.
    pub above: PendingChoices,
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
    /// The end of those of the process from above.
    above_end: usize,
    /// The end of its operators that dropped an outcome.
    drops_end: usize,
    dropped: u64,
}

impl Pending {
    /// Ends the successors of a state.
    pub(super) fn finish(&mut self, id: StateId, dropped: u64) {
        let (choices_end, above_end) = (self.choices.len(), self.above.len());
        let drops_end = self.drops.len();
        self.sources.push(Source { id, choices_end, above_end, drops_end, dropped });
    }

    /// Forgets the successors of a state that is not finished.
    pub(super) fn abandon(&mut self, start: usize) {
        self.packed.truncate(start);
        self.drops.truncate(self.sources.last().map_or(0, |source| source.drops_end));
    }

    pub(super) fn clear(&mut self) {
        self.packed.clear();
        self.choices.clear();
        self.above.clear();
        self.drops.clear();
        self.sources.clear();
        self.hashes.clear();
        self.targets.clear();
    }
}

impl InducedSearch<'_> {
    /// Stores a start state.
    pub(super) fn add_start(&mut self, state: &[i64]) -> Result<(), EngineError> {
        if let Some(id) = self.frontier.add_start(state)? {
            self.initial.push(id.0);
            self.classify(id);
        }
        Ok(())
    }

    /// Stores successors, and the choices that lead to them.
    pub(super) fn store_all(
        &mut self,
        pending: &mut Pending,
        budget: &Budget,
    ) -> Result<(), EngineError> {
        let words = self.frontier.packing.words();
        self.frontier.table.check_growth(pending.packed.len() / words, budget)?;
        pending.hashes.extend(pending.packed.chunks_exact(words).map(StateTable::hash));
        for (at, packed) in pending.packed.chunks_exact(words).enumerate() {
            self.frontier.table.look_ahead(&pending.hashes, at);
            let (id, new) = self.frontier.table.insert(packed, pending.hashes[at])?;
            pending.targets.push(id.0);
            if new {
                self.classify(id);
            }
        }
        self.frontier.stats.successors += pending.targets.len() as u64;
        let (mut choice, mut drop, mut of_above) = (0, 0, 0);
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
            if let Some(above) = &mut self.above {
                while of_above < source.above_end {
                    let (_, outcomes) = pending.above.get(of_above);
                    pending.outcomes.clear();
                    let stored = outcomes.iter().map(|&(at, p)| (pending.targets[at as usize], p));
                    pending.outcomes.extend(stored);
                    above.choice(&pending.outcomes)?;
                    of_above += 1;
                }
                above.end_state()?;
            }
            let drops = &pending.drops[drop..source.drops_end];
            self.frontier.note_expanded(source.id, source.dropped, drops);
            drop = source.drops_end;
        }
        self.frontier.counts.transitions = self.builder.transitions() as u64;
        budget.check_states(self.frontier.table.len())?;
        Ok(())
    }

    /// Ends all states before `end`, without choices.
    pub(super) fn end_states(&mut self, end: u32) -> Result<(), EngineError> {
        while self.builder.states() < end as usize {
            self.builder.end_state()?;
            if let Some(above) = &mut self.above {
                above.end_state()?;
            }
        }
        Ok(())
    }

    /// Notes whether a new state is in the target, or has failed.
    fn classify(&mut self, id: StateId) {
        self.frontier.look_at(id);
        let Frontier { unsafe_condition, terminal_condition, point, counts, .. } =
            &mut self.frontier;
        if holds(unsafe_condition, point) {
            self.target.insert(id.0);
            counts.unsafe_states += 1;
        } else if !holds(&self.stay_condition, point) || holds(terminal_condition, point) {
            self.avoid.insert(id.0);
        }
    }
}
