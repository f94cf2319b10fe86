//! `aggregate`: merging adjacent boxes (BBReach, Algorithm 2).
//!
//! Input: boxes; output: boxes that cover them.
//!
//! | paper | here |
//! |---|---|
//! | flag | `merged` |
//! | M, getAdjacent | [`Relations::adjacent`], for the candidates of an index |
//! | aggInterval | the hull of ranges |
//! | h | `distances` |
//!
//! Deviations:
//! - D1: a box is marked when it is queued, not when it leaves the queue; so it is queued once.
//! - D2: the separation relation asks for a gap from 0 to h. As written, with "or", one of the two
//!   differences is negative for all boxes, and the relation holds for every pair whose other
//!   sides are close. [`Relations::AsWritten`] keeps that for studies.
//! - D3: inclusion is containment in all variables. As written, boxes that cross count as well.
//! - D4: "there is exactly one d" is read as: there is a d such that the relation of d holds and
//!   all other sides are close. Literally, close sides that also overlap would exclude most pairs.
//! - D5: with many boxes, candidates come from an order by one variable instead of a matrix of all
//!   pairs.

use policert_control_loop::ClosedRange;
use policert_engine_api::{Budget, StopReason};
use policert_numeric::Interval;

/// Says which relations make boxes adjacent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Relations {
    /// As the paper means them.
    #[default]
    Meant,
    /// As the paper writes them.
    AsWritten,
}

/// From this many boxes on, candidates come from an index.
const INDEX_FROM: usize = 16;

/// So many pairs are compared between two looks at the budget.
const PAIRS_PER_POLL: usize = 1 << 14;

impl Relations {
    /// Returns whether two boxes are adjacent.
    #[inline]
    #[must_use]
    pub fn adjacent(self, a: &[Interval], b: &[Interval], distances: &[f64]) -> bool {
        match self {
            Self::Meant => adjacent_as_meant(a, b, distances),
            Self::AsWritten => adjacent_as_written(a, b, distances),
        }
    }
}

#[inline]
fn close(a: Interval, b: Interval, distance: f64) -> bool {
    (a.lo() - b.lo()).abs() <= distance && (a.hi() - b.hi()).abs() <= distance
}

#[inline]
fn staggered(a: Interval, b: Interval) -> bool {
    (b.lo() <= a.lo() && a.lo() <= b.hi() && b.hi() <= a.hi())
        || (a.lo() <= b.lo() && b.lo() <= a.hi() && a.hi() <= b.hi())
}

#[inline]
fn separate(a: Interval, b: Interval, distance: f64) -> bool {
    let (left, right) = (a.lo() - b.hi(), b.lo() - a.hi());
    (0.0..=distance).contains(&left) || (0.0..=distance).contains(&right)
}

#[inline]
fn adjacent_as_meant(a: &[Interval], b: &[Interval], distances: &[f64]) -> bool {
    // Without branches until all sides were compared: most pairs are not adjacent.
    let (mut far, mut at) = (0u32, 0);
    let (mut contains, mut contained) = (true, true);
    for (i, ((&a, &b), &distance)) in a.iter().zip(b).zip(distances).enumerate() {
        let (low, high) = (a.lo() - b.lo(), a.hi() - b.hi());
        let is_far = !((low.abs() <= distance) & (high.abs() <= distance));
        far += u32::from(is_far);
        at = if is_far { i } else { at };
        contains &= (low <= 0.0) & (high >= 0.0);
        contained &= (low >= 0.0) & (high <= 0.0);
    }
    if contains || contained {
        return true;
    }
    let related = |i: usize| staggered(a[i], b[i]) || separate(a[i], b[i], distances[i]);
    match far {
        0 => (0..a.len()).any(related),
        1 => related(at),
        _ => false,
    }
}

fn adjacent_as_written(a: &[Interval], b: &[Interval], distances: &[f64]) -> bool {
    if a.iter().zip(b).all(|(a, b)| a.includes(b) || b.includes(a)) {
        return true;
    }
    let all_close_but = |d: usize| (0..a.len()).all(|i| i == d || close(a[i], b[i], distances[i]));
    (0..a.len()).any(|d| {
        let apart = a[d].lo() - b[d].hi() <= distances[d] || b[d].lo() - a[d].hi() <= distances[d];
        (apart || staggered(a[d], b[d])) && all_close_but(d)
    })
}

