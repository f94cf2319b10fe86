//! Reasons that were found together.

use policert_numeric::IntBox;

/// Reasons, and how far they hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Generalized {
    /// The states of each.
    pub reasons: Vec<IntBox>,
    /// None of them has a transition into this frame, nor into an earlier one, but to each other.
    pub frame: usize,
}
