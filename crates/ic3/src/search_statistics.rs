//! How far the algorithm came, and what it took.

use crate::frames::{FOREVER, Frames};

/// Says how far the algorithm came, and what it took.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SearchStatistics {
    /// N at the end; 0 for ∞.
    pub limit: usize,
    /// Start states selected.
    pub start_states: u64,
    /// Obligations looked at.
    pub obligations: u64,
    /// Reasons learnt.
    pub reasons: u64,
    /// Reasons that were dropped because a larger one is as good.
    pub subsumed: u64,
    /// Reasons at the end.
    pub kept: u64,
}

impl SearchStatistics {
    /// Notes what the frames say of the search so far.
    pub(crate) fn note(&mut self, frames: &Frames) {
        self.limit = if frames.limit() == FOREVER { 0 } else { frames.limit() };
        self.reasons = frames.added();
        self.subsumed = frames.subsumed();
        self.kept = frames.reasons().len() as u64;
    }
}
