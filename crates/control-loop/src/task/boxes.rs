//! Boxes of a task: the grid of the cells, the initial boxes and their parts.

use policert_numeric::Rational;

use super::fields::{MAX_PARTS, reads_state_from};
use super::reader::Section;
use crate::error::ReachError;
use crate::grid::{Axis, Grid};

pub(super) fn grid(
    section: &Section<'_, '_>,
    n: usize,
) -> Result<(Option<Grid>, bool), ReachError> {
    let mut reads_state = false;
    if let Some(entry) = section.get("network_input") {
        reads_state = reads_state_from(&entry)?;
    }
    let mut axes = Vec::with_capacity(n);
    if let Some(edges) = section.get("edges") {
        for item in edges.items()? {
            let axis = Axis::new(item.numbers()?)
                .ok_or_else(|| item.error("at least two edges are needed, in increasing order"))?;
            axes.push(axis);
        }
        if axes.len() != n {
            return Err(edges.error(format!("{n} lists of edges are needed")));
        }
    } else {
        let lower = section.need("state_space_lower")?.exactly(n)?;
        let upper = section.need("state_space_upper")?.exactly(n)?;
        let widths = section.need("granularity")?;
        for ((lower, upper), width) in lower.iter().zip(&upper).zip(widths.exactly(n)?) {
            let axis = Axis::uniform(lower, upper, &width).ok_or_else(|| {
                widths
                    .error(format!("cells of width {width} from {lower} to {upper} are impossible"))
            })?;
            axes.push(axis);
        }
    }
    section.finish(&[])?;
    Ok((Some(Grid::new(axes)), reads_state))
}

/// The initial box and where it is cut.
pub(super) type Initial = (Vec<(Rational, Rational)>, Vec<Vec<Rational>>);

pub(super) fn initial(section: &Section<'_, '_>, n: usize) -> Result<Initial, ReachError> {
    let lower = section.need("lower")?;
    let bounds: Vec<_> =
        lower.exactly(n)?.into_iter().zip(section.need("upper")?.exactly(n)?).collect();
    if bounds.iter().any(|(lower, upper)| lower > upper) {
        return Err(lower.error("a lower bound is above the upper one"));
    }
    let Some(entry) = section.get("partition_step") else {
        let whole = bounds.iter().map(|(lower, upper)| cuts(lower, upper, None)).collect();
        section.finish(&["subproblems"])?;
        return Ok((bounds, whole));
    };
    let steps = entry.exactly(n)?;
    let mut partition = Vec::with_capacity(n);
    let mut parts = 1usize;
    for ((lower, upper), step) in bounds.iter().zip(&steps) {
        let count = if step.signum() > 0 {
            (upper - lower).checked_div(step).and_then(|parts| parts.ceil().to_i64())
        } else {
            None
        };
        parts = count
            .and_then(|count| parts.checked_mul(usize::try_from(count.max(1)).ok()?))
            .filter(|parts| *parts <= MAX_PARTS)
            .ok_or_else(|| entry.error("this partition is impossible, or has too many parts"))?;
        partition.push(cuts(lower, upper, Some(step)));
    }
    section.finish(&["subproblems"])?;
    Ok((bounds, partition))
}

/// From `lower` to `upper` in steps.
fn cuts(lower: &Rational, upper: &Rational, step: Option<&Rational>) -> Vec<Rational> {
    let mut cuts = vec![lower.clone()];
    if let Some(step) = step {
        let mut next = lower + step;
        while next < *upper {
            cuts.push(next.clone());
            next = &next + step;
        }
    }
    cuts.push(upper.clone());
    cuts
}
