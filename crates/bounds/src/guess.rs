//! Stage *guess*: points at which a witness is likely.

use std::collections::VecDeque;

use policert_numeric::{IntBox, IntInterval};

use crate::query::representative;

/// Witnesses kept for each output.
const KEPT: usize = 8;

/// The latest witnesses of all queries, by output, as coordinates along the axes.
#[derive(Debug)]
pub(crate) struct Memory {
    witnesses: Vec<VecDeque<Box<[i64]>>>,
}

impl Memory {
    pub fn new(outputs: usize) -> Self {
        Self { witnesses: vec![VecDeque::new(); outputs] }
    }

    /// Keeps a witness, and forgets the oldest.
    pub fn keep(&mut self, output: usize, point: &[i64]) {
        let kept = &mut self.witnesses[output];
        if kept.iter().any(|known| **known == *point) {
            return;
        }
        if kept.len() == KEPT {
            kept.pop_back();
        }
        kept.push_front(point.into());
    }

    /// The witnesses of an output, the latest first.
    pub fn of(&self, output: usize) -> impl Iterator<Item = &[i64]> {
        self.witnesses[output].iter().map(|point| &**point)
    }
}

/// Appends likely points of a box: earlier witnesses moved into it, its centre, and two corners.
pub(crate) fn candidates(sides: &IntBox, memory: &Memory, output: usize, points: &mut Vec<i64>) {
    points.extend(
        sides
            .sides()
            .iter()
            .map(|side| if side.is_bounded() { side.midpoint() } else { representative(*side) }),
    );
    for witness in memory.of(output).take(KEPT - 3) {
        points
            .extend(witness.iter().zip(sides.sides()).map(|(&x, side)| x.clamp(side.lo, side.hi)));
    }
    points.extend(sides.sides().iter().map(|side| representative(*side)));
    let greatest = |side: &IntInterval| {
        if side.hi == IntInterval::UNBOUNDED_ABOVE { representative(*side) } else { side.hi }
    };
    points.extend(sides.sides().iter().map(greatest));
}
