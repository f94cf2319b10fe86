//! The states found so far: each one packed, once, with an id in the order of discovery.

use policert_engine_api::{Budget, EngineError, StopReason, resident_memory};

/// A stored state: its place in the order of discovery.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct StateId(pub(crate) u32);

impl StateId {
    /// The greatest number of states: ids are stored plus one in 32 bits.
    pub(crate) const LIMIT: u64 = u32::MAX as u64;

    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// No more ids.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TableFull;

impl From<TableFull> for EngineError {
    fn from(_: TableFull) -> Self {
        StopReason::States(StateId::LIMIT).into()
    }
}

/// The number of look-ups that are prepared together: enough that the memory system works on
/// several.
const LOOK_AHEAD: usize = 16;
/// Growth of the table below which the memory limit is not asked, in bytes.
const SMALL_GROWTH: usize = 1 << 24;

/// Packed states in one arena, found by an open-addressing table with linear probing.
///
/// A slot holds the upper half of the state's hash and its id plus one; 0 is free.
#[derive(Debug)]
pub(crate) struct StateTable {
    words: usize,
    arena: Vec<u64>,
    slots: Vec<u64>,
    len: usize,
}

const ID: u64 = 0xffff_ffff;
const TAG: u64 = !ID;
const FIRST_SLOTS: usize = 1 << 10;

impl StateTable {
    /// A table for states of `words` words, at least one.
    pub(crate) fn new(words: usize) -> Self {
        Self { words, arena: Vec::new(), slots: vec![0; FIRST_SLOTS], len: 0 }
    }

    /// Number of states.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// A state.
    #[inline]
    pub(crate) fn packed(&self, id: StateId) -> &[u64] {
        &self.arena[id.index() * self.words..][..self.words]
    }

    /// The hash of a packed state.
    #[inline]
    pub(crate) fn hash(packed: &[u64]) -> u64 {
        packed.iter().fold(0x9e37_79b9_7f4a_7c15, |hash, word| {
            let product = u128::from(hash ^ word) * 0xd6e8_feb8_6659_fd93;
            #[expect(clippy::cast_possible_truncation, reason = "folds both halves")]
            let folded = (product >> 64) as u64 ^ product as u64;
            folded
        })
    }

    /// Prepares the look-ups of the next hashes at every [`LOOK_AHEAD`]th place.
    #[inline]
    pub(crate) fn look_ahead(&self, hashes: &[u64], at: usize) {
        if at.is_multiple_of(LOOK_AHEAD) {
            let ahead = &hashes[at..hashes.len().min(at + LOOK_AHEAD)];
            let read = ahead.iter().fold(0, |all, &hash| all ^ self.touch(hash));
            std::hint::black_box(read);
        }
    }

    /// Reads what [`StateTable::insert`] will read, so that it is in the cache by then.
    #[inline]
    fn touch(&self, hash: u64) -> u64 {
        let slot = self.slots[self.slot_of(hash)];
        if slot != 0 && slot & TAG == hash & TAG {
            self.arena[(id_in(slot)).index() * self.words]
        } else {
            slot
        }
    }

    /// The id of a state with its hash, and whether it is new.
    pub(crate) fn insert(
        &mut self,
        packed: &[u64],
        hash: u64,
    ) -> Result<(StateId, bool), TableFull> {
        // At most five of eight slots are taken.
        if (self.len + 1) * 8 > self.slots.len() * 5 {
            self.grow();
        }
        let mut at = self.slot_of(hash);
        loop {
            let slot = self.slots[at];
            if slot == 0 {
                break;
            }
            if slot & TAG == hash & TAG && self.packed(id_in(slot)) == packed {
                return Ok((id_in(slot), false));
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
        let id = u32::try_from(self.len).ok().filter(|&id| id < u32::MAX).ok_or(TableFull)?;
        self.arena.extend_from_slice(packed);
        self.slots[at] = hash & TAG | (u64::from(id) + 1);
        self.len += 1;
        Ok((StateId(id), true))
    }

    /// Checks whether the table may grow by `more` states within the memory limit.
    pub(crate) fn check_growth(&self, more: usize, budget: &Budget) -> Result<(), StopReason> {
        let growth = self.growth(more);
        match budget.limits().memory {
            Some(limit) if growth >= SMALL_GROWTH => {
                let used = resident_memory().unwrap_or(0);
                if used.saturating_add(growth as u64) > limit {
                    return Err(StopReason::Memory);
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Returns how many bytes more it takes to insert `more` states.
    fn growth(&self, more: usize) -> usize {
        let mut slots = self.slots.len();
        while (self.len + more) * 8 > slots * 5 {
            slots *= 2;
        }
        let new_slots = if slots == self.slots.len() { 0 } else { slots };
        (new_slots + more * self.words) * size_of::<u64>()
    }

    fn slot_of(&self, hash: u64) -> usize {
        #[expect(clippy::cast_possible_truncation, reason = "masked by the number of slots")]
        let at = hash as usize;
        at & (self.slots.len() - 1)
    }

    #[cold]
    fn grow(&mut self) {
        self.slots = vec![0; 2 * self.slots.len()];
        for (packed, id) in self.arena.chunks_exact(self.words).zip(1u64..) {
            let hash = Self::hash(packed);
            let mut at = self.slot_of(hash);
            while self.slots[at] != 0 {
                at = (at + 1) & (self.slots.len() - 1);
            }
            self.slots[at] = hash & TAG | id;
        }
    }
}

/// The id in a slot that is taken.
#[inline]
fn id_in(slot: u64) -> StateId {
    let id = (slot & ID) as u32;
    StateId(id.wrapping_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_state_is_stored_once() {
        for words in 1..4 {
            let mut table = StateTable::new(words);
            let state = |i: u64| (0..words as u64).map(|w| i * (w + 1)).collect::<Vec<u64>>();
            for i in 0..20_000 {
                let packed = state(i);
                let hash = StateTable::hash(&packed);
                assert_eq!(table.insert(&packed, hash).map(|(_, new)| new), Ok(true));
            }
            assert_eq!(table.len(), 20_000);
            for i in 0..20_000u32 {
                let packed = state(u64::from(i));
                let hash = StateTable::hash(&packed);
                assert_eq!(table.insert(&packed, hash), Ok((StateId(i), false)));
                assert_eq!(table.packed(StateId(i)), packed);
            }
        }
    }

    #[test]
    fn equal_hashes_do_not_merge_states() {
        let mut table = StateTable::new(1);
        for i in 0..100 {
            assert_eq!(table.insert(&[i], 42).map(|(id, _)| u64::from(id.0)), Ok(i));
        }
        assert_eq!(table.insert(&[57], 42), Ok((StateId(57), false)));
    }
}