/// Says which boxes are adjacent.
#[derive(Clone, Copy, Debug)]
pub struct Adjacency<'a> {
    /// For each variable, how far apart boxes may be.
    pub distances: &'a [f64],
    /// By which relations.
    pub relations: Relations,
}

/// Work space of [`aggregate`].
#[derive(Debug, Default)]
pub struct Aggregation {
    outer: Vec<Interval>,
    merged: Vec<bool>,
    queue: Vec<usize>,
    order: Vec<usize>,
    /// Lower bounds of the first variable, in order.
    keys: Vec<f64>,
}

/// Merges the adjacent ones among boxes of `dimension` ranges each, which follow one another in
/// `boxes`; results are in the order of their first boxes. `kinds` has one mark for each box, or
/// none at all; only boxes with one mark are merged. The first `keep` ranges stay as they are.
///
/// # Errors
/// If the budget runs out; the boxes are of no use then.
pub fn aggregate<R: ClosedRange>(
    all: &mut Vec<R>,
    keep: usize,
    kinds: &mut Vec<bool>,
    Adjacency { distances, relations }: Adjacency<'_>,
    work: &mut Aggregation,
    budget: &mut Budget,
) -> Result<(), StopReason> {
    let dimension = distances.len();
    let Some(boxes) = all.get_mut(keep..) else { return Ok(()) };
    let count = boxes.len() / dimension.max(1);
    if count < 2 {
        return Ok(());
    }
    work.outer.clear();
    work.outer.extend(boxes.iter().map(ClosedRange::to_interval));
    // l.1, l.2
    work.merged.clear();
    work.merged.resize(count, false);
    let indexed = count >= INDEX_FROM;
    let greatest_width = if indexed { work.sort(dimension) } else { 0.0 };
    let (mut kept, mut compared) = (0, 0);
    // l.3, l.4
    for first in 0..count {
        if work.merged[first] {
            continue;
        }
        // l.5
        work.merged[first] = true;
        work.queue.clear();
        work.queue.push(first);
        let mut next = 0;
        // l.6 to l.13; the box of `first` grows where it stands.
        while let Some(&current) = work.queue.get(next) {
            next += 1;
            let side = work.outer[current * dimension];
            let reach = distances[0].max(0.0);
            let (from, to) = if indexed {
                let least = side.lo() - greatest_width - reach;
                let most = side.hi() + reach;
                (
                    work.keys.partition_point(|&key| key < least),
                    work.keys.partition_point(|&key| key <= most),
                )
            } else {
                (first + 1, count)
            };
            let own = current * dimension..(current + 1) * dimension;
            compared += to - from;
            if compared >= PAIRS_PER_POLL {
                compared = 0;
                budget.poll_clock()?;
            }
            for position in from..to {
                let other = if indexed { work.order[position] } else { position };
                if work.merged[other] || (!kinds.is_empty() && kinds[other] != kinds[first]) {
                    continue;
                }
                let candidate = &work.outer[other * dimension..(other + 1) * dimension];
                if relations.adjacent(&work.outer[own.clone()], candidate, distances) {
                    work.merged[other] = true;
                    work.queue.push(other);
                    for i in 0..dimension {
                        let hull = boxes[first * dimension + i].hull(&boxes[other * dimension + i]);
                        boxes[first * dimension + i] = hull;
                    }
                }
            }
        }
        // l.14
        for i in 0..dimension {
            boxes.swap(kept * dimension + i, first * dimension + i);
        }
        if !kinds.is_empty() {
            kinds.swap(kept, first);
        }
        kept += 1;
    }
    all.truncate(keep + kept * dimension);
    kinds.truncate(kept.min(kinds.len()));
    Ok(())
}

impl Aggregation {
    /// Orders the boxes by their lower bound of the first variable; the greatest width there.
    fn sort(&mut self, dimension: usize) -> f64 {
        let outer = &self.outer;
        let count = outer.len() / dimension;
        self.order.clear();
        self.order.extend(0..count);
        self.order
            .sort_by(|&a, &b| outer[a * dimension].lo().total_cmp(&outer[b * dimension].lo()));
        self.keys.clear();
        self.keys.extend(self.order.iter().map(|&i| outer[i * dimension].lo()));
        (0..count).map(|i| outer[i * dimension].width()).fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests;
