//! Sets of states, a bit for each.

/// A set of states that are numbered from 0.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StateSet {
    words: Vec<u64>,
    states: usize,
}

impl StateSet {
    /// The empty set over this many states.
    #[must_use]
    pub fn empty(states: usize) -> Self {
        Self { words: vec![0; states.div_ceil(64)], states }
    }

    /// The set of all states.
    #[must_use]
    pub fn full(states: usize) -> Self {
        let mut set = Self { words: vec![u64::MAX; states.div_ceil(64)], states };
        set.trim();
        set
    }

    /// The set of these states, over this many.
    #[must_use]
    pub fn of(states: usize, members: impl IntoIterator<Item = u32>) -> Self {
        let mut set = Self::empty(states);
        for member in members {
            set.insert(member);
        }
        set
    }

    /// Number of states that it is over.
    #[must_use]
    pub fn states(&self) -> usize {
        self.states
    }

    /// Lets it be over more states, which are not in it.
    pub fn grow(&mut self, states: usize) {
        self.states = self.states.max(states);
        self.words.resize(self.states.div_ceil(64), 0);
    }

    /// Returns whether `state` is in it. A state that it is not over is not.
    #[must_use]
    #[inline]
    pub fn contains(&self, state: u32) -> bool {
        let word = self.words.get(state as usize / 64).copied().unwrap_or(0);
        word >> (state % 64) & 1 == 1
    }

    /// Puts a state in; whether it was not. The set grows if need be.
    #[inline]
    pub fn insert(&mut self, state: u32) -> bool {
        let at = state as usize;
        if at >= self.states {
            self.grow(at + 1);
        }
        let (word, bit) = (&mut self.words[at / 64], 1u64 << (state % 64));
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    /// Takes a state out.
    #[inline]
    pub fn remove(&mut self, state: u32) {
        if let Some(word) = self.words.get_mut(state as usize / 64) {
            *word &= !(1u64 << (state % 64));
        }
    }

    /// Number of states in it.
    #[must_use]
    pub fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Returns whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// All states that are not in it.
    #[must_use]
    pub fn complement(&self) -> Self {
        let words = self.words.iter().map(|word| !word).collect();
        let mut set = Self { words, states: self.states };
        set.trim();
        set
    }

    /// The states in it, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0u32..).step_by(64).zip(&self.words).flat_map(|(first, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros())?;
                rest &= rest - 1;
                Some(first + bit)
            })
        })
    }

    fn trim(&mut self) {
        let extra = self.states % 64;
        if extra != 0
            && let Some(last) = self.words.last_mut()
        {
            *last &= (1 << extra) - 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_come_back() {
        let members = [0, 5, 63, 64, 70, 129];
        let set = StateSet::of(130, members);
        assert_eq!(set.iter().collect::<Vec<_>>(), members);
        assert_eq!(set.count() + set.complement().count(), 130);
        assert!(!set.contains(1) && set.contains(129) && !set.contains(1000));
        assert_eq!(StateSet::full(130), StateSet::empty(130).complement());
    }

    #[test]
    fn sets_grow() {
        let mut set = StateSet::empty(1);
        assert!(set.insert(200) && !set.insert(200));
        set.remove(200);
        assert!(set.is_empty() && set.states() == 201);
    }
}
