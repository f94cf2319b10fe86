//! Runs through a model with rewards.

use policert_engine_api::{EngineError, Question};
use policert_explore::{Begun, Episode, EpisodeEnd, Random, StartSampler, StateNumber, Tally};
use policert_model::{Expr, LabelId, VarId};
use policert_numeric::IntBox;

use super::config::Rewards;
use crate::error::TrainError;

/// Holds what the network reads and chooses, and what the property's objective says besides the
/// goal.
#[derive(Clone, Debug, Default)]
pub struct Objective {
    /// The variables of the inputs.
    pub inputs: Vec<VarId>,
    /// The labels of the outputs.
    pub outputs: Vec<LabelId>,
    /// Grows towards the goal.
    pub potential: Option<Expr>,
    /// The reward of a step that leads to a state; its size counts, as a cost.
    pub step_reward: Option<Expr>,
}

/// Says what a step of the policy led to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub reward: f64,
    pub end: Option<EpisodeEnd>,
}

/// A run through the model.
#[derive(Debug)]
pub(crate) struct Environment<'m> {
    episode: Episode<'m>,
    starts: &'m StartSampler,
    domains: IntBox,
    inputs: Vec<usize>,
    account: Account,
}

/// What a run has come to.
#[derive(Debug)]
struct Account {
    rewards: Rewards,
    horizon: u32,
    /// The potential, and the factor that scales it.
    potential: Option<(StateNumber, f64)>,
    step_reward: Option<StateNumber>,
    /// The potential of the current state, scaled.
    height: f64,
    steps: u32,
    /// The rewards since the policy's last choice.
    reward: f64,
}

impl<'m> Environment<'m> {
    /// Prepares for runs.
    pub(crate) fn new(
        question: &Question<'m>,
        objective: &Objective,
        starts: &'m StartSampler,
        rewards: &Rewards,
        horizon: u32,
    ) -> Self {
        let domains = question.model.domains();
        let potential = objective.potential.as_ref().and_then(|expr| {
            let width = expr.range(&domains);
            let width = (width.hi.as_ref()? - width.lo.as_ref()?).to_f64();
            let is_usable = rewards.potential.abs() > 0.0 && width.is_finite() && width > 0.0;
            is_usable.then(|| (StateNumber::new(expr, &domains), rewards.potential / width))
        });
        let step_reward = objective.step_reward.as_ref().filter(|_| rewards.step_cost.abs() > 0.0);
        let step_reward = step_reward.map(|expr| StateNumber::new(expr, &domains));
        let rewards = rewards.clone();
        Self {
            episode: Episode::new(question, &objective.outputs),
            starts,
            domains,
            inputs: objective.inputs.iter().map(|v| v.index()).collect(),
            account: Account {
                rewards,
                horizon,
                potential,
                step_reward,
                height: 0.0,
                steps: 0,
                reward: 0.0,
            },
        }
    }

    /// Appends what the network reads in the current state.
    pub(crate) fn observe(&self, row: &mut Vec<f64>) {
        let state = self.episode.state();
        #[expect(clippy::cast_precision_loss, reason = "values of variables are small")]
        row.extend(self.inputs.iter().map(|&v| state[v] as f64));
    }

    /// By output: whether its label is applicable in the current state.
    pub(crate) fn applicable(&self) -> &[bool] {
        self.episode.applicable()
    }

    /// The current state, and the steps up to it.
    pub(crate) fn position(&self) -> (&[i64], u32) {
        (self.episode.state(), self.account.steps)
    }

    /// Returns whether these are values of the model's variables.
    pub(crate) fn is_state(&self, state: &[i64]) -> bool {
        let sides = self.domains.sides();
        sides.len() == state.len() && sides.iter().zip(state).all(|(side, &x)| side.contains(x))
    }

    /// Goes to a state in the middle of a run.
    pub(crate) fn go_to(&mut self, state: &[i64], steps: u32) -> Result<(), EngineError> {
        self.episode.go_to(state)?;
        self.account.begin(state);
        self.account.steps = steps;
        Ok(())
    }

    /// Begins a run in a start state in which the policy has a choice. Runs that end before are
    /// counted by `ended`, if it wants to.
    pub(crate) fn begin(
        &mut self,
        random: &mut Random,
        ended: &mut impl FnMut(EpisodeEnd) -> bool,
    ) -> Result<(), TrainError> {
        match self.episode.begin(self.starts, random, &mut self.account, ended)? {
            Begun::AtChoice | Begun::Ended => Ok(()),
            Begun::Nowhere => Err(TrainError::Config(Begun::NOWHERE.to_owned())),
        }
    }

    /// Chooses an output, whose label is applicable, and lets the environment run up to the next
    /// choice.
    pub(crate) fn act(
        &mut self,
        output: usize,
        random: &mut Random,
    ) -> Result<Arrival, EngineError> {
        let before = self.account.height;
        self.account.reward = 0.0;
        let end = self.episode.act(output, random, &mut self.account)?;
        let Account { rewards, reward, height, .. } = &self.account;
        let last = match end {
            Some(EpisodeEnd::Goal) => rewards.goal,
            Some(EpisodeEnd::Unsafe) => rewards.unsafe_state,
            Some(EpisodeEnd::Stuck) => rewards.stuck,
            Some(EpisodeEnd::CutOff) | None => 0.0,
        };
        Ok(Arrival { reward: reward + last + height - before, end })
    }
}

impl Tally for Account {
    fn begin(&mut self, state: &[i64]) {
        self.steps = 0;
        self.height = self.potential_of(state);
    }

    fn step(&mut self, state: Option<&[i64]>) -> bool {
        self.reward += self.rewards.step;
        self.steps += 1;
        if let Some(state) = state {
            self.height = self.potential_of(state);
            if let Some(number) = &self.step_reward {
                let size = number.value(state).unwrap_or(0.0).abs();
                self.reward -= self.rewards.step_cost * size;
            }
        }
        self.steps < self.horizon
    }
}

impl Account {
    fn potential_of(&self, state: &[i64]) -> f64 {
        let value = |(number, factor): &(StateNumber, f64)| Some(number.value(state)? * factor);
        self.potential.as_ref().and_then(value).unwrap_or(0.0)
    }
}
