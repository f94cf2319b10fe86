//! Goals and unsafe sets against boxes of states: does all of a box lie in one, may part of it?

use std::cmp::Ordering;

use policert_control_loop::{
    Border, BoxEdge, Comparisons, ExpressionGraph, LoopRegion, UnsafeSet, UnsafeSide,
};
use policert_numeric::{Interval, Rational};

use super::formulas::Formula;

/// The values of a variable in a box.
pub trait LoopSide {
    /// Returns how the least one compares with an exact number.
    fn lower_cmp(&self, edge: &BoxEdge) -> Ordering;
    /// Returns how the greatest one compares with an exact number.
    fn upper_cmp(&self, edge: &BoxEdge) -> Ordering;
    /// Doubles around them.
    fn outer(&self) -> Interval;
}

impl LoopSide for Interval {
    fn lower_cmp(&self, edge: &BoxEdge) -> Ordering {
        edge.compare(self.lo())
    }

    fn upper_cmp(&self, edge: &BoxEdge) -> Ordering {
        edge.compare(self.hi())
    }

    fn outer(&self) -> Interval {
        *self
    }
}

/// Of the initial box, whose bounds are exact.
impl LoopSide for (Rational, Rational) {
    fn lower_cmp(&self, edge: &BoxEdge) -> Ordering {
        self.0.cmp(edge.exact())
    }

    fn upper_cmp(&self, edge: &BoxEdge) -> Ordering {
        self.1.cmp(edge.exact())
    }

    fn outer(&self) -> Interval {
        Interval::enclosing(&self.0).hull(Interval::enclosing(&self.1))
    }
}

/// Bounds of formulas over a set of states that are tighter than those over the box around it, if they are known.
pub(super) type Tighter<'a> = &'a dyn Fn(&Formula) -> Option<Interval>;

/// A region with its condition compiled.
#[derive(Debug)]
pub(super) struct Set<'t> {
    region: &'t LoopRegion,
    condition: Option<Condition>,
    /// The first step at which it counts; of a set to be avoided.
    pub from_step: u32,
    side: UnsafeSide,
}

impl<'t> Set<'t> {
    pub fn new(region: &'t LoopRegion, variables: usize) -> Self {
        let condition = region.condition().map(|condition| {
            let (graph, comparisons) = condition.comparisons();
            Condition::new(graph, comparisons, variables)
        });
        Self { region, condition, from_step: 0, side: UnsafeSide::Inside }
    }

    /// A set to be avoided.
    pub fn avoided(set: &'t UnsafeSet, variables: usize) -> Self {
        let UnsafeSet { region, side, from_step } = set;
        Self { from_step: *from_step, side: *side, ..Self::new(region, variables) }
    }

    /// Returns whether part of a box may be unsafe.
    pub fn may_be_met<S: LoopSide>(&self, state: &[S], tighter: Tighter<'_>) -> bool {
        self.truth(state, tighter) != Some(self.side == UnsafeSide::Outside)
    }

    /// Returns whether all of a box is unsafe for certain.
    pub fn is_met<S: LoopSide>(&self, state: &[S], tighter: Tighter<'_>) -> bool {
        self.truth(state, tighter) == Some(self.side == UnsafeSide::Inside)
    }

    /// Returns whether all of a box lies in the region, or nothing of it; `None` if neither is certain.
    pub fn truth<S: LoopSide>(&self, state: &[S], tighter: Tighter<'_>) -> Option<bool> {
        if let Some(condition) = &self.condition {
            return condition.truth(&outer(state), tighter);
        }
        let is_open = self.region.border() == Some(Border::Open);
        let is_beyond = |order: Ordering| match order {
            Ordering::Less => false,
            Ordering::Equal => !is_open,
            Ordering::Greater => true,
        };
        let mut all = true;
        for side in self.region.sides()? {
            let range = &state[side.variable];
            let [low, high] = [&side.lower, &side.upper]
                .map(|edge| [range.lower_cmp(edge), range.upper_cmp(edge)]);
            if !is_beyond(low[1]) || !is_beyond(high[0].reverse()) {
                return Some(false);
            }
            all &= is_beyond(low[0]) && is_beyond(high[1].reverse());
        }
        all.then_some(true)
    }
}

pub(super) fn outer<S: LoopSide>(state: &[S]) -> Vec<Interval> {
    state.iter().map(LoopSide::outer).collect()
}

#[derive(Debug)]
enum Condition {
    Always(bool),
    Below {
        strict: bool,
        formula: Box<Formula>,
    },
    /// One for `all`, or one of them.
    Parts {
        all: bool,
        parts: Vec<Condition>,
    },
}

impl Condition {
    fn new(graph: &ExpressionGraph, comparisons: &Comparisons, variables: usize) -> Self {
        let list = |parts: &[Comparisons]| {
            parts.iter().map(|part| Self::new(graph, part, variables)).collect()
        };
        match comparisons {
            Comparisons::Always(value) => Self::Always(*value),
            Comparisons::Below { strict, expression } => Self::Below {
                strict: *strict,
                formula: Box::new(Formula::new(graph, *expression, variables)),
            },
            Comparisons::All(parts) => Self::Parts { all: true, parts: list(parts) },
            Comparisons::Any(parts) => Self::Parts { all: false, parts: list(parts) },
        }
    }

    /// Returns whether it holds everywhere in a box, or nowhere; `None` if that is not known.
    fn truth(&self, state: &[Interval], tighter: Tighter<'_>) -> Option<bool> {
        match self {
            Self::Always(value) => Some(*value),
            Self::Below { strict, formula } => {
                let value = formula.range(state)?;
                let value =
                    tighter(formula).and_then(|other| value.intersection(other)).unwrap_or(value);
                let (holds, fails) = match strict {
                    true => (value.hi() < 0.0, value.lo() >= 0.0),
                    false => (value.hi() <= 0.0, value.lo() > 0.0),
                };
                (holds || fails).then_some(holds)
            }
            Self::Parts { all, parts } => {
                let truths: Vec<Option<bool>> =
                    parts.iter().map(|part| part.truth(state, tighter)).collect();
                if truths.contains(&Some(!all)) {
                    return Some(!all);
                }
                truths.iter().all(Option::is_some).then_some(*all)
            }
        }
    }
}
