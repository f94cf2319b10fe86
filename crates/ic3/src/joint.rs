//! Reasons that are generalised together: transitions between them do not count.
//!
//! A reason that is widened may get transitions to states just outside of another one. Then that
//! one is widened too, so far as to include them, and whether its new states have transitions is
//! looked at in turn. Once nothing is left to be looked at the reasons are inductive together.

use policert_engine_api::{Answer, Budget, EngineError};
use policert_model::State;
use policert_numeric::{IntBox, IntInterval};

use crate::config::{FrameTransition, Induction};
use crate::policy_system::PolicySystem;
use crate::start_states::unsafe_in;
use crate::target::Target;

/// Reasons whose states have no transitions into a frame but to each other.
#[derive(Clone, Debug)]
pub(crate) struct JointReasons {
    pub boxes: Vec<IntBox>,
    /// For each whether it is generalised.
    finished: Vec<bool>,
}

/// The result of an attempt to widen a reason.
#[derive(Debug)]
pub(crate) enum Attempt {
    /// All reasons with the wider one.
    Fits(JointReasons),
    /// The value of the variable in a state that is in the way, if one is known.
    Obstacle(Option<i64>),
}

/// Says why a box cannot be part of a reason.
enum Obstacle {
    None,
    /// A state with transitions into the frame.
    Transition(State),
    /// Anything else, with the state if it is known.
    Other(Option<State>),
}

impl JointReasons {
    pub fn around(states: &[State]) -> Self {
        let boxes = states.iter().map(|state| IntBox::point(state)).collect();
        Self { boxes, finished: vec![false; states.len()] }
    }

    /// The next reason to generalise.
    pub fn next(&self) -> Option<usize> {
        self.finished.iter().position(|finished| !finished)
    }

    /// Notes that a reason is generalised; others inside it are dropped.
    pub fn finish(&mut self, which: usize) {
        self.finished[which] = true;
        for i in (0..self.boxes.len()).rev() {
            if i != which && self.boxes[which].includes(&self.boxes[i]) {
                self.boxes.remove(i);
                self.finished.remove(i);
                return self.finish(which - usize::from(i < which));
            }
        }
    }

    /// Widens one of them, or adds a wider one than a reason of the frames.
    fn put(&mut self, place: Place, wider: IntBox) {
        match place {
            Place::Own(i) => self.boxes[i] = wider,
            Place::Frames(_) => {
                self.boxes.push(wider);
                self.finished.push(true);
            }
        }
    }
}

/// Says where a reason is.
#[derive(Clone, Copy, Debug)]
enum Place {
    Own(usize),
    Frames(usize),
}

impl PolicySystem<'_> {
    /// Tries to give a variable of a reason a wider interval.
    pub(crate) fn attempt(
        &mut self,
        reasons: &JointReasons,
        which: usize,
        variable: usize,
        wanted: IntInterval,
        into: Target<'_>,
        budget: &mut Budget,
    ) -> Result<Attempt, EngineError> {
        budget.poll_clock()?;
        self.statistics.generalizations += 1;
        let before = &reasons.boxes[which];
        let mut wider = before.clone();
        wider[variable] = wanted;
        // Of the states of the reason it is known, if the problem was decided as it is stated.
        let mut waiting = match self.config.frame_transition {
            FrameTransition::Decoupled => vec![wider.clone()],
            FrameTransition::Exact => outside(before, &wider),
        };
        let mut trial = reasons.clone();
        trial.boxes[which].clone_from(&wider);
        let relative = self.config.induction == Induction::Relative && into.frame > 0;
        let joins = if relative && self.joins.pay(variable) { self.config.joins } else { 0 };
        let mut joined = 0;
        let mut value = None;
        while let Some(part) = waiting.pop() {
            let obstacle = self.obstacle(&part, &trial.boxes, into, budget)?;
            let (state, may_join) = match obstacle {
                Obstacle::None => continue,
                Obstacle::Other(state) => (state, false),
                Obstacle::Transition(state) => (Some(state), joined < joins),
            };
            let inside = state.as_ref().filter(|state| wider.contains(state));
            value = value.or(inside.map(|state| state[variable]));
            let next = state
                .filter(|_| may_join)
                .and_then(|state| self.first_into(&state, into, &trial.boxes));
            let found = next.and_then(|next| {
                let (place, d) = neighbour(&trial, into, &next, variable)?;
                Some((place, d, next[d]))
            });
            let Some((place, d, lacking)) = found else {
                if joined > 0 {
                    self.joins.note(variable, false);
                }
                return Ok(Attempt::Obstacle(value));
            };
            joined += 1;
            let old = match place {
                Place::Own(i) => trial.boxes[i].clone(),
                Place::Frames(i) => into.frames.reasons()[i].sides.clone(),
            };
            let mut new = old.clone();
            let side = if d == variable { wanted } else { IntInterval::point(lacking) };
            new[d] = new[d].hull(side).hull(IntInterval::point(lacking));
            waiting.push(part);
            waiting.extend(outside(&old, &new));
            trial.put(place, new);
        }
        if joined > 0 {
            self.joins.note(variable, true);
        }
        Ok(Attempt::Fits(trial))
    }

    /// Returns what keeps a box from being part of reasons.
    fn obstacle(
        &mut self,
        part: &IntBox,
        reasons: &[IntBox],
        into: Target<'_>,
        budget: &mut Budget,
    ) -> Result<Obstacle, EngineError> {
        if let Some(state) = unsafe_in(self.environment.question, part, budget)? {
            return Ok(Obstacle::Other(Some(state)));
        }
        Ok(match self.transition(part, reasons, into, budget)? {
            Answer::Refuted => Obstacle::None,
            Answer::Possible(Some(state)) => Obstacle::Transition(state),
            Answer::Possible(None) => Obstacle::Other(None),
        })
    }
}

/// A reason with all values but one of a state, and the variable whose value it lacks; rather this
/// variable.
fn neighbour(
    own: &JointReasons,
    into: Target<'_>,
    state: &State,
    variable: usize,
) -> Option<(Place, usize)> {
    let mut found = None;
    for (i, sides) in own.boxes.iter().enumerate() {
        let mut missing = (0..state.len()).filter(|&d| !sides[d].contains(state[d]));
        if let (Some(d), None) = (missing.next(), missing.next()) {
            if d == variable {
                return Some((Place::Own(i), d));
            }
            found = found.or(Some((Place::Own(i), d)));
        }
    }
    let last = into.frame.saturating_add(1);
    for (i, reason) in into.frames.reasons().iter().enumerate().rev() {
        if reason.last >= last
            && let Some(d) = reason.lacks_one(state)
        {
            if d == variable {
                return Some((Place::Frames(i), d));
            }
            found = found.or(Some((Place::Frames(i), d)));
        }
    }
    found
}

/// The states of a box outside of a smaller one, as disjoint boxes.
fn outside(inner: &IntBox, outer: &IntBox) -> Vec<IntBox> {
    let mut rest = outer.clone();
    let mut parts = Vec::new();
    for d in 0..outer.dimensions() {
        let (inner, outer) = (inner[d], outer[d]);
        if inner == outer {
            continue;
        }
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
