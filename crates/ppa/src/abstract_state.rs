//! Abstract states: truth values of the predicates and the locations, packed, with ids.

use policert_engine_api::Id;
use policert_model::{Model, VarId};

/// Position of a predicate in the predicate set.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct PredId(pub u32);

impl PredId {
    /// The index into the predicate set.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// An abstract state that was met, in the order of meeting.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct AbstractStateId(pub u32);

impl Id for AbstractStateId {
    fn from_index(index: usize) -> Self {
        Self(u32::try_from(index).unwrap_or(u32::MAX))
    }
    fn to_index(self) -> usize {
        self.0 as usize
    }
}

/// Says how abstract states are laid out: one bit per predicate, then one word per location.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Layout {
    predicate_words: usize,
    locations: Vec<VarId>,
}

impl Layout {
    /// The layout for a number of predicates over a model. Locations that never change are
    /// left out.
    #[must_use]
    pub fn new(model: &Model, predicates: usize) -> Self {
        let locations = model
            .instances
            .iter()
            .map(|i| i.location)
            .filter(|l| !model.variables[l.index()].domain.is_point())
            .collect();
        Self { predicate_words: predicates.div_ceil(64), locations }
    }

    /// The location variables that abstract states track, in the order of the instances.
    #[must_use]
    pub fn locations(&self) -> &[VarId] {
        &self.locations
    }

    /// The state in which every predicate is false and every location 0.
    #[must_use]
    pub fn blank(&self) -> AbstractState {
        AbstractState(vec![0; self.predicate_words + self.locations.len()].into_boxed_slice())
    }

    /// The location that tracked location variable number `k` has in `state`.
    #[must_use]
    pub fn location(&self, state: &AbstractState, k: usize) -> i64 {
        state.0[self.predicate_words + k].cast_signed()
    }

    /// Sets the location of tracked location variable number `k`.
    pub fn set_location(&self, state: &mut AbstractState, k: usize, value: i64) {
        state.0[self.predicate_words + k] = value.cast_unsigned();
    }
}

/// Truth values of the predicates and the locations.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct AbstractState(Box<[u64]>);

impl AbstractState {
    /// The truth value of a predicate.
    #[must_use]
    pub fn get(&self, predicate: PredId) -> bool {
        self.0[predicate.index() / 64] >> (predicate.index() % 64) & 1 == 1
    }

    /// Sets the truth value of a predicate.
    pub fn set(&mut self, predicate: PredId, value: bool) {
        let bit = 1u64 << (predicate.index() % 64);
        let word = &mut self.0[predicate.index() / 64];
        if value {
            *word |= bit;
        } else {
            *word &= !bit;
        }
    }
}

/// All abstract states that were met, one after the other in one arena, found by an
/// open-addressing table with linear probing.
#[derive(Debug, Default)]
pub struct AbstractStateTable {
    /// Words of a state; known from the first one on.
    words: usize,
    arena: Vec<u64>,
    /// The id of a state plus one; 0 is free. A power of two, at most five of eight are taken.
    slots: Vec<u32>,
    len: usize,
}

/// Slots of a table with a state in it, at first.
const FIRST_SLOTS: usize = 1 << 6;

impl AbstractStateTable {
    /// The id of `state`, if it was met.
    #[must_use]
    pub fn find(&self, state: &AbstractState) -> Option<AbstractStateId> {
        if self.len == 0 {
            return None;
        }
        self.slot_of(&state.0).ok()
    }

    /// The id of `state`, and whether it is met for the first time. All states of a table have
    /// the same layout.
    pub fn intern(&mut self, state: &AbstractState) -> (AbstractStateId, bool) {
        if self.len == 0 {
            self.words = state.0.len();
        }
        debug_assert_eq!(self.words, state.0.len());
        if (self.len + 1) * 8 > self.slots.len() * 5 {
            self.grow();
        }
        match self.slot_of(&state.0) {
            Ok(id) => (id, false),
            Err(free) => {
                let id = AbstractStateId::from_index(self.len);
                self.arena.extend_from_slice(&state.0);
                self.len += 1;
                self.slots[free] = id.0.saturating_add(1);
                (id, true)
            }
        }
    }

    /// The state of an id.
    #[must_use]
    pub fn state(&self, id: AbstractStateId) -> AbstractState {
        AbstractState(self.packed(id).into())
    }

    /// The ids, in the order of the states.
    #[must_use]
    pub fn sorted(&self) -> Vec<AbstractStateId> {
        let mut ids: Vec<_> = (0..self.len).map(AbstractStateId::from_index).collect();
        ids.sort_unstable_by_key(|&id| self.packed(id));
        ids
    }

    /// Number of states met.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether none was met.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    fn packed(&self, id: AbstractStateId) -> &[u64] {
        &self.arena[id.to_index() * self.words..][..self.words]
    }

    /// The id of a state, or the free slot where it would be.
    fn slot_of(&self, packed: &[u64]) -> Result<AbstractStateId, usize> {
        let mask = self.slots.len() - 1;
        let mut at = first_slot(packed) & mask;
        loop {
            let Some(id) = self.slots[at].checked_sub(1) else { return Err(at) };
            let id = AbstractStateId(id);
            if self.packed(id) == packed {
                return Ok(id);
            }
            at = (at + 1) & mask;
        }
    }

    #[cold]
    fn grow(&mut self) {
        self.slots = vec![0; (2 * self.slots.len()).max(FIRST_SLOTS)];
        for index in 0..self.len {
            let id = AbstractStateId::from_index(index);
            if let Err(free) = self.slot_of(self.packed(id)) {
                self.slots[free] = id.0.saturating_add(1);
            }
        }
    }
}

/// Returns where to look first, before the number of slots is taken into account.
fn first_slot(packed: &[u64]) -> usize {
    let hash = packed.iter().fold(0x9e37_79b9_7f4a_7c15_u64, |hash, word| {
        let product = u128::from(hash ^ word) * 0xd6e8_feb8_6659_fd93;
        #[expect(clippy::cast_possible_truncation, reason = "folds both halves")]
        let folded = (product >> 64) as u64 ^ product as u64;
        folded
    });
    #[expect(clippy::cast_possible_truncation, reason = "a hash")]
    let slot = hash as usize;
    slot
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_state_is_stored_once() {
        for words in 0..4 {
            let mut table = AbstractStateTable::default();
            let state = |i: u64| AbstractState((1..=words).map(|w| i * w).collect());
            let count = if words == 0 { 1 } else { 5000 };
            for i in 0..count {
                assert_eq!(table.find(&state(i)), None, "{words} {i}");
                assert!(table.intern(&state(i)).1, "{words} {i}");
            }
            assert_eq!(table.len() as u64, count);
            for (i, id) in (0..count).zip((0..).map(AbstractStateId)) {
                assert_eq!(table.find(&state(i)), Some(id));
                assert_eq!(table.intern(&state(i)), (id, false));
                assert_eq!(table.state(id), state(i));
            }
            assert_eq!(table.len() as u64, count);
            let sorted: Vec<_> = table.sorted().into_iter().map(|id| table.state(id)).collect();
            assert!(sorted.len() as u64 == count && sorted.is_sorted());
        }
    }
}
