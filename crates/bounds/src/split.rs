//! Stage *split*: where a box is cut.

use policert_numeric::IntBox;

/// A cut: values up to `at` on one side, greater ones on the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Cut {
    pub axis: usize,
    pub at: i64,
}

/// A query that needs less than this share of a box has it cut down first.
const TRIM_BELOW: f64 = 0.5;

/// The cut that removes most of what a query does not need of a box; `None` if it needs about
/// all of it.
pub(crate) fn trim(sides: &IntBox, needed: &IntBox) -> Option<Cut> {
    let mut share = 1.0;
    let mut best: Option<(u64, u64, Cut)> = None;
    for axis in 0..sides.dimensions() {
        let (side, part) = (sides[axis], needed[axis]);
        let width = side.lo.abs_diff(side.hi);
        let (below, above) = (side.lo.abs_diff(part.lo), part.hi.abs_diff(side.hi));
        if below == 0 && above == 0 {
            continue;
        }
        #[expect(clippy::cast_precision_loss, reason = "a heuristic")]
        let kept = (part.lo.abs_diff(part.hi) as f64 + 1.0) / (width as f64 + 1.0);
        share *= kept;
        let (gap, at) = if below >= above { (below, part.lo - 1) } else { (above, part.hi) };
        // gap / width is the greatest
        let better = best.is_none_or(|(other, of, _)| {
            u128::from(gap) * u128::from(of) > u128::from(other) * u128::from(width)
        });
        if better {
            best = Some((gap, width, Cut { axis, at }));
        }
    }
    if share < TRIM_BELOW { best.map(|(_, _, cut)| cut) } else { None }
}

/// The cut through the middle of the axis with the greatest influence, the widest one where
/// there is none; `None` for a single point.
pub(crate) fn halve(
    sides: &IntBox,
    needed: &IntBox,
    allowed: impl Fn(usize) -> bool,
    influence: impl Fn(usize) -> f64,
) -> Option<Cut> {
    let mut best: Option<(f64, u64, usize)> = None;
    for axis in 0..sides.dimensions() {
        let width = sides[axis].lo.abs_diff(sides[axis].hi);
        if width == 0 || !allowed(axis) {
            continue;
        }
        let influence = influence(axis);
        let influence = if influence.is_finite() { influence } else { 0.0 };
        let better = best.is_none_or(|(most, widest, _)| {
            influence > most || (influence >= most && width > widest)
        });
        if better {
            best = Some((influence, width, axis));
        }
    }
    let (_, _, axis) = best?;
    let part = if needed[axis].is_point() { sides[axis] } else { needed[axis] };
    Some(Cut { axis, at: part.midpoint() })
}
