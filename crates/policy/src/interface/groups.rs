//! The inputs of a policy's graph, and what feeds each of them.

use crate::json;

/// An input of the policy's graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputGroup {
    /// Its name in the graph.
    pub name: String,
    /// The source of its values.
    pub feed: GroupFeed,
}

impl InputGroup {
    /// The JSON pointer of its inputs.
    pub(super) fn pointer(&self) -> String {
        format!("/input/{}", json::escaped(&self.name))
    }
}

/// The source of an input of the policy's graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupFeed {
    /// The next ones of the interface's inputs: so many.
    Inputs(usize),
    /// The truth values, by label, of being applicable.
    Applicable,
}
