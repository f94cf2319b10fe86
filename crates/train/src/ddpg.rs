//! Deep deterministic policy gradient (DDPG), Lillicrap et al. 2016, Algorithm 1: the updates.
//!
//! | symbol | name |
//! |---|---|
//! | μ, θ^μ | `actor` |
//! | Q, θ^Q | `critic` |
//! | μ′, Q′ | `actor_target`, `critic_target` |
//! | R, N | [`ReplayBuffer`], `batch` |
//! | γ, τ | `discount`, `target_share` |
//! | 𝒩 | [`Noise`](crate::Noise) |
//!
//! Deviations:
//! - D1: the actor may read the cell of the state; the critic, which is not part of the result,
//!   always reads the state, because rewards and transitions depend on that and not on the cell.
//! - D2: inputs are scaled to mean 0 and deviation 1 over the first random steps. The scaling
//!   becomes part of the actor's first layer.
//! - D3: neither batch normalisation nor decay of weights: the networks and inputs are small.
//! - D4: an attempt that does not succeed is followed by others, from new weights.

use crate::Random;
use crate::adam::Adam;
use crate::config::DdpgConfig;
use crate::observation::Observation;
use crate::perceptron::{BatchTrace, LayerActivation, Perceptron};
use crate::replay_buffer::ReplayBuffer;

/// Bound of the last layers' first weights, so that first values are near 0.
const LAST_LAYER: f64 = 3e-3;

/// The networks and what their updates need.
#[derive(Debug)]
pub(crate) struct Agent {
    pub(crate) actor: Perceptron,
    actor_target: Perceptron,
    critic: Perceptron,
    critic_target: Perceptron,
    actor_adam: Adam,
    critic_adam: Adam,
    observation: Observation,
    /// Mean and deviation of each state variable.
    scaling: Vec<(f64, f64)>,
    actions: usize,
    batch: Batch,
    actor_trace: BatchTrace,
    critic_trace: BatchTrace,
    actor_gradient: Vec<f64>,
    critic_gradient: Vec<f64>,
}

/// A sample, row by row, as the networks read it.
#[derive(Debug, Default)]
struct Batch {
    observations: Vec<f64>,
    next_observations: Vec<f64>,
    states: Vec<f64>,
    next_states: Vec<f64>,
    actions: Vec<f64>,
    /// Reward, and 1 if something follows.
    rewards: Vec<(f64, f64)>,
    critic_inputs: Vec<f64>,
    by_outputs: Vec<f64>,
}

impl Agent {
    pub(crate) fn new(
        config: &DdpgConfig,
        observation: Observation,
        scaling: Vec<(f64, f64)>,
        actions: usize,
        random: &mut Random,
    ) -> Self {
        let dimension = scaling.len();
        let widths = |inputs: usize, hidden: &[usize], outputs: usize| -> Vec<usize> {
            [&[inputs], hidden, &[outputs]].concat()
        };
        let actor = Perceptron::random(
            &widths(observation.width(dimension), &config.hidden, actions),
            config.activation,
            LayerActivation::Tanh,
            LAST_LAYER,
            random,
        );
        let critic = Perceptron::random(
            &widths(dimension + actions, &config.critic_hidden, 1),
            LayerActivation::Relu,
            LayerActivation::Identity,
            LAST_LAYER,
            random,
        );
        Self {
            actor_target: actor.clone(),
            critic_target: critic.clone(),
            actor_adam: Adam::new(actor.len(), config.actor_rate),
            critic_adam: Adam::new(critic.len(), config.critic_rate),
            observation,
            scaling,
            actions,
            batch: Batch::default(),
            actor_trace: BatchTrace::default(),
            critic_trace: BatchTrace::default(),
            actor_gradient: vec![0.0; actor.len()],
            critic_gradient: vec![0.0; critic.len()],
            actor,
            critic,
        }
    }

    /// Mean and deviation of each input of the actor.
    pub(crate) fn input_scaling(&self) -> Vec<(f64, f64)> {
        match self.observation {
            Observation::State => self.scaling.clone(),
            Observation::Cell(_) => [&self.scaling[..], &self.scaling[..]].concat(),
        }
    }

    /// The actor's action in a state, without noise.
    pub(crate) fn act(&mut self, state: &[f64]) -> &[f64] {
        let inputs = &mut self.batch.critic_inputs;
        inputs.clear();
        append_scaled_observation(&self.observation, &self.scaling, state, inputs);
        self.actor.forward(inputs, &mut self.actor_trace)
    }

    /// One step of learning.
    pub(crate) fn update(
        &mut self,
        buffer: &ReplayBuffer,
        config: &DdpgConfig,
        random: &mut Random,
    ) {
        self.sample(buffer, config.batch, random);
        self.update_critic(config);
        self.update_actor();
        self.critic_target.approach(&self.critic, config.target_share);
        self.actor_target.approach(&self.actor, config.target_share);
    }

