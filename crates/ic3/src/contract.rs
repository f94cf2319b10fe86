//! The paper's assertions about the sub-procedures, checked in debug builds: fully where that takes
//! no search, at corners of boxes otherwise.

use policert_engine_api::{Budget, EngineError};
use policert_model::State;
use policert_numeric::IntBox;

use crate::frames::FOREVER;
use crate::generalized::Generalized;
use crate::{Frames, SubProcedures};

/// Assertion 1.
pub(crate) fn check_start(frames: &Frames, start: &[i64]) {
    debug_assert!(frames.blocking(frames.limit(), start).is_none(), "Assertion 1");
}

/// Assertion 2, as far as the frame is concerned.
pub(crate) fn check_successor<P: SubProcedures>(
    system: &P,
    frames: &Frames,
    frame: usize,
    next: &[i64],
) {
    let inside = match frame {
        0 => system.is_target(next),
        n => frames.blocking(n, next).is_none(),
    };
    debug_assert!(inside, "Assertion 2");
}

/// Assertion 4, and the part of Assertion 5 that a run can see: what is learnt is new.
pub(crate) fn check_reason<P: SubProcedures>(
    system: &mut P,
    frames: &Frames,
    frame: usize,
    states: &[State],
    found: &Generalized,
    budget: &mut Budget,
) -> Result<(), EngineError> {
    if !cfg!(debug_assertions) {
        return Ok(());
    }
    for state in states {
        let around = found.reasons.iter().any(|sides| sides.contains(state));
        debug_assert!(around, "Assertion 4: boxes around the states");
        let next = frame.saturating_add(1);
        debug_assert!(frames.blocking(next, state).is_none(), "Assertion 5");
    }
    let is_one = found.frame == FOREVER || found.frame < frames.limit();
    debug_assert!(found.frame >= frame && is_one, "Assertion 4: the frame");
    // Transitions into the reasons themselves do not count.
    let mut with_reasons = frames.clone();
    with_reasons.add_all(found.clone());
    for sides in &found.reasons {
        check_corners(system, &with_reasons, found.frame, sides, budget)?;
    }
    Ok(())
}

/// Assertion 3, after clauses were propagated.
pub(crate) fn check_propagation<P: SubProcedures>(
    system: &mut P,
    frames: &Frames,
    budget: &mut Budget,
) -> Result<(), EngineError> {
    if cfg!(debug_assertions) {
        for reason in frames.reasons() {
            check_corners(system, frames, reason.last - 1, &reason.sides, budget)?;
        }
    }
    Ok(())
}

/// Checks whether the corners of a box are outside of ℱ₀ and without transitions into a frame. A
/// modelling error there is none of the run's: the state need not be reachable.
fn check_corners<P: SubProcedures>(
    system: &mut P,
    frames: &Frames,
    frame: usize,
    sides: &IntBox,
    budget: &mut Budget,
) -> Result<(), EngineError> {
    let upper: State = sides.sides().iter().map(|side| side.hi).collect();
    for corner in [sides.lower_corner(), upper] {
        debug_assert!(!system.is_target(&corner), "Assertions 3, 4 (i): {corner:?}");
        match system.select_successor_state(&corner, frames, frame, budget) {
            Ok(next) => debug_assert!(next.is_none(), "Assertions 3, 4 (ii): {corner:?}"),
            Err(EngineError::Stop(reason)) => return Err(reason.into()),
            Err(error) => debug_assert!(false, "Assertions 3, 4: {corner:?}: {error}"),
        }
    }
    Ok(())
}
