//! Frames: what is known of the states that reach an unsafe state within so many steps.

use policert_model::State;
use policert_numeric::{IntBox, IntInterval};

/// The frames ℱ₁ to ℱ_N, and ℱ_{N+1} while it is open.
///
/// A clause ¬r of ℱₙ says that no state of the reason r reaches an unsafe state within n steps. As
/// ℱₙ then holds the clauses of all later frames too, each reason is stored once, with the last
/// frame whose clause it is. ℱ₀ is the unsafe condition; it is not stored here.
#[derive(Clone, Debug)]
pub struct Frames {
    domains: IntBox,
    reasons: Vec<Reason>,
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
    /// The state.
    pub state: State,
    /// Its successors.
    pub successors: Vec<State>,
}

impl Reason {
    /// Whether a state of the model satisfies it.
    fn contains(&self, state: &[i64]) -> bool {
        self.bounds.iter().all(|&(d, side)| side.contains(state[d]))
    }

    /// Whether a box of states of the model lies in it.
    fn includes(&self, sides: &IntBox) -> bool {
        self.bounds.iter().all(|&(d, side)| side.includes(sides[d])) || sides.is_empty()
    }
}

impl Frames {
    /// ℱ₁ without clauses, N = 1, over states of these domains.
    #[must_use]
    pub fn new(domains: IntBox) -> Self {
        Self { domains, reasons: Vec::new(), limit: 1, added: 0, subsumed: 0 }
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

    /// Adds the clause ¬r to the frames 1 to `last`. Reasons inside r whose clauses reach no
    /// further are dropped.
    pub fn add(&mut self, sides: IntBox, last: usize) {
        self.added += 1;
        if self.reasons.iter().any(|r| r.last >= last && r.includes(&sides)) {
            self.subsumed += 1;
            return;
        }
        self.drop_inside(&sides, last);
        let pairs = sides.sides().iter().zip(self.domains.sides()).enumerate();
        let bounded = pairs.filter(|(_, (side, all))| !side.includes(**all));
        let bounds = bounded.map(|(d, (&side, _))| (d, side)).collect();
        self.reasons.push(Reason { sides, bounds, last, escape: None });
    }

    /// Moves a clause of ℱₘ, where it was last, into ℱ_{m+1}.
    pub fn push(&mut self, index: usize) {
        let reason = &mut self.reasons[index];
        reason.last += 1;
        reason.escape = None;
    }

    /// Drops the reasons that lie in another one whose clause reaches as far.
    pub fn subsume(&mut self) {
        let mut kept: Vec<Reason> = Vec::with_capacity(self.reasons.len());
        // Of equal ones the first is kept, so look among those kept and those still to come.
        let all = std::mem::take(&mut self.reasons);
        for (i, reason) in all.iter().enumerate() {
            let covers =
                |other: &Reason| other.last >= reason.last && other.includes(&reason.sides);
            let strictly_later = all[i + 1..].iter().any(covers);
            if strictly_later || kept.iter().any(covers) {
                self.subsumed += 1;
            } else {
                kept.push(reason.clone());
            }
        }
        self.reasons = kept;
    }

    fn drop_inside(&mut self, sides: &IntBox, last: usize) {
        let before = self.reasons.len();
        self.reasons.retain(|r| r.last > last || !sides.includes(&r.sides));
        self.subsumed += (before - self.reasons.len()) as u64;
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
        let mut reasons = self.reasons.iter().rev();
        reasons.find(|r| r.last >= frame && r.contains(state)).map(|r| &r.sides)
    }

    /// A reason of ℱₙ that includes a whole box. For n ≥ 1.
    #[must_use]
    pub fn including(&self, frame: usize, sides: &IntBox) -> Option<&IntBox> {
        let mut reasons = self.reasons.iter().rev();
        reasons.find(|r| r.last >= frame && r.includes(sides)).map(|r| &r.sides)
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
