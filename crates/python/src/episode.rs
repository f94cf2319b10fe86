//! Episodes as Python counts them: rewards of what happens, and how they end.

use policert_engine_api::EngineError;
use policert_explore::{Begun, Episode, EpisodeEnd, Random, StateNumber, Tally};
use pyo3::prelude::*;

use crate::spaces::Spaces;

/// Steps without a choice after which an environment counts as one that leaves none.
const PATIENCE: u32 = 1_000_000;

/// The reward of each step, by what it leads to.
#[derive(Clone, Copy, FromPyObject)]
#[pyo3(from_item_all)]
pub struct Rewards {
    goal: f64,
    r#unsafe: f64,
    stuck: f64,
    step: f64,
}

/// Says how an episode ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Ending {
    /// It goes on.
    None = 0,
    /// In a goal state.
    Goal = 1,
    /// In an unsafe state.
    Unsafe = 2,
    /// Nothing can happen, the action was not applicable and the environment does nothing, or what was
    /// drawn is no transition.
    Stuck = 3,
}

impl Ending {
    /// Its name.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Goal => Some("goal"),
            Self::Unsafe => Some("unsafe"),
            Self::Stuck => Some("stuck"),
        }
    }

    fn of(end: Option<EpisodeEnd>) -> Result<Self, EngineError> {
        match end {
            None => Ok(Self::None),
            Some(EpisodeEnd::Goal) => Ok(Self::Goal),
            Some(EpisodeEnd::Unsafe) => Ok(Self::Unsafe),
            Some(EpisodeEnd::Stuck) => Ok(Self::Stuck),
            Some(EpisodeEnd::CutOff) => {
                let message =
                    "the environment goes on for a million steps in which the agent has no choice";
                Err(EngineError::Unsupported(message.to_owned()))
            }
        }
    }
}

/// What the steps since the last choice have come to.
struct Gain<'s> {
    number: Option<&'s StateNumber>,
    reward: f64,
    steps: u32,
}

impl Tally for Gain<'_> {
    fn begin(&mut self, _: &[i64]) {
        self.steps = 0;
    }

    #[inline]
    fn step(&mut self, state: Option<&[i64]>) -> bool {
        if let (Some(number), Some(state)) = (self.number, state) {
            self.reward += number.value(state).unwrap_or(0.0);
        }
        self.steps += 1;
        self.steps < PATIENCE
    }
}

/// Goes to a start state in which the agent has a choice.
///
/// # Errors
/// If none is found, and errors of the model.
pub fn begin(
    episode: &mut Episode<'_>,
    spaces: &Spaces,
    random: &mut Random,
) -> Result<(), EngineError> {
    let mut gain = Gain { number: None, reward: 0.0, steps: 0 };
    // An environment that goes on for ever from one start state is not tried from others.
    let mut is_endless = |end| end == EpisodeEnd::CutOff;
    match episode.begin(&spaces.starts, random, &mut gain, &mut is_endless)? {
        Begun::AtChoice => Ok(()),
        Begun::Ended => Ending::of(Some(EpisodeEnd::CutOff)).map(|_| ()),
        Begun::Nowhere => Err(EngineError::Unsupported(Begun::NOWHERE.to_owned())),
    }
}

/// Goes to a state, and on until the agent has a choice.
///
/// # Errors
/// Errors of the model.
pub fn enter(
    episode: &mut Episode<'_>,
    state: &[i64],
    random: &mut Random,
) -> Result<Ending, EngineError> {
    let mut gain = Gain { number: None, reward: 0.0, steps: 0 };
    Ending::of(episode.enter(state, random, &mut gain)?)
}

/// Chooses an action, and lets the environment run until the next choice; the reward and the end.
///
/// # Errors
/// Errors of the model.
#[inline]
pub fn act(
    episode: &mut Episode<'_>,
    spaces: &Spaces,
    rewards: Rewards,
    action: usize,
    random: &mut Random,
) -> Result<(f64, Ending), EngineError> {
    let mut gain = Gain { number: spaces.reward.as_ref(), reward: rewards.step, steps: 0 };
    let ending = Ending::of(episode.act(action, random, &mut gain)?)?;
    let last = match ending {
        Ending::None => 0.0,
        Ending::Goal => rewards.goal,
        Ending::Unsafe => rewards.r#unsafe,
        Ending::Stuck => rewards.stuck,
    };
    Ok((gain.reward + last, ending))
}
