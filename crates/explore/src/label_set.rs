//! Sets of labels, as bits, one set a row.

use policert_model::LabelId;

/// Sets of labels of one model, all of one size.
#[derive(Clone, Debug)]
pub(crate) struct LabelSets {
    words: usize,
    bits: Vec<u64>,
}

/// One of several sets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LabelSet<'a>(&'a [u64]);

impl LabelSets {
    /// No set yet, of a model with `labels` labels.
    pub(crate) fn new(labels: usize) -> Self {
        Self { words: labels.div_ceil(64).max(1), bits: Vec::new() }
    }

    pub(crate) fn clear(&mut self) {
        self.bits.clear();
    }

    /// Appends an empty set.
    pub(crate) fn push_empty(&mut self) {
        self.bits.resize(self.bits.len() + self.words, 0);
    }

    /// Appends a copy of a set.
    pub(crate) fn push(&mut self, set: LabelSet<'_>) {
        self.bits.extend_from_slice(set.0);
    }

    /// One set.
    #[inline]
    pub(crate) fn set(&self, row: usize) -> LabelSet<'_> {
        LabelSet(&self.bits[row * self.words..][..self.words])
    }

    /// Adds a label to a set.
    #[inline]
    pub(crate) fn insert(&mut self, row: usize, label: LabelId) {
        self.bits[row * self.words + label.index() / 64] |= 1 << (label.index() % 64);
    }
}

impl LabelSet<'_> {
    #[inline]
    pub(crate) fn contains(self, label: LabelId) -> bool {
        self.0[label.index() / 64] >> (label.index() % 64) & 1 != 0
    }
}
