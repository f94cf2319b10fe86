//! What the oracle over the reals did.

use std::fmt;

/// Counters of a [`RealOracle`](crate::RealOracle).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RealStatistics {
    /// Questions asked.
    pub queries: u64,
    /// Parts of regions that were looked at.
    pub parts: u64,
    /// Parts refuted by a single plane.
    pub by_plane: u64,
    /// Parts refuted by planes jointly.
    pub jointly: u64,
    /// Parts without bends, decided exactly.
    pub polytopes: u64,
    /// Cuts of a side of a box.
    pub bisections: u64,
    /// Splits at the bend of a function.
    pub bends: u64,
    /// Points at which the network was evaluated.
    pub points: u64,
    /// Points that were checked exactly.
    pub checks: u64,
}

impl fmt::Display for RealStatistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            queries,
            parts,
            by_plane,
            jointly,
            polytopes,
            bisections,
            bends,
            points,
            checks,
        } = self;
        write!(
            f,
            "{queries} queries: {parts} parts, {by_plane} refuted by a plane, {jointly} jointly, \
             {polytopes} polytopes, {bisections} bisections, {bends} splits at bends, {points} \
             points, {checks} exact checks"
        )
    }
}
