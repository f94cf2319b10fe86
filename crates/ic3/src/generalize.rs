//! Generalisation of a state to a reason (POLIC3, Section 3.2): variables are freed one after the
//! other while the states stay safe and without a transition into the frame.

use policert_engine_api::{Answer, Budget, EngineError};
use policert_model::State;
use policert_numeric::{IntBox, IntInterval};

use crate::Frames;
use crate::config::{FrameTransition, Induction, Pushing, Reasons};
use crate::instance::PolicySystem;
use crate::start_states::unsafe_in;
use crate::sub_procedures::Generalized;

/// Failed attempts to widen an interval after which what is left of the way is halved each time.
const ATTEMPTS: u32 = 3;

impl PolicySystem<'_> {
    /// The reason around a state.
    pub(crate) fn generalized(
        &mut self,
        state: &State,
        frames: &Frames,
        frame: usize,
        budget: &mut Budget,
    ) -> Result<Generalized, EngineError> {
        let mut reason = IntBox::point(state);
        if self.config.reasons != Reasons::States {
            for variable in self.ordering.of(state, &self.environment.domains) {
                self.free(&mut reason, variable, frames, frame, budget)?;
            }
            self.ordering.learn(&reason, &self.environment.domains);
        }
        let mut frame = frame;
        if self.config.pushing == Pushing::Far {
            while frame.saturating_add(1) < frames.limit()
                && self.transition(&reason, &reason, frames, frame + 1, budget)?.refuted()
            {
                frame += 1;
            }
        }
        Ok(Generalized { sides: reason, frame })
    }

    /// Frees a variable of a reason as far as possible.
    fn free(
        &mut self,
        reason: &mut IntBox,
        variable: usize,
        frames: &Frames,
        frame: usize,
        budget: &mut Budget,
    ) -> Result<(), EngineError> {
        let (side, all) = (reason[variable], self.environment.domains[variable]);
        if side == all {
            return Ok(());
        }
        let mut wider = reason.clone();
        wider[variable] = all;
        let Answer::Possible(witness) = self.attempt(reason, &wider, frames, frame, budget)? else {
            *reason = wider;
            return Ok(());
        };
        if self.config.reasons == Reasons::Assignments {
            return Ok(());
        }
        if let Some(joined) =
            self.joined(reason, wider, witness.as_ref(), frames, frame, budget)?
        {
            *reason = joined;
            return Ok(());
        }
        let obstacle = witness.map(|w| w[variable]);
        let above = IntInterval::new(side.lo, all.hi);
        self.extend(reason, variable, above, obstacle, frames, frame, budget)?;
        let below = IntInterval::new(all.lo, reason[variable].hi);
        self.extend(reason, variable, below, obstacle, frames, frame, budget)
    }

    /// Extends one end of a side as far as possible towards what is wanted. An obstacle may be
    /// known.
    #[expect(clippy::too_many_arguments, reason = "what is asked, and in which frame")]
    fn extend(
        &mut self,
        reason: &mut IntBox,
        variable: usize,
        mut wanted: IntInterval,
        obstacle: Option<i64>,
        frames: &Frames,
        frame: usize,
        budget: &mut Budget,
    ) -> Result<(), EngineError> {
        let mut attempts = 0;
        if let Some(value) = obstacle.filter(|&value| wanted.contains(value)) {
            attempts = 1;
            wanted = narrowed(wanted, reason[variable], Some(value), attempts);
        }
        while wanted != reason[variable] {
            let mut wider = reason.clone();
            wider[variable] = wanted;
            match self.attempt(reason, &wider, frames, frame, budget)? {
                Answer::Refuted => {
                    *reason = wider;
                    return Ok(());
                }
                Answer::Possible(witness) => {
                    attempts += 1;
                    let obstacle = witness.map(|w| w[variable]);
                    wanted = narrowed(wanted, reason[variable], obstacle, attempts);
                }
            }
        }
        Ok(())
    }

    /// A state of a box that is an obstacle to it as a reason, where a part of it is one.
    fn attempt(
        &mut self,
        reason: &IntBox,
        wider: &IntBox,
        frames: &Frames,
        frame: usize,
        budget: &mut Budget,
    ) -> Result<Answer<State>, EngineError> {
        budget.poll_clock()?;
        self.statistics.generalizations += 1;
        if self.config.frame_transition == FrameTransition::Decoupled {
            return self.obstacle(wider, wider, frames, frame, budget);
        }
        // Of the states of the reason it is known.
        for part in outside(reason, wider) {
            let answer = self.obstacle(&part, wider, frames, frame, budget)?;
            if !answer.refuted() {
                return Ok(answer);
            }
        }
        Ok(Answer::Refuted)
    }

    /// A box around `wider` that does, with the successors of its obstacles.
    fn joined(
        &mut self,
        reason: &IntBox,
        mut wider: IntBox,
        witness: Option<&State>,
        frames: &Frames,
        frame: usize,
        budget: &mut Budget,
    ) -> Result<Option<IntBox>, EngineError> {
        if self.config.induction == Induction::Absent || frame == 0 {
            return Ok(None);
        }
        let mut witness = witness.cloned();
        for _ in 0..self.config.joins {
            let Some(state) = &witness else { break };
            let outside = self.successors_into(state, frames, frame, &wider);
            if outside.is_empty() {
                break;
            }
            outside.iter().for_each(|next| wider.hull_with(&IntBox::point(next)));
            witness = match self.attempt(reason, &wider, frames, frame, budget)? {
                Answer::Refuted => return Ok(Some(wider)),
                Answer::Possible(witness) => witness,
            };
        }
        Ok(None)
    }

    /// A state of a part of a reason that is unsafe, or has a transition into a frame.
    fn obstacle(
        &mut self,
        sides: &IntBox,
        reason: &IntBox,
        frames: &Frames,
        frame: usize,
        budget: &mut Budget,
    ) -> Result<Answer<State>, EngineError> {
        if let Some(state) = unsafe_in(self.environment.question, sides, budget)? {
            return Ok(Answer::Possible(Some(state)));
        }
        self.transition(sides, reason, frames, frame, budget)
    }
}

