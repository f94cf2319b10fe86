//! Sets of outputs of a policy.

use std::fmt;

use smallvec::SmallVec;

/// A set of output indices. Sets of up to 64 outputs need no allocation.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct OutputSet(SmallVec<[u64; 1]>);

const WORD: usize = u64::BITS as usize;

impl OutputSet {
    /// The set without elements, with room for `outputs` of them.
    #[must_use]
    pub fn none(outputs: usize) -> Self {
        Self(SmallVec::from_elem(0, outputs.div_ceil(WORD)))
    }

    /// The set of the outputs 0 to `outputs` − 1.
    #[must_use]
    pub fn all(outputs: usize) -> Self {
        let mut set = Self::none(outputs);
        for (i, word) in set.0.iter_mut().enumerate() {
            let rest = outputs - i * WORD;
            *word = if rest >= WORD { u64::MAX } else { (1 << rest) - 1 };
        }
        set
    }

    /// Returns whether `output` is an element.
    #[must_use]
    #[inline]
    pub fn contains(&self, output: usize) -> bool {
        self.0.get(output / WORD).is_some_and(|word| word >> (output % WORD) & 1 == 1)
    }

    /// Adds an element.
    #[inline]
    pub fn insert(&mut self, output: usize) {
        if output / WORD >= self.0.len() {
            self.0.resize(output / WORD + 1, 0);
        }
        self.0[output / WORD] |= 1 << (output % WORD);
    }

    /// Adds the elements of another set.
    pub fn union_with(&mut self, other: &Self) {
        if other.0.len() > self.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (a, b) in self.0.iter_mut().zip(&other.0) {
            *a |= b;
        }
    }

    /// Returns whether it has no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }

    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The elements in order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(i, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                let bit = rest.trailing_zeros() as usize;
                (rest != 0).then(|| {
                    rest &= rest - 1;
                    i * WORD + bit
                })
            })
        })
    }
}

impl fmt::Debug for OutputSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_one_and_of_many_words() {
        for outputs in [1, 7, 64, 65, 200] {
            let mut set = OutputSet::none(outputs);
            assert!(set.is_empty());
            set.insert(outputs - 1);
            set.insert(0);
            assert_eq!(set.iter().last(), Some(outputs - 1));
            assert_eq!(set.len(), outputs.min(2));
            assert_eq!(OutputSet::all(outputs).len(), outputs);
            assert!(!OutputSet::all(outputs).contains(outputs));
            let mut union = OutputSet::none(1);
            union.union_with(&set);
            assert_eq!(union, set);
        }
    }
}
