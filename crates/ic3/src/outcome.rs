//! What the algorithm ends with.

use policert_model::State;
use policert_numeric::IntBox;

/// Says what the algorithm found.
#[derive(Clone, PartialEq, Debug)]
pub enum Ic3Outcome<S> {
    /// A path from a start state to an unsafe state: the start state, and each step with the
    /// state that it reaches.
    Path(State, Vec<(S, State)>),
    /// Boxes whose union contains all start states and no unsafe state, and that no transition
    /// leaves.
    Invariant(Vec<IntBox>),
}
