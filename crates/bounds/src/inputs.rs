//! Bounds of network inputs, from boxes of integers.

use policert_numeric::{IntBox, IntInterval};

/// Bounds of network inputs.
#[derive(Debug)]
pub(crate) struct Inputs {
    pub lo: Vec<f64>,
    pub hi: Vec<f64>,
}

impl Inputs {
    /// Those in a box along the axes; each input reads one of these.
    pub fn new(reads: &[usize], sides: &IntBox) -> Self {
        Self::of(reads.iter().map(|&axis| sides[axis]))
    }

    /// Those with these sides.
    pub fn of(sides: impl Iterator<Item = IntInterval> + Clone) -> Self {
        let lo = sides.clone().map(|side| float_below(side.lo)).collect();
        let hi = sides.map(|side| float_above(side.hi)).collect();
        Self { lo, hi }
    }
}

/// Integers of at most this magnitude are doubles.
const EXACT: u64 = 1 << 53;

/// A double that is not above; values are 64-bit integers, so there always is one.
#[expect(clippy::cast_precision_loss, reason = "rounded outwards")]
pub(crate) fn float_below(value: i64) -> f64 {
    let near = value as f64;
    if value.unsigned_abs() <= EXACT { near } else { near.next_down() }
}

/// A double that is not below.
#[expect(clippy::cast_precision_loss, reason = "rounded outwards")]
pub(crate) fn float_above(value: i64) -> f64 {
    let near = value as f64;
    if value.unsigned_abs() <= EXACT { near } else { near.next_up() }
}
