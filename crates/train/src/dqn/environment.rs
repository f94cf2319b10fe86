//! Runs through a model with rewards.

use policert_engine_api::{EngineError, Question};
use policert_explore::{Random, Rollout, RunStep, StartSampler, StateNumber};
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

/// Says how a run ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    Goal,
    Unsafe,
    /// Nothing can happen, or the label that was chosen cannot, or what was drawn is no transition.
    Stuck,
    /// It took too long; what follows still counts.
    CutOff,
}

/// Says what a step of the policy led to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub reward: f64,
    pub end: Option<End>,
}

/// A run through the model.
#[derive(Debug)]
pub(crate) struct Environment<'m> {
    rollout: Rollout<'m>,
    starts: &'m StartSampler,
    domains: IntBox,
    inputs: Vec<usize>,
    rewards: Rewards,
    horizon: u32,
    /// The potential, and the factor that scales it.
    potential: Option<(StateNumber, f64)>,
    step_reward: Option<StateNumber>,
    /// The potential of the current state, scaled.
    height: f64,
    steps: u32,
    start: Vec<i64>,
}

/// The number of start states that are drawn in search of one from which there is something to do.
const DRAWS: u32 = 10_000;

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
        Self {
            rollout: Rollout::new(question, &objective.outputs),
            starts,
            domains,
            inputs: objective.inputs.iter().map(|v| v.index()).collect(),
            rewards: rewards.clone(),
            horizon,
            potential,
            step_reward,
            height: 0.0,
            steps: 0,
            start: Vec::new(),
        }
    }

    /// Appends what the network reads in the current state.
    pub(crate) fn observe(&self, row: &mut Vec<f64>) {
        let state = self.rollout.state();
        #[expect(clippy::cast_precision_loss, reason = "values of variables are small")]
        row.extend(self.inputs.iter().map(|&v| state[v] as f64));
    }

    /// By output: whether its label is applicable in the current state.
    pub(crate) fn applicable(&self) -> &[bool] {
        self.rollout.applicable()
    }

    /// The current state, and the steps up to it.
    pub(crate) fn position(&self) -> (&[i64], u32) {
        (self.rollout.state(), self.steps)
    }

    /// Returns whether these are values of the model's variables.
    pub(crate) fn is_state(&self, state: &[i64]) -> bool {
        let sides = self.domains.sides();
        sides.len() == state.len() && sides.iter().zip(state).all(|(side, &x)| side.contains(x))
    }

    /// Goes to a state in the middle of a run.
    pub(crate) fn go_to(&mut self, state: &[i64], steps: u32) -> Result<(), EngineError> {
        self.rollout.enter(state)?;
        self.steps = steps;
        self.height = self.potential_here();
        Ok(())
    }

    /// Begins a run in a start state in which the policy has a choice. Runs that end before are
    /// counted by `ended`, if it wants to.
    pub(crate) fn begin(
        &mut self,
        random: &mut Random,
        ended: &mut impl FnMut(End) -> bool,
    ) -> Result<bool, TrainError> {
        for _ in 0..DRAWS {
            let mut start = std::mem::take(&mut self.start);
            let drawn = self.starts.draw(&mut start, random);
            let entered = drawn.and_then(|()| self.go_to(&start, 0));
            self.start = start;
            entered?;
            let mut reward = 0.0;
            match self.run_environment(random, &mut reward)? {
                None => return Ok(true),
                Some(end) => {
                    if ended(end) {
                        return Ok(false);
                    }
                }
            }
        }
        let message = "in all start states that were drawn, the goal or an unsafe state is reached \
                       without a choice of the policy, or nothing can happen";
        Err(TrainError::Config(message.to_owned()))
    }

    /// Chooses an output, whose label is applicable, and lets the environment run up to the next
    /// choice.
    pub(crate) fn act(
        &mut self,
        output: usize,
        random: &mut Random,
    ) -> Result<Arrival, EngineError> {
        let before = self.height;
        let mut reward = 0.0;
        let end = match self.step(Some(output), random, &mut reward)? {
            Some(end) => Some(end),
            None => self.run_environment(random, &mut reward)?,
        };
        Ok(Arrival { reward: reward + self.height - before, end })
    }

    /// Runs on while nothing is to be chosen.
    fn run_environment(
        &mut self,
        random: &mut Random,
        reward: &mut f64,
    ) -> Result<Option<End>, EngineError> {
        if let Some(end) = self.end_here(reward) {
            return Ok(Some(end));
        }
        while !self.rollout.applicable().contains(&true) {
            if let Some(end) = self.step(None, random, reward)? {
                return Ok(Some(end));
            }
        }
        Ok(None)
    }

    fn step(
        &mut self,
        output: Option<usize>,
        random: &mut Random,
        reward: &mut f64,
    ) -> Result<Option<End>, EngineError> {
        *reward += self.rewards.step;
        self.steps += 1;
        match self.rollout.step(output, random)? {
            RunStep::Moved { .. } => {
                self.height = self.potential_here();
                if let Some(number) = &self.step_reward {
                    let size = number.value(self.rollout.state()).unwrap_or(0.0).abs();
                    *reward -= self.rewards.step_cost * size;
                }
                Ok(self.end_here(reward))
            }
            RunStep::Dropped { .. } | RunStep::Stuck => {
                *reward += self.rewards.stuck;
                Ok(Some(End::Stuck))
            }
        }
    }

    fn end_here(&self, reward: &mut f64) -> Option<End> {
        if self.rollout.is_unsafe() {
            *reward += self.rewards.unsafe_state;
            Some(End::Unsafe)
        } else if self.rollout.is_goal() {
            *reward += self.rewards.goal;
            Some(End::Goal)
        } else if self.rollout.is_terminal() {
            *reward += self.rewards.stuck;
            Some(End::Stuck)
        } else {
            (self.steps >= self.horizon).then_some(End::CutOff)
        }
    }

    fn potential_here(&self) -> f64 {
        let value = |(number, factor): &(StateNumber, f64)| {
            Some(number.value(self.rollout.state())? * factor)
        };
        self.potential.as_ref().and_then(value).unwrap_or(0.0)
    }
}
