//! What is asked of an MDP: the best probability of reaching a target.

pub use policert_engine_api::Direction;

use crate::{Mdp, StateSet};

/// The probability of reaching a target before what is to be avoided.
#[derive(Clone, Copy, Debug)]
pub struct Reachability<'m> {
    /// The MDP.
    pub mdp: &'m Mdp,
    /// The states asked about.
    pub initial: &'m [u32],
    /// The states to reach. What they lead to does not matter.
    pub target: &'m StateSet,
    /// States where a run has failed, unless they are in the target.
    pub avoid: &'m StateSet,
    /// The least or the greatest probability.
    pub direction: Direction,
}

impl Reachability<'_> {
    /// Returns whether a run goes on in this state.
    #[inline]
    pub(crate) fn is_open(&self, state: u32) -> bool {
        !self.target.contains(state) && !self.avoid.contains(state)
    }
}
