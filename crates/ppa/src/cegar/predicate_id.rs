//! How predicates of the tree of abstract states are told apart.

/// Position of a predicate among all of the tree.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct PredicateId(u32);

impl PredicateId {
    /// The predicate at a position.
    pub fn new(position: usize) -> Self {
        Self(u32::try_from(position).unwrap_or(u32::MAX))
    }

    /// The position.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}
