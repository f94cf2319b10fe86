//! Generalised refutations: an output that is chosen nowhere in a box is, most of the time, chosen
//! nowhere in a larger one. The larger boxes are kept for later queries, and are what an engine
//! learns from a refutation (a reason of IC3).

use policert_engine_api::{Budget, StopReason};
use policert_model::Truth;
use policert_numeric::IntBox;

use crate::bound::Compared;
use crate::frame::RegionFrame;
use crate::inputs::Inputs;
use crate::prepared::{PreparedPolicy, ScoreBounds};

/// Refuted boxes that are kept for each output.
const KEPT: usize = 512;
/// Halvings of the way by which a side is widened.
const HALVINGS: usize = 6;

/// For each output the boxes (along the axes) in which it is chosen nowhere, the most useful
/// first.
#[derive(Debug)]
pub(crate) struct Refutations {
    boxes: Vec<Vec<IntBox>>,
}

impl Refutations {
    pub fn new(outputs: usize) -> Self {
        Self { boxes: vec![Vec::new(); outputs] }
    }

    /// A known box around this one.
    pub fn around(&mut self, output: usize, sides: &IntBox) -> Option<&IntBox> {
        let boxes = self.boxes.get_mut(output)?;
        let found = boxes.iter().position(|known| known.includes(sides))?;
        boxes[..=found].rotate_right(1);
        boxes.first()
    }

    /// Keeps a box in place of those inside it; the least useful one is forgotten.
    pub fn keep(&mut self, output: usize, sides: &IntBox) {
        let boxes = &mut self.boxes[output];
        boxes.retain(|known| !sides.includes(known));
        boxes.truncate(KEPT - 1);
        boxes.insert(0, sides.clone());
    }
}

/// The result of bounding a box.
struct Bounded {
    refuted: bool,
    /// For each axis how much the bound depends on its width.
    influence: Vec<f64>,
}

/// Widens a refuted box; `None` where a side that it could have is unbounded.
pub(crate) fn widen(
    prepared: &mut PreparedPolicy<'_>,
    output: usize,
    inner: &IntBox,
    outer: &IntBox,
    budget: &mut Budget,
) -> Result<Option<IntBox>, StopReason> {
    if output >= prepared.applicable.len() || outer.sides().iter().any(|side| !side.is_bounded()) {
        return Ok(None);
    }
    let mut outer = outer.clone();
    outer.hull_with(inner);
    let frame = match &prepared.function {
        ScoreBounds::Network(network) => {
            Some(network.frame(&Inputs::new(&prepared.axes.reads, &outer)))
        }
        ScoreBounds::Trees(_) => None,
    };
    let frame = frame.as_ref();
    let mut current = inner.clone();
    let bounded = bound_alone(prepared, frame, output, &current, budget)?;
    if bounded.refuted {
        let width = |axis: usize| outer[axis].lo.abs_diff(outer[axis].hi);
        #[expect(clippy::cast_precision_loss, reason = "a heuristic")]
        let cost = |axis: usize| bounded.influence[axis] * width(axis) as f64;
        let mut order: Vec<usize> = (0..current.dimensions()).collect();
        order.sort_by(|&a, &b| cost(a).total_cmp(&cost(b)));
        for axis in order {
            for upwards in [false, true] {
                let side = (axis, upwards);
                widen_side(prepared, frame, output, &mut current, &outer, side, budget)?;
            }
        }
    }
    Ok(Some(current))
}

/// Widens one end of a side as far as the bound refutes: all the way, or by halvings of it.
fn widen_side(
    prepared: &mut PreparedPolicy<'_>,
    frame: Option<&RegionFrame>,
    output: usize,
    current: &mut IntBox,
    outer: &IntBox,
    (axis, upwards): (usize, bool),
    budget: &mut Budget,
) -> Result<(), StopReason> {
    let (side, most) = (current[axis], outer[axis]);
    let (mut near, mut far) = if upwards { (side.hi, most.hi) } else { (side.lo, most.lo) };
    let mut target = far;
    for _ in 0..=HALVINGS {
        if target == near {
            break;
        }
        let mut wider = current.clone();
        if upwards {
            wider[axis].hi = target
        } else {
            wider[axis].lo = target
        }
        budget.poll()?;
        if bound_alone(prepared, frame, output, &wider, budget)?.refuted {
            *current = wider;
            near = target;
        } else {
            far = target;
        }
        if near == far {
            break;
        }
        target = near.midpoint(far);
    }
    Ok(())
}

/// Bounds the lead of the output's rivals over a box, without splits.
fn bound_alone(
    prepared: &mut PreparedPolicy<'_>,
    frame: Option<&RegionFrame>,
    output: usize,
    sides: &IntBox,
    budget: &mut Budget,
) -> Result<Bounded, StopReason> {
    let states = prepared.states(sides);
    let filtered = prepared.is_filtered();
    let truth = |at: usize| match filtered {
        true => prepared.applicable[at].truth(&states),
        false => Truth::True,
    };
    let mut best = Bounded { refuted: truth(output) == Truth::False, influence: Vec::new() };
    best.influence = vec![0.0; sides.dimensions()];
    if best.refuted {
        return Ok(best);
    }
    let pairs: Vec<(usize, usize)> = (0..prepared.applicable.len())
        .filter(|&rival| rival != output && truth(rival) == Truth::True)
        .map(|rival| (rival, output))
        .collect();
    prepared.statistics.bounds += 1;
    let policy = prepared.policy;
    let ranges = prepared.input_ranges(sides);
    let network = match (&mut prepared.function, frame) {
        (ScoreBounds::Network(network), Some(frame)) => {
            let inputs = Inputs::new(&prepared.axes.reads, sides);
            let compared = Compared { pairs: &pairs, certain: pairs.len() };
            network.bounder.enter(frame, (&inputs.lo, &inputs.hi), compared, budget)?;
            network
        }
        (ScoreBounds::Trees(trees), _) => {
            trees.enter(ranges);
            best.refuted |= pairs.iter().any(|&(rival, output)| {
                policy.requires(output, rival).is_excluded_by_units(trees.lower(rival, output))
            });
            return Ok(best);
        }
        (ScoreBounds::Network(_), None) => return Ok(best),
    };
    let Some(frame) = frame else { return Ok(best) };
    let reads = &prepared.axes.reads;
    let mut most = f64::NEG_INFINITY;
    network.bounder.differences(frame, &pairs, budget, &mut |difference| {
        let required = policy.requires(output, difference.greater);
        best.refuted |= required.is_excluded_by(difference.lower);
        if difference.lower > most {
            most = difference.lower;
            let mut slopes = vec![0.0; reads.len()];
            let mut influence = vec![0.0; reads.len()];
            difference.add_plane(&mut slopes, &mut influence);
            best.influence.fill(0.0);
            for (&axis, by) in reads.iter().zip(influence) {
                best.influence[axis] += by;
            }
        }
    })?;
    Ok(best)
}
