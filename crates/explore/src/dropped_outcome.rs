//! Outcomes that a search dropped, as examples of what the model breaks.

use policert_model::{ModellingError, OperatorKey, State};

/// An operator that dropped an outcome: one that leaves a domain, or writes an array cell that
/// does not exist.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DroppedOutcome {
    pub operator: OperatorKey,
    /// The first state in which it happened.
    pub state: State,
    /// The problem there, naming the variable.
    pub problem: ModellingError,
}
