//! Stage *guess*: points at which a witness is likely.

use policert_numeric::{IntBox, IntInterval};

use crate::decision_map::Lead;
use crate::memory::Memory;
use crate::query::representative;

/// The number of points that are judged at a time: as many as are evaluated side by side.
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
