//! Selection of start states in the last frame.

use policert_engine_api::{Budget, EngineError, Question, StartStates, point_of};
use policert_model::State;
use policert_numeric::IntBox;
use policert_symbolic::{SharedRegion as Region, point_in, shared};

use crate::Frames;

/// The start states as regions. What the reasons of the last frame cover is cut away as the
/// selection goes on; a new frame begins with all of them.
#[derive(Debug)]
pub(crate) struct StartSelection {
    all: Vec<Region>,
    /// Parts that may hold start states in the frame.
    open: Vec<Region>,
    frame: usize,
}

impl StartSelection {
    /// The start states of a question.
    ///
    /// # Errors
    /// A listed state that is none of the model: unsupported.
    pub fn new(question: &Question<'_>) -> Result<Self, EngineError> {
        let domains = question.model.domains();
        let mut all = Vec::new();
        for source in question.start_states() {
            match source {
                StartStates::List(states) => {
                    for state in states {
                        if state.len() != domains.dimensions() || !domains.contains(state) {
                            let state = question.model.display_state(state);
                            return Err(EngineError::Unsupported(format!(
                                "a start state outside of the variables' domains: {state}"
                            )));
                        }
                        all.push(Region::new(IntBox::point(state), []));
                    }
                }
                StartStates::Region(condition, sides) => {
                    let region = Region::new(sides.intersect(&domains), shared(&condition));
                    all.push(region);
                }
            }
        }
        all.retain(|region| !region.is_empty());
        all.reverse();
        Ok(Self { open: all.clone(), all, frame: 1 })
    }

    /// Returns whether there is a start state at all.
    ///
    /// # Errors
    /// A stop of the budget.
    pub fn is_empty(&self, budget: &mut Budget) -> Result<bool, EngineError> {
        for region in &self.all {
            if point_in(region, budget)?.is_some() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// A start state that is unsafe.
    ///
    /// # Errors
    /// A stop of the budget.
    pub fn unsafe_state(
        &self,
        question: &Question<'_>,
        budget: &mut Budget,
    ) -> Result<Option<State>, EngineError> {
        for region in self.all.iter().rev() {
            let region = region.restrict(shared(&question.property.unsafe_condition));
            if let Some(state) = point_in(&region, budget)? {
                return Ok(Some(state));
            }
        }
        Ok(None)
    }

    /// Different start states in the last frame, at most `count`, from parts of the start condition
    /// that lie apart; none only if there is none. They are taken as searched from: none is selected
    /// again before N changes.
    ///
    /// # Errors
    /// A stop of the budget.
    pub fn select_several(
        &mut self,
        frames: &Frames,
        count: usize,
        budget: &mut Budget,
    ) -> Result<Vec<State>, EngineError> {
        let Some(first) = self.select(frames, budget)? else { return Ok(Vec::new()) };
        let mut states = vec![first];
        if count > 1
            && let Some(region) = self.open.pop()
        {
            cut_away(&region, &IntBox::point(&states[0]), &mut self.open);
        }
        for k in 1..count {
            // From evenly spaced places; parts that are done with are not missed.
            let at = self.open.len() * (count - k) / count;
            while at < self.open.len() && states.len() == k {
                budget.poll()?;
                let region = self.open.remove(at);
                if frames.including(frames.limit(), &region.sides).is_some() {
                    continue;
                }
                let Some(state) = point_in(&region, budget)? else { continue };
                let mut rest = Vec::new();
                match frames.blocking(frames.limit(), &state) {
                    None => {
                        cut_away(&region, &IntBox::point(&state), &mut rest);
                        if !states.contains(&state) {
                            states.push(state);
                        }
                    }
                    Some(reason) => cut_away(&region, reason, &mut rest),
                }
                self.open.splice(at..at, rest);
            }
        }
        Ok(states)
    }

    /// A start state in the last frame; `None` if there is none.
    ///
    /// # Errors
    /// A stop of the budget.
    pub fn select(
        &mut self,
        frames: &Frames,
        budget: &mut Budget,
    ) -> Result<Option<State>, EngineError> {
        let frame = frames.limit();
        if frame != self.frame {
            self.open.clone_from(&self.all);
            self.frame = frame;
        }
        while let Some(region) = self.open.pop() {
            budget.poll()?;
            if frames.including(frame, &region.sides).is_some() {
                continue;
            }
            let Some(state) = point_in(&region, budget)? else { continue };
            match frames.blocking(frame, &state) {
                None => {
                    self.open.push(region);
                    return Ok(Some(state));
                }
                Some(reason) => cut_away(&region, reason, &mut self.open),
            }
        }
        Ok(None)
    }
}

/// Adds the parts of a region outside of a box.
fn cut_away(region: &Region, reason: &IntBox, parts: &mut Vec<Region>) {
    let mut outside = Vec::new();
    region.sides.clone().add_outside(&region.sides.intersect(reason), &mut outside);
    let part = |sides| Region::new(sides, region.conditions.iter().cloned());
    parts.extend(outside.into_iter().map(part).filter(|part| !part.is_empty()));
}

/// A state of a box that is unsafe.
///
/// # Errors
/// A stop of the budget.
pub(crate) fn unsafe_in(
    question: &Question<'_>,
    sides: &IntBox,
    budget: &mut Budget,
) -> Result<Option<State>, EngineError> {
    point_of(&question.property.unsafe_condition, sides, budget)
}