/// The states of a box outside of a smaller one, as disjoint boxes.
fn outside(inner: &IntBox, outer: &IntBox) -> Vec<IntBox> {
    let mut rest = outer.clone();
    let mut parts = Vec::new();
    for d in 0..outer.dimensions() {
        let (inner, outer) = (inner[d], outer[d]);
        for side in [
            IntInterval::new(outer.lo, inner.lo.saturating_sub(1)),
            IntInterval::new(inner.hi.saturating_add(1), outer.hi),
        ] {
            if side.lo <= side.hi && !inner.includes(side) {
                let mut part = rest.clone();
                part[d] = side;
                parts.push(part);
            }
        }
        rest[d] = inner;
    }
    parts
}

/// The interval to try next between `side`, which is known to do, and `wanted`, which failed: as
/// far as the obstacle allows, and no further than half way after some attempts.
fn narrowed(
    wanted: IntInterval,
    side: IntInterval,
    obstacle: Option<i64>,
    attempts: u32,
) -> IntInterval {
    let mut next = wanted;
    match obstacle {
        Some(value) if value > side.hi => next.hi = next.hi.min(value - 1),
        Some(value) if value < side.lo => next.lo = next.lo.max(value + 1),
        _ => {}
    }
    if next == wanted || attempts > ATTEMPTS {
        let half = |near: i64, far: i64| near + (far - near) / 2;
        next.hi = next.hi.min(half(side.hi, next.hi));
        next.lo = next.lo.max(half(side.lo, next.lo));
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_shrink_to_the_known_one() {
        let side = IntInterval::new(4, 6);
        for obstacle in [None, Some(0), Some(20), Some(3), Some(7)] {
            let mut wanted = IntInterval::new(-100, 1000);
            let mut attempts = 0;
            while wanted != side {
                attempts += 1;
                let next = narrowed(wanted, side, obstacle, attempts);
                assert!(wanted.includes(next) && next.includes(side) && next != wanted);
                if let Some(value) = obstacle {
                    assert!(!next.contains(value));
                }
                wanted = next;
            }
            assert!(attempts < 20, "{obstacle:?}: {attempts}");
        }
    }
}