    fn sample(&mut self, buffer: &ReplayBuffer, count: usize, random: &mut Random) {
        let batch = &mut self.batch;
        for part in [
            &mut batch.observations,
            &mut batch.next_observations,
            &mut batch.states,
            &mut batch.next_states,
            &mut batch.actions,
        ] {
            part.clear();
        }
        batch.rewards.clear();
        for _ in 0..count {
            let Some(sample) = buffer.sample(random) else { return };
            let (observation, scaling) = (&self.observation, &self.scaling);
            let observations = &mut batch.observations;
            append_scaled_observation(observation, scaling, sample.state, observations);
            let observations = &mut batch.next_observations;
            append_scaled_observation(observation, scaling, sample.next, observations);
            append_scaled(scaling, sample.state, &mut batch.states);
            append_scaled(scaling, sample.next, &mut batch.next_states);
            batch.actions.extend_from_slice(sample.action);
            let follows = if sample.is_terminal { 0.0 } else { 1.0 };
            batch.rewards.push((sample.reward, follows));
        }
    }

    /// Moves Q towards r + γ Q′(s′, μ′(s′)).
    fn update_critic(&mut self, config: &DdpgConfig) {
        let (batch, dimension) = (&mut self.batch, self.scaling.len());
        let next = self.actor_target.forward(&batch.next_observations, &mut self.actor_trace);
        join(&batch.next_states, dimension, next, self.actions, &mut batch.critic_inputs);
        let values = self.critic_target.forward(&batch.critic_inputs, &mut self.critic_trace);
        let targets = values.iter().zip(&batch.rewards);
        batch.by_outputs.clear();
        batch.by_outputs.extend(
            targets.map(|(value, (reward, follows))| reward + follows * config.discount * value),
        );
        join(&batch.states, dimension, &batch.actions, self.actions, &mut batch.critic_inputs);
        let values = self.critic.forward(&batch.critic_inputs, &mut self.critic_trace);
        let share = share(batch.rewards.len());
        for (target, value) in batch.by_outputs.iter_mut().zip(values) {
            *target = share * (value - *target);
        }
        self.critic_gradient.fill(0.0);
        let gradient = Some(&mut self.critic_gradient[..]);
        self.critic.backward(&mut self.critic_trace, &batch.by_outputs, gradient);
        self.critic_adam.descend(&mut self.critic.parameters, &self.critic_gradient);
    }

    /// Moves μ to greater Q(s, μ(s)).
    fn update_actor(&mut self) {
        let (batch, dimension) = (&mut self.batch, self.scaling.len());
        let actions = self.actor.forward(&batch.observations, &mut self.actor_trace);
        join(&batch.states, dimension, actions, self.actions, &mut batch.critic_inputs);
        self.critic.forward(&batch.critic_inputs, &mut self.critic_trace);
        batch.by_outputs.clear();
        batch.by_outputs.resize(batch.rewards.len(), -share(batch.rewards.len()));
        let by_inputs = self.critic.backward(&mut self.critic_trace, &batch.by_outputs, None);
        batch.by_outputs.clear();
        for row in by_inputs.chunks_exact(dimension + self.actions) {
            batch.by_outputs.extend_from_slice(&row[dimension..]);
        }
        self.actor_gradient.fill(0.0);
        let gradient = Some(&mut self.actor_gradient[..]);
        self.actor.backward(&mut self.actor_trace, &batch.by_outputs, gradient);
        self.actor_adam.descend(&mut self.actor.parameters, &self.actor_gradient);
    }
}

/// The share of one sample in the mean.
fn share(count: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a batch is small")]
    let count = count.max(1) as f64;
    1.0 / count
}

fn append_scaled(scaling: &[(f64, f64)], values: &[f64], scaled: &mut Vec<f64>) {
    scaled.extend(values.iter().zip(scaling).map(|(x, (mean, deviation))| (x - mean) / deviation));
}

fn append_scaled_observation(
    observation: &Observation,
    scaling: &[(f64, f64)],
    state: &[f64],
    scaled: &mut Vec<f64>,
) {
    let begin = scaled.len();
    observation.append(state, scaled);
    for (x, (mean, deviation)) in scaled[begin..].iter_mut().zip(scaling.iter().cycle()) {
        *x = (*x - mean) / deviation;
    }
}

/// Rows of two matrices side by side.
fn join(left: &[f64], left_width: usize, right: &[f64], right_width: usize, rows: &mut Vec<f64>) {
    rows.clear();
    for (left, right) in left.chunks_exact(left_width).zip(right.chunks_exact(right_width)) {
        rows.extend_from_slice(left);
        rows.extend_from_slice(right);
    }
}
