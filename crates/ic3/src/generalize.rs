//! Generalisation of states to reasons (POLIC3, Section 3.2): variables are freed one after the
//! other while the states stay safe and without a transition into the frame.

use policert_engine_api::{Budget, EngineError};
use policert_model::State;
use policert_numeric::{IntBox, IntInterval};

use crate::Frames;
use crate::config::{Pushing, Reasons};
use crate::generalized::Generalized;
use crate::joint::{Attempt, JointReasons};
use crate::policy_system::PolicySystem;
use crate::target::Target;

/// Failed attempts to widen an interval after which what is left of the way is halved each time.
const ATTEMPTS: u32 = 3;

impl PolicySystem<'_> {
    /// Reasons around states.
    pub(crate) fn generalized(
        &mut self,
        states: &[State],
        frames: &Frames,
        frame: usize,
        budget: &mut Budget,
    ) -> Result<Generalized, EngineError> {
        let mut reasons = JointReasons::around(states);
        if self.config.reasons != Reasons::States {
            let into = Target { frames, frame };
            while let Some(next) = reasons.next() {
                let state = reasons.boxes[next].lower_corner();
                for variable in self.ordering.of(&state, &self.environment.domains) {
                    self.free(&mut reasons, next, variable, into, budget)?;
                }
                self.ordering.learn(&reasons.boxes[next], &self.environment.domains);
                reasons.finish(next);
            }
        }
        let frame = match self.config.pushing {
            Pushing::Far => self.pushed(&reasons.boxes, frames, frame, budget)?,
            Pushing::Asked => frame,
        };
        Ok(Generalized { reasons: reasons.boxes, frame })
    }

    /// The last frame that reasons have no transition into.
    fn pushed(
        &mut self,
        reasons: &[IntBox],
        frames: &Frames,
        mut frame: usize,
        budget: &mut Budget,
    ) -> Result<usize, EngineError> {
        while frame.saturating_add(1) < frames.limit() {
            for reason in reasons {
                let into = Target { frames, frame: frame + 1 };
                if !self.transition(reason, reasons, into, budget)?.refuted() {
                    return Ok(frame);
                }
            }
            frame += 1;
        }
        Ok(frame)
    }

    /// Frees a variable of a reason as far as possible.
    fn free(
        &mut self,
        reasons: &mut JointReasons,
        which: usize,
        variable: usize,
        into: Target<'_>,
        budget: &mut Budget,
    ) -> Result<(), EngineError> {
        let (side, all) = (reasons.boxes[which][variable], self.environment.domains[variable]);
        if side == all {
            return Ok(());
        }
        let obstacle = match self.attempt(reasons, which, variable, all, into, budget)? {
            Attempt::Fits(wider) => {
                *reasons = wider;
                return Ok(());
            }
            Attempt::Obstacle(obstacle) => obstacle,
        };
        if self.config.reasons == Reasons::Assignments {
            return Ok(());
        }
        let above = IntInterval::new(side.lo, all.hi);
        self.extend(reasons, which, variable, (above, obstacle), into, budget)?;
        let below = IntInterval::new(all.lo, reasons.boxes[which][variable].hi);
        self.extend(reasons, which, variable, (below, obstacle), into, budget)
    }

    /// Extends one end of a side as far as possible towards what is wanted. A value of an obstacle
    /// may be known.
    fn extend(
        &mut self,
        reasons: &mut JointReasons,
        which: usize,
        variable: usize,
        (mut wanted, obstacle): (IntInterval, Option<i64>),
        into: Target<'_>,
        budget: &mut Budget,
    ) -> Result<(), EngineError> {
        let mut attempts = 0;
        if let Some(value) = obstacle.filter(|&value| wanted.contains(value)) {
            attempts = 1;
            wanted = narrowed(wanted, reasons.boxes[which][variable], Some(value), attempts);
        }
        while wanted != reasons.boxes[which][variable] {
            match self.attempt(reasons, which, variable, wanted, into, budget)? {
                Attempt::Fits(wider) => {
                    *reasons = wider;
                    return Ok(());
                }
                Attempt::Obstacle(obstacle) => {
                    attempts += 1;
                    let side = reasons.boxes[which][variable];
                    wanted = narrowed(wanted, side, obstacle, attempts);
                }
            }
        }
        Ok(())
    }
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
