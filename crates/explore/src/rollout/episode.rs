//! Episodes: runs in which an agent chooses among its labels, and the environment goes on by itself
//! where there is nothing to choose.

use policert_engine_api::{EngineError, Question};
use policert_model::LabelId;

use super::{Position, Rollout, RunStep, StartSampler};
use crate::random::Random;

/// Says how an episode ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EpisodeEnd {
    /// In a state of the goal.
    Goal,
    /// In an unsafe state.
    Unsafe,
    /// In a state that is declared terminal, or where nothing can happen, or what was chosen cannot, or
    /// with an outcome that is no transition.
    Stuck,
    /// Where [`Tally::step`] said so; what follows still counts.
    CutOff,
}

/// Says how the search for a start state ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Begun {
    /// Where the agent has a choice.
    AtChoice,
    /// With an episode that ended before, which was asked for.
    Ended,
    /// Nowhere: see [`Begun::NOWHERE`].
    Nowhere,
}

impl Begun {
    /// The reason why there is no episode.
    pub const NOWHERE: &str = "in all start states that were drawn, the goal or an unsafe state is \
                               reached without a choice of the agent, or nothing can happen";
}

/// Counts what happens in an episode.
pub trait Tally {
    /// An episode begins in a state.
    fn begin(&mut self, state: &[i64]);

    /// A step was taken, of the agent or of the environment, to a state, or to none if it is no transition.
    /// Returns whether the episode goes on.
    fn step(&mut self, state: Option<&[i64]>) -> bool;
}

/// An episode through a model.
#[derive(Debug)]
pub struct Episode<'m> {
    rollout: Rollout<'m>,
    start: Vec<i64>,
}

/// The number of start states that are drawn in search of one from which there is something to choose.
const DRAWS: u32 = 10_000;

impl<'m> Episode<'m> {
    /// Prepares for episodes of an agent that chooses among these labels.
    #[must_use]
    pub fn new(question: &Question<'m>, outputs: &[LabelId]) -> Self {
        Self { rollout: Rollout::new(question, outputs), start: Vec::new() }
    }

    /// The current state.
    #[must_use]
    pub fn state(&self) -> &[i64] {
        self.rollout.state()
    }

    /// By output: whether its label is applicable in the current state.
    #[must_use]
    pub fn applicable(&self) -> &[bool] {
        self.rollout.applicable()
    }

    /// A place for another episode, see [`exchange`](Self::exchange).
    #[must_use]
    pub fn nowhere(&self) -> Position {
        self.rollout.nowhere()
    }

    /// Goes on with another episode, and leaves this one in its place: many of them share what is
    /// compiled.
    pub fn exchange(&mut self, other: &mut Position) {
        self.rollout.exchange(other);
    }

    /// Goes to a state in the middle of an episode, where there is something to choose.
    ///
    /// # Errors
    /// A modelling error in it.
    pub fn go_to(&mut self, state: &[i64]) -> Result<(), EngineError> {
        self.rollout.enter(state)
    }

    /// Begins in a start state from which the agent gets a choice, and goes there. Episodes that end before
    /// are told to `ended`, which says whether one of them is wanted.
    ///
    /// # Errors
    /// A modelling error.
    pub fn begin(
        &mut self,
        starts: &StartSampler,
        random: &mut Random,
        tally: &mut impl Tally,
        ended: &mut impl FnMut(EpisodeEnd) -> bool,
    ) -> Result<Begun, EngineError> {
        for _ in 0..DRAWS {
            let mut start = std::mem::take(&mut self.start);
            let drawn = starts.draw(&mut start, random);
            let entered = drawn.and_then(|()| self.enter(&start, random, tally));
            self.start = start;
            match entered? {
                None => return Ok(Begun::AtChoice),
                Some(end) if ended(end) => return Ok(Begun::Ended),
                Some(_) => {}
            }
        }
        Ok(Begun::Nowhere)
    }

    /// Begins in a state, and goes on until the agent has a choice, or to the end.
    ///
    /// # Errors
    /// A modelling error.
    pub fn enter(
        &mut self,
        state: &[i64],
        random: &mut Random,
        tally: &mut impl Tally,
    ) -> Result<Option<EpisodeEnd>, EngineError> {
        self.rollout.enter(state)?;
        tally.begin(state);
        self.settle(true, random, tally)
    }

    /// Takes the action of an output, and goes on until the agent has a choice again, or to the end.
    ///
    /// # Errors
    /// A modelling error.
    #[inline]
    pub fn act(
        &mut self,
        output: usize,
        random: &mut Random,
        tally: &mut impl Tally,
    ) -> Result<Option<EpisodeEnd>, EngineError> {
        match self.step(Some(output), random, tally)? {
            Some(goes_on) => self.settle(goes_on, random, tally),
            None => Ok(Some(EpisodeEnd::Stuck)),
        }
    }

    /// Goes on while nothing is to be chosen; `goes_on` is what was said of the last step.
    #[inline]
    fn settle(
        &mut self,
        mut goes_on: bool,
        random: &mut Random,
        tally: &mut impl Tally,
    ) -> Result<Option<EpisodeEnd>, EngineError> {
        loop {
            if self.rollout.is_unsafe() {
                return Ok(Some(EpisodeEnd::Unsafe));
            }
            if self.rollout.is_goal() {
                return Ok(Some(EpisodeEnd::Goal));
            }
            if self.rollout.is_terminal() {
                return Ok(Some(EpisodeEnd::Stuck));
            }
            if !goes_on {
                return Ok(Some(EpisodeEnd::CutOff));
            }
            if self.rollout.applicable().contains(&true) {
                return Ok(None);
            }
            match self.step(None, random, tally)? {
                Some(said) => goes_on = said,
                None => return Ok(Some(EpisodeEnd::Stuck)),
            }
        }
    }

    /// One step: what is said of it, or `None` if it is no transition.
    #[inline]
    fn step(
        &mut self,
        output: Option<usize>,
        random: &mut Random,
        tally: &mut impl Tally,
    ) -> Result<Option<bool>, EngineError> {
        match self.rollout.step(output, random)? {
            RunStep::Moved { .. } => Ok(Some(tally.step(Some(self.rollout.state())))),
            RunStep::Dropped { .. } | RunStep::Stuck => {
                tally.step(None);
                Ok(None)
            }
        }
    }
}
