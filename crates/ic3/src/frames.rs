//! Frames: what is known of the states that reach an unsafe state within a number of steps.

mod index;

use policert_model::State;
use policert_numeric::{IntBox, IntInterval};

use self::index::BoxIndex;
use crate::Generalized;

/// The last frame of a clause that is in all of them, whatever N: no state of its reason reaches
/// an unsafe state at all. As a frame, the states that no such clause excludes.
pub const FOREVER: usize = usize::MAX;

/// The frames ℱ₁ to ℱ_N, and ℱ_{N+1} while it is open.
///
/// A clause ¬r of ℱₙ says that no state of the reason r reaches an unsafe state within n steps. As
/// ℱₙ then holds the clauses of all later frames too, each reason is stored once, with the last
/// frame whose clause it is. ℱ₀ is the unsafe condition; it is not stored here.
#[derive(Clone, Debug)]
pub struct Frames {
    domains: IntBox,
    reasons: Vec<Reason>,
    index: BoxIndex,
    /// N.
    limit: usize,
    /// Reasons that were blocked so far.
    added: u64,
    /// Reasons that were dropped because a larger one is as good.
    subsumed: u64,
}

/// A reason r with the last frame that has the clause ¬r.
#[derive(Clone, Debug)]
pub struct Reason {
    /// Its states.
    pub sides: IntBox,
    /// The sides that are not those of the domains.
    bounds: Vec<(usize, IntInterval)>,
    /// The last frame with its clause.
    pub last: usize,
    /// A state in which a transition begins that kept the clause out of the next frame, with its
    /// successors.
    pub escape: Option<Escape>,
}

/// A state with its successors under the policy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Escape {
    pub state: State,
    pub successors: Vec<State>,
}

impl Reason {
    /// Returns whether a state of the model satisfies it.
    fn contains(&self, state: &[i64]) -> bool {
        self.bounds.iter().all(|&(d, side)| side.contains(state[d]))
    }

    /// The variable whose value in a state it lacks, if that is the only one.
    pub(crate) fn lacks_one(&self, state: &[i64]) -> Option<usize> {
        let mut lacking = self.bounds.iter().filter(|&&(d, side)| !side.contains(state[d]));
        let &(first, _) = lacking.next()?;
        lacking.next().is_none().then_some(first)
    }

    /// Returns whether a box of states of the model lies in it.
    fn includes(&self, sides: &IntBox) -> bool {
        self.bounds.iter().all(|&(d, side)| side.includes(sides[d])) || sides.is_empty()
    }
}

impl Frames {
    /// ℱ₁ without clauses, N = 1, over states of these domains.
    #[must_use]
    pub fn new(domains: IntBox) -> Self {
        let index = BoxIndex::new(&domains);
        Self { domains, reasons: Vec::new(), index, limit: 1, added: 0, subsumed: 0 }
    }

    /// N, the limit on the length of paths.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Raises N by one.
    pub fn advance(&mut self) {
        self.limit += 1;
    }

