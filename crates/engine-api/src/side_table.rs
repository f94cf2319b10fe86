//! Side tables: per-item data indexed by the item's id.

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// An id that is an index.
pub trait Id: Copy {
    /// The id of this index.
    fn from_index(index: usize) -> Self;
    /// The index of this id.
    fn to_index(self) -> usize;
}

/// A table with one entry per id.
#[derive(Clone, Debug)]
pub struct SideTable<I, T> {
    entries: Vec<T>,
    ids: PhantomData<fn(I)>,
}

impl<I: Id, T> SideTable<I, T> {
    /// An empty table.
    #[must_use]
    pub fn new() -> Self {
        Self { entries: Vec::new(), ids: PhantomData }
    }

    /// Appends an entry and returns its id.
    pub fn push(&mut self, entry: T) -> I {
        let id = I::from_index(self.entries.len());
        self.entries.push(entry);
        id
    }

    /// Number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entries in the order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = (I, &T)> {
        self.entries.iter().enumerate().map(|(i, e)| (I::from_index(i), e))
    }
}

impl<I: Id, T> Default for SideTable<I, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<I: Id, T> Index<I> for SideTable<I, T> {
    type Output = T;
    fn index(&self, id: I) -> &T {
        &self.entries[id.to_index()]
    }
}

impl<I: Id, T> IndexMut<I> for SideTable<I, T> {
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.entries[id.to_index()]
    }
}
