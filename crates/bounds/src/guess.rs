//! Stage *guess*: points at which a witness is likely.

use std::collections::VecDeque;

use policert_numeric::{IntBox, IntInterval};

use crate::decision_map::Lead;
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
    pub fn keep(&mut self, output: usize, point: Box<[i64]>) {
        let kept = &mut self.witnesses[output];
        if kept.contains(&point) {
            return;
        }
        if kept.len() == KEPT {
            kept.pop_back();
        }
        kept.push_front(point);
    }

    /// The witnesses of an output, the latest first.
    pub fn of(&self, output: usize) -> impl Iterator<Item = &[i64]> {
        self.witnesses[output].iter().map(|point| &**point)
    }
}

/// How many points are judged at a time: as many as are evaluated side by side.
const BATCH: usize = 8;

/// Appends likely points of a box, up to a batch: the corners where the planes of its bounds are
/// least, its centre, earlier witnesses moved into it, and two corners.
pub(crate) fn candidates(
    sides: &IntBox,
    leads: &[Lead],
    memory: &Memory,
    output: usize,
    points: &mut Vec<i64>,
) {
    let limit = BATCH * sides.dimensions();
    points.reserve(2 * limit);
    let own = leads.iter().filter(|lead| lead.output == output);
    let others = leads.iter().filter(|lead| lead.output != output);
    for lead in own {
        points.extend(vertex(sides, lead));
    }
    points.extend(
        sides
            .sides()
            .iter()
            .map(|side| if side.is_bounded() { side.midpoint() } else { representative(*side) }),
    );
    for witness in memory.of(output).take(BATCH / 2) {
        points
            .extend(witness.iter().zip(sides.sides()).map(|(&x, side)| x.clamp(side.lo, side.hi)));
    }
    for lead in others {
        points.extend(vertex(sides, lead));
    }
    points.extend(sides.sides().iter().map(|side| representative(*side)));
    points.extend(sides.sides().iter().map(|side| greatest(*side)));
    points.truncate(limit);
}

/// The corner where the plane of a lead is least.
fn vertex(sides: &IntBox, lead: &Lead) -> impl Iterator<Item = i64> {
    let ends = sides.sides().iter().zip(&lead.axes);
    ends.map(|(&side, &(slope, _))| if slope < 0.0 { greatest(side) } else { representative(side) })
}

/// The greatest value of a side if there is one.
fn greatest(side: IntInterval) -> i64 {
    if side.hi == IntInterval::UNBOUNDED_ABOVE { representative(side) } else { side.hi }
}
