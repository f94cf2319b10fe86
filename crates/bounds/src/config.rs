//! Settings of the oracle.

/// Settings of an [`Oracle`](crate::Oracle).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OracleConfig {
    /// Boxes with at most this many points are enumerated, larger ones bounded and split.
    /// [default: 64] [range: 1..]
    pub enumerated_points: usize,
}

impl Default for OracleConfig {
    fn default() -> Self {
        Self { enumerated_points: 64 }
    }
}
