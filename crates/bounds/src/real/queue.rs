//! Parts of a region that wait for their turn, the most promising first.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::Arc;

use super::ascent::Multipliers;
use super::record::QueueNumber;
use crate::bound::Bend;

/// A box of the variables, where the arguments of some functions are on one side of a bend.
#[derive(Clone, Debug)]
pub(super) struct RealPart {
    /// Its number, where the search is recorded.
    pub number: usize,
    pub lo: Vec<f64>,
    pub hi: Vec<f64>,
    pub bends: Vec<Bend>,
    /// The number of times that planes alone made it smaller since it was split last.
    pub trims: u32,
    /// Those with which the bound was best before it was split.
    pub multipliers: Option<Arc<Multipliers>>,
}

impl RealPart {
    /// A box.
    pub fn of(lo: Vec<f64>, hi: Vec<f64>) -> Self {
        Self { number: 0, lo, hi, bends: Vec::new(), trims: 0, multipliers: None }
    }

    /// Returns whether no point is in it.
    pub fn is_empty(&self) -> bool {
        self.lo.iter().zip(&self.hi).any(|(lo, hi)| lo > hi)
    }
}

/// A way to split parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Strategy {
    /// Sides are cut until few functions bend: every cut makes all planes tighter, so it is the
    /// best for few variables and many functions. It alone may never end: not where bounds are
    /// attained on more than a few pieces.
    Sides,
    /// Functions are split at their bends: ends after finitely many parts.
    Bends,
}

/// A part that waits, with how far its whole is from satisfying the inequalities.
#[derive(Clone, Debug)]
struct Waiting {
    part: RealPart,
    distance: f64,
    order: u64,
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Waiting {}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Waiting {
    /// The nearest is the greatest, the latest among equals.
    fn cmp(&self, other: &Self) -> Ordering {
        other.distance.total_cmp(&self.distance).then(self.order.cmp(&other.order))
    }
}

/// Parts that cover what is left of the region.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    /// No other queue of the search has or had it.
    pub number: QueueNumber,
    pub strategy: Strategy,
    waiting: BinaryHeap<Waiting>,
    order: u64,
    /// Parts that are too small to be split.
    pub stuck: usize,
    /// Parts that were taken from it.
    pub taken: u64,
    /// The work spent on them, in linear forms.
    pub work: u64,
}

impl Queue {
    pub fn of(part: RealPart, strategy: Strategy, number: QueueNumber) -> Self {
        let first = Waiting { part, distance: f64::NEG_INFINITY, order: 0 };
        let waiting = BinaryHeap::from([first]);
        Self { number, strategy, waiting, order: 0, stuck: 0, taken: 0, work: 0 }
    }

    /// The same parts, to be split in another way.
    pub fn with_strategy(&self, strategy: Strategy, number: QueueNumber) -> Self {
        Self { number, strategy, taken: 0, work: 0, ..self.clone() }
    }

    pub fn push(&mut self, part: RealPart, distance: f64) {
        self.order += 1;
        self.waiting.push(Waiting { part, distance, order: self.order });
    }

    /// The most promising part.
    pub fn pop(&mut self) -> Option<RealPart> {
        let Waiting { part, .. } = self.waiting.pop()?;
        self.taken += 1;
        Some(part)
    }

    pub fn len(&self) -> usize {
        self.waiting.len()
    }
}