    /// Sets N. Frames without clauses are as good as any, so N may begin anywhere.
    pub fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
    }

    /// Adds the clause ¬r to the frames 1 to `last`. Reasons inside r whose clauses reach no
    /// further are dropped.
    pub fn add(&mut self, sides: IntBox, last: usize) {
        self.added += 1;
        if self.including(last, &sides).is_some() {
            self.subsumed += 1;
            return;
        }
        for i in (0..self.reasons.len()).rev() {
            let reason = &self.reasons[i];
            if reason.last <= last && sides.includes(&reason.sides) {
                self.subsumed += 1;
                self.remove(i);
            }
        }
        let pairs = sides.sides().iter().zip(self.domains.sides()).enumerate();
        let bounded = pairs.filter(|(_, (side, all))| !side.includes(**all));
        let bounds = bounded.map(|(d, (&side, _))| (d, side)).collect();
        self.index.insert(self.reasons.len(), &sides);
        self.reasons.push(Reason { sides, bounds, last, escape: None });
    }

    /// Adds the clauses of reasons that were found together.
    pub fn add_all(&mut self, found: Generalized) {
        for sides in found.reasons {
            self.add(sides, found.frame.saturating_add(1));
        }
    }

    fn remove(&mut self, index: usize) {
        let end = self.reasons.len() - 1;
        self.index.remove(index);
        if index != end {
            self.index.remove(end);
            self.index.insert(index, &self.reasons[end].sides);
        }
        self.reasons.swap_remove(index);
    }

    /// Moves a clause of ℱₘ, where it was last, into ℱ_{m+1}.
    pub fn push(&mut self, index: usize) {
        let reason = &mut self.reasons[index];
        reason.last += 1;
        reason.escape = None;
    }

    /// Drops the reasons that lie in another one whose clause reaches as far.
    pub fn subsume(&mut self) {
        for i in (0..self.reasons.len()).rev() {
            let reason = &self.reasons[i];
            let covering = self.find(&reason.sides, |other, index| {
                // Of equal ones the first is kept.
                index != i
                    && other.last >= reason.last
                    && (index < i || other.last > reason.last || other.sides != reason.sides)
            });
            if covering.is_some() {
                self.subsumed += 1;
                self.remove(i);
            }
        }
    }

    /// The latest reason that includes a box, of those that are accepted.
    fn find(&self, sides: &IntBox, accepts: impl Fn(&Reason, usize) -> bool) -> Option<usize> {
        let sides_of = |d: usize| (sides[d].lo, sides[d].hi);
        self.index.find(sides_of, |i| {
            let reason = &self.reasons[i];
            reason.includes(sides) && accepts(reason, i)
        })
    }

    /// Remembers what keeps a clause out of the next frame.
    pub fn set_escape(&mut self, index: usize, escape: Option<Escape>) {
        self.reasons[index].escape = escape;
    }

    /// All reasons.
    #[must_use]
    pub fn reasons(&self) -> &[Reason] {
        &self.reasons
    }

    /// The reasons whose clauses are in ℱₙ.
    pub fn of_frame(&self, frame: usize) -> impl Iterator<Item = &IntBox> {
        self.reasons.iter().filter(move |r| r.last >= frame).map(|r| &r.sides)
    }

    /// A reason of ℱₙ that holds in `state`; `None` means s ⊨ ℱₙ. For n ≥ 1.
    #[must_use]
    pub fn blocking(&self, frame: usize, state: &[i64]) -> Option<&IntBox> {
        let found = self.index.find(
            |d| (state[d], state[d]),
            |i| self.reasons[i].last >= frame && self.reasons[i].contains(state),
        );
        found.map(|i| &self.reasons[i].sides)
    }

    /// A reason of ℱₙ that includes a whole box. For n ≥ 1.
    #[must_use]
    pub fn including(&self, frame: usize, sides: &IntBox) -> Option<&IntBox> {
        let found = if sides.is_empty() {
            self.reasons.iter().position(|reason| reason.last >= frame)
        } else {
            self.find(sides, |reason, _| reason.last >= frame)
        };
        found.map(|i| &self.reasons[i].sides)
    }

    /// The least n ≤ N with ℱₙ = ℱ_{n+1}, once ℱ_{N+1} is open and clauses were propagated.
    #[must_use]
    pub fn fixpoint(&self) -> Option<usize> {
        (1..=self.limit).find(|&n| self.reasons.iter().all(|r| r.last != n))
    }

    /// Number of reasons added so far.
    #[must_use]
    pub fn added(&self) -> u64 {
        self.added
    }

    /// Number of reasons that were dropped because a larger one is as good.
    #[must_use]
    pub fn subsumed(&self) -> u64 {
        self.subsumed
    }
}

#[cfg(test)]
mod tests {
    use policert_numeric::IntInterval;

    use super::*;

    fn sides(lo: i64, hi: i64) -> IntBox {
        IntBox::new(vec![IntInterval::new(lo, hi)])
    }

    #[test]
    fn a_clause_belongs_to_all_frames_up_to_its_last() {
        let mut frames = Frames::new(sides(0, 9));
        frames.advance();
        frames.add(sides(0, 3), 1);
        frames.add(sides(2, 5), 2);
        assert!(frames.blocking(1, &[1]).is_some() && frames.blocking(2, &[1]).is_none());
        assert!(frames.blocking(1, &[4]).is_some() && frames.blocking(2, &[4]).is_some());
        assert!(frames.including(1, &sides(2, 5)).is_some());
        assert!(frames.including(1, &sides(1, 5)).is_none(), "two reasons together are not one");
        assert_eq!(frames.of_frame(2).count(), 1);
    }

    #[test]
    fn larger_reasons_that_reach_as_far_replace_smaller_ones() {
        let mut frames = Frames::new(sides(0, 9));
        frames.add(sides(0, 1), 1);
        frames.add(sides(0, 4), 1);
        assert_eq!((frames.reasons().len(), frames.subsumed()), (1, 1));
        frames.add(sides(1, 2), 1);
        assert_eq!((frames.reasons().len(), frames.subsumed()), (1, 2));
        frames.add(sides(1, 2), 2);
        assert_eq!(frames.reasons().len(), 2);
        frames.push(0);
        frames.subsume();
        assert_eq!(frames.reasons().len(), 1);
        assert_eq!(frames.reasons()[0].sides, sides(0, 4));
    }

    #[test]
    fn equal_reasons_keep_one_another_once() {
        let mut frames = Frames::new(sides(0, 9));
        frames.add(sides(0, 1), 1);
        frames.add(sides(0, 1), 2);
        frames.add(sides(5, 6), 1);
        frames.push(frames.reasons().iter().position(|r| r.last == 1).expect("it is there"));
        frames.subsume();
        assert_eq!(frames.reasons().len(), 2);
    }

    #[test]
    fn a_fixpoint_is_a_frame_whose_clauses_all_went_on() {
        let mut frames = Frames::new(sides(0, 9));
        assert_eq!(frames.fixpoint(), Some(1));
        frames.add(sides(0, 1), 1);
        assert_eq!(frames.fixpoint(), None);
        frames.push(0);
        assert_eq!(frames.fixpoint(), Some(1));
    }
}
