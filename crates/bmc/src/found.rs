//! Boxes of states that the unrolling found, with how they are reached.

use policert_numeric::IntBox;

/// A box of states that are reached, all by the same outcome.
#[derive(Debug)]
pub(crate) struct Found {
    pub sides: IntBox,
    /// The way in which they are reached; start states have none.
    pub arrival: Option<Arrival>,
}

/// Says how a box is reached.
#[derive(Debug)]
pub(crate) struct Arrival {
    /// The box before.
    pub from: usize,
    pub operator: usize,
    pub destination: usize,
    /// The states and choices in the box before whose image it belongs to.
    pub source: IntBox,
}
