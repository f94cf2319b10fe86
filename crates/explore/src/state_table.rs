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
/// Binary logarithm of the number of states that are allocated together.
const CHUNK_BITS: usize = 16;
const CHUNK: usize = 1 << CHUNK_BITS;
const FIRST_SLOTS: usize = 1 << 10;

/// Packed states in chunks, found by an open-addressing table with linear probing.
///
/// A slot has four bytes: the state's id plus one, and above its bits as many bits of the state's hash as
/// are left; 0 is free. Between three fifths and four fifths of the slots are taken, so that a state costs
/// at most 6.8 bytes besides its words. Nothing is copied when the table grows: it is filled anew from the
/// states.
#[derive(Debug)]
pub(crate) struct StateTable {
    words: usize,
    chunks: Vec<Vec<u64>>,
    slots: Vec<u32>,
    /// The bits of a slot that hold those of a hash.
    tag: u32,
    /// The number of states for which the slots are enough.
    room: usize,
    len: usize,
}

impl StateTable {
    /// A table for states of `words` words, at least one.
    pub(crate) fn new(words: usize) -> Self {
        let mut table =
            Self { words, chunks: Vec::new(), slots: Vec::new(), tag: 0, room: 0, len: 0 };
        table.fill(FIRST_SLOTS);
        table
    }

    /// Number of states.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// A state.
    #[inline]
    pub(crate) fn packed(&self, id: StateId) -> &[u64] {
        self.at(id.index())
    }

    #[inline]
    fn at(&self, index: usize) -> &[u64] {
        let (chunk, place) = (index >> CHUNK_BITS, index & (CHUNK - 1));
        &self.chunks[chunk][place * self.words..][..self.words]
    }

    /// The first states that were found, this many at most.
    pub(crate) fn first(&self, count: usize) -> impl ExactSizeIterator<Item = &[u64]> {
        (0..count.min(self.len)).map(|at| self.at(at))
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
        let slot = self.slots[slot_of(hash, self.slots.len())];
        if slot != 0 && (slot ^ low(hash)) & self.tag == 0 {
            self.packed(self.id_in(slot))[0]
        } else {
            u64::from(slot)
        }
    }

    /// The id of a state with its hash, and whether it is new.
    pub(crate) fn insert(
        &mut self,
        packed: &[u64],
        hash: u64,
    ) -> Result<(StateId, bool), TableFull> {
        if self.len == self.room {
            self.fill(more_slots(self.slots.len()));
        }
        let mut at = slot_of(hash, self.slots.len());
        loop {
            let slot = self.slots[at];
            if slot == 0 {
                break;
            }
            if (slot ^ low(hash)) & self.tag == 0 {
                let id = self.id_in(slot);
                if self.packed(id) == packed {
                    return Ok((id, false));
                }
            }
            at = after(at, self.slots.len());
        }
        let id = u32::try_from(self.len).ok().filter(|&id| id < u32::MAX).ok_or(TableFull)?;
        self.push(packed);
        self.slots[at] = low(hash) & self.tag | (id + 1);
        Ok((StateId(id), true))
    }

    /// Puts a state behind the others.
    #[inline]
    fn push(&mut self, packed: &[u64]) {
        if self.len.is_multiple_of(CHUNK) {
            // The first chunk grows, so that small models take little.
            let capacity = if self.len == 0 { 0 } else { CHUNK * self.words };
            self.chunks.push(Vec::with_capacity(capacity));
        }
        if let Some(chunk) = self.chunks.last_mut() {
            chunk.extend_from_slice(packed);
        }
        self.len += 1;
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
        while room(slots) < self.len + more {
            slots = more_slots(slots);
        }
        let new_slots = if slots == self.slots.len() { 0 } else { slots };
        new_slots * size_of::<u32>() + more * self.words * size_of::<u64>()
    }

    #[inline]
    fn id_in(&self, slot: u32) -> StateId {
        StateId((slot & !self.tag).wrapping_sub(1))
    }

    /// Makes this many slots in place of those that are there.
    #[cold]
    fn fill(&mut self, slots: usize) {
        self.slots = Vec::new();
        self.slots = vec![0; slots];
        self.room = room(slots);
        // The greatest content of a slot is the number of states.
        let free = u32::try_from(self.room).map_or(0, u32::leading_zeros);
        self.tag = !u32::MAX.checked_shr(free).unwrap_or(0);
        let states = self.chunks.iter().flat_map(|chunk| chunk.chunks_exact(self.words));
        for (packed, id) in states.zip(1u32..) {
            let hash = Self::hash(packed);
            let mut at = slot_of(hash, slots);
            while self.slots[at] != 0 {
                at = after(at, slots);
            }
            self.slots[at] = low(hash) & self.tag | id;
        }
    }
}

/// The lower half of a hash. The place in the table goes by the upper one.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "takes the lower half")]
fn low(hash: u64) -> u32 {
    hash as u32
}

/// The first slot for a hash.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "less than the number of slots")]
fn slot_of(hash: u64, slots: usize) -> usize {
    ((u128::from(hash) * slots as u128) >> 64) as usize
}

#[inline]
fn after(at: usize, slots: usize) -> usize {
    if at + 1 == slots { 0 } else { at + 1 }
}

/// The number of states for which these slots are enough: thirteen of sixteen are taken.
fn room(slots: usize) -> usize {
    slots / 16 * 13
}

fn more_slots(slots: usize) -> usize {
    slots / 8 * 11
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_state_is_stored_once() {
        for words in 1..4 {
            let mut table = StateTable::new(words);
            let state = |i: u64| (0..words as u64).map(|w| i * (w + 1)).collect::<Vec<u64>>();
            // More than two chunks.
            let count = 140_000u32;
            for i in 0..u64::from(count) {
                let packed = state(i);
                let hash = StateTable::hash(&packed);
                assert_eq!(table.insert(&packed, hash).map(|(_, new)| new), Ok(true));
                let slots = table.slots.len() * size_of::<u32>();
                assert!(slots <= FIRST_SLOTS * size_of::<u32>() || slots * 10 <= table.len() * 68);
            }
            assert_eq!(table.len(), 140_000);
            assert!(table.first(140_000).zip(0u64..).all(|(packed, i)| packed == state(i)));
            for i in 0..count {
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
