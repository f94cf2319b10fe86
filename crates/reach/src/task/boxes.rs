//! Boxes of a task: the grid of the cells, the initial boxes and their parts, goal and unsafe regions.

use policert_numeric::Rational;

use super::fields::{MAX_PARTS, reads_state_from};
use super::reader::Section;
use crate::error::ReachError;
use crate::grid::{Axis, Grid};
use crate::region::{Border, LoopRegion};

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

pub(super) fn region(
    section: &Section<'_, '_>,
    state: &[String],
) -> Result<LoopRegion, ReachError> {
    let n = state.len();
    let most = u32::try_from(n).unwrap_or(u32::MAX);
    let variables = match section.get("variables") {
        None => (0..n).collect(),
        Some(entry) => {
            let mut variables = Vec::new();
            let items = entry.items()?;
            if items.is_empty() {
                return Err(entry.error("no variables: all states would belong to the region"));
            }
            for item in items {
                // By position, counted from 1, or by name.
                let named = item.text().ok().map(|name| {
                    state
                        .iter()
                        .position(|known| known == name)
                        .ok_or_else(|| item.error(format!("there is no variable `{name}`")))
                });
                let variable = match named {
                    Some(position) => position?,
                    None => item.count(1, most)? as usize - 1,
                };
                if variables.contains(&variable) {
                    let name = &state[variable];
                    return Err(item.error(format!("`{name}` is bounded twice")));
                }
                variables.push(variable);
            }
            variables
        }
    };
    let lower = section.need("lower")?;
    let upper = section.need("upper")?.exactly(variables.len())?;
    let sides: Vec<_> = variables
        .into_iter()
        .zip(lower.exactly(upper.len())?.into_iter().zip(upper))
        .map(|(variable, (lower, upper))| (variable, lower, upper))
        .collect();
    if sides.iter().any(|(_, lower, upper)| lower > upper) {
        return Err(lower.error("a lower bound is above the upper one"));
    }
    let border = match section.get("boundary") {
        None => Border::Closed,
        Some(entry) => match entry.text()? {
            "closed" => Border::Closed,
            "open" if sides.iter().any(|(_, lower, upper)| lower == upper) => {
                let message = "an open region without width contains no state";
                return Err(lower.error(message));
            }
            "open" => Border::Open,
            _ => return Err(entry.error("`boundary` is \"closed\" or \"open\"")),
        },
    };
    section.finish(&["same_as_paper_table_2", "training_goal", "tested_by_published_code"])?;
    Ok(LoopRegion::new(sides, border))
}
