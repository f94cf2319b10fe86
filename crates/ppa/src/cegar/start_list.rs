//! The start states one by one.

use std::collections::BTreeSet;

use policert_model::State;

/// The start states one by one, where they are few.
#[derive(Debug)]
pub(crate) enum StartList {
    /// All of them, each once.
    All(BTreeSet<State>),
    /// There are too many.
    TooMany,
}
