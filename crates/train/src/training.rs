//! The training loop: runs with exploration, evaluations, and when to stop.

use policert_engine_api::{Budget, StopReason};

use crate::Random;
use crate::actor::Actor;
use crate::config::DdpgConfig;
use crate::ddpg::Agent;
use crate::error::TrainError;
use crate::noise::{Noise, NoiseKind};
use crate::observation::Observation;
use crate::plant::Plant;
use crate::replay_buffer::{ReplayBuffer, StoredTransition};
use crate::run::{RunAim, TrainingEvaluation, evaluate, start_states};

/// Says how training ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TrainingEnding {
    /// Every run of the last evaluation is as wanted.
    Solved,
    /// All attempts were made.
    Exhausted,
    /// The budget said stop.
    Stopped(StopReason),
}

/// The result of training.
#[derive(Clone, Debug)]
pub struct Trained {
    /// The network of the best evaluation.
    pub actor: Actor,
    /// That evaluation.
    pub evaluation: TrainingEvaluation,
    /// The way in which training ended.
    pub ending: TrainingEnding,
    /// Attempts begun.
    pub attempts: u32,
    /// Runs with exploration, over all attempts.
    pub episodes: u64,
    /// Their steps.
    pub steps: u64,
}

/// Says where training stands, after each evaluation.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TrainingProgress {
    /// The attempt, from 1.
    pub attempt: u32,
    /// Runs with exploration in this attempt.
    pub episode: u32,
    /// The last evaluation.
    pub evaluation: TrainingEvaluation,
}

/// Trains a network for a plant. The same arguments give the same network, whatever `progress`
/// does, unless the budget ends it.
///
/// # Errors
/// If configuration or observation do not fit the plant.
pub fn train(
    plant: &mut dyn Plant,
    observation: &Observation,
    config: &DdpgConfig,
    budget: &mut Budget,
    progress: &mut dyn FnMut(&TrainingProgress),
) -> Result<Trained, TrainError> {
    config.check()?;
    check_plant(plant, observation)?;
    let mut random = Random::new(config.seed);
    let starts = start_states(plant.initial(), config.evaluation_starts, &mut random.fork());
    let aim = RunAim::new(plant, config.margin);
    let mut best: Option<(Actor, TrainingEvaluation)> = None;
    let (mut attempts, mut episodes, mut steps) = (0, 0, 0);
    let ending = 'search: {
        for attempt in 1..=config.attempts {
            attempts = attempt;
            let mut trainer = Trainer::new(plant, observation, config, &aim, random.fork(), budget);
            for episode in 0..=config.episodes {
                if episode > 0 {
                    episodes += 1;
                    if let Err(reason) = trainer.episode(episode, budget, &mut steps) {
                        break 'search TrainingEnding::Stopped(reason);
                    }
                }
                if episode % config.evaluate_every == 0 {
                    let (actor, evaluation, stopped) = trainer.evaluate(episode, &starts, budget);
                    if let Some(reason) = stopped {
                        // An evaluation of fewer runs is not compared with others.
                        best.get_or_insert((actor, evaluation));
                        break 'search TrainingEnding::Stopped(reason);
                    }
                    progress(&TrainingProgress { attempt, episode, evaluation });
                    if best.as_ref().is_none_or(|(_, best)| evaluation.is_better_than(best)) {
                        best = Some((actor, evaluation));
                    }
                    if evaluation.is_solved() {
                        break 'search TrainingEnding::Solved;
                    }
                }
            }
        }
        TrainingEnding::Exhausted
    };
    let Some((actor, evaluation)) = best else {
        return Err(TrainError::Config("training: there is at least one attempt".to_owned()));
    };
    Ok(Trained { actor, evaluation, ending, attempts, episodes, steps })
}

fn check_plant(plant: &dyn Plant, observation: &Observation) -> Result<(), TrainError> {
    let dimension = plant.dimension();
    let finite = |bounds: &[(f64, f64)]| {
        !bounds.is_empty() && bounds.iter().all(|(lo, hi)| lo <= hi && (hi - lo).is_finite())
    };
    let regions = [plant.goal(), plant.avoid()];
    let mut sides = regions.into_iter().flatten().flat_map(|region| region.sides());
    let rules = [
        (plant.initial().len() == dimension, "the initial box has another dimension"),
        (finite(plant.initial()), "the initial box is no bounded box"),
        (finite(plant.action_ranges()), "the action ranges are no bounded box"),
        (sides.all(|side| side.variable < dimension), "a region bounds an unknown variable"),
        (
            match observation {
                Observation::State => true,
                Observation::Cell(cells) => cells.dimension() == dimension,
            },
            "the cells have another dimension than the plant",
        ),
    ];
    match rules.iter().find(|(holds, _)| !holds) {
        None => Ok(()),
        Some((_, what)) => Err(TrainError::Config((*what).to_owned())),
    }
}

/// The share of the initial box's widths by which starts of exploring runs lie beyond it.
const START_ROOM: f64 = 0.25;
/// Deviations of variables that hardly change in random runs count as this.
const MIN_DEVIATION: f64 = 1e-3;

/// Deviation of the random actions at the beginning.
const WARM_UP_DEVIATION: f64 = 0.5;

/// One attempt.
struct Trainer<'a> {
    runs: Runs<'a>,
    config: &'a DdpgConfig,
    observation: &'a Observation,
    agent: Agent,
    random: Random,
}

impl<'a> Trainer<'a> {
    fn new(
        plant: &'a mut dyn Plant,
        observation: &'a Observation,
        config: &'a DdpgConfig,
        aim: &'a RunAim,
        mut random: Random,
        budget: &mut Budget,
    ) -> Self {
        let actions = plant.action_ranges().len();
        let buffer = ReplayBuffer::new(config.buffer, plant.dimension(), actions);
        let mut runs = Runs { plant, aim, buffer, noise: config.noise };
        // Runs that end at once bring no transitions.
        'runs: for _ in 0..config.warm_up {
            if runs.buffer.len() >= config.warm_up {
                break;
            }
            let mut run = runs.start(&mut random);
            while runs.advance(&mut run, None, WARM_UP_DEVIATION, &mut random) {
                // The evaluation that comes next stops as well.
                if budget.poll_clock().is_err() {
                    break 'runs;
                }
            }
        }
        let scaling = scaling(runs.buffer.states(), runs.plant.dimension());
        let agent = Agent::new(config, observation.clone(), scaling, actions, &mut random);
        Self { runs, config, observation, agent, random }
    }

    /// One run with exploration, with one step of learning after each of its steps.
    fn episode(
        &mut self,
        episode: u32,
        budget: &mut Budget,
        steps: &mut u64,
    ) -> Result<(), StopReason> {
        let (first, last) = self.config.deviation;
        let deviation = first + (last - first) * self.config.decayed(episode - 1);
        let mut run = self.runs.start(&mut self.random);
        loop {
            // A step of learning may take long.
            budget.poll_clock()?;
            let goes_on =
                self.runs.advance(&mut run, Some(&mut self.agent), deviation, &mut self.random);
            self.agent.update(&self.runs.buffer, self.config, &mut self.random);
            *steps += 1;
            if !goes_on {
                return Ok(());
            }
        }
    }

    /// The present network as it would be written, and how it does with what is left of the
    /// margin, and why the evaluation was stopped, if it was.
    fn evaluate(
        &mut self,
        episode: u32,
        starts: &[Vec<f64>],
        budget: &mut Budget,
    ) -> (Actor, TrainingEvaluation, Option<StopReason>) {
        let margin = self.config.margin * (1.0 - self.config.decayed(episode));
        let aim = RunAim::new(self.runs.plant, margin);
        let mut actor = Actor::new(
            self.agent.actor.clone(),
            self.observation.clone(),
            &self.agent.input_scaling(),
            self.runs.plant.action_ranges(),
        );
        let (evaluation, stopped) = evaluate(self.runs.plant, &mut actor, &aim, starts, budget);
        (actor, evaluation, stopped)
    }
}

/// Runs of the plant that are remembered.
struct Runs<'a> {
    plant: &'a mut dyn Plant,
    aim: &'a RunAim,
    buffer: ReplayBuffer,
    noise: NoiseKind,
}

struct Run {
    state: Vec<f64>,
    step: u32,
    noise: Noise,
    /// In units of half the range from its middle, and as the plant takes it.
    action: Vec<f64>,
    plant_action: Vec<f64>,
}

impl Runs<'_> {
    fn start(&mut self, random: &mut Random) -> Run {
        let start = self.plant.initial().iter().map(|&(lo, hi)| {
            let room = START_ROOM * (hi - lo);
            random.between(lo - room, hi + room)
        });
        Run {
            state: start.collect(),
            step: 0,
            noise: Noise::new(self.noise, self.plant.action_ranges().len()),
            action: Vec::new(),
            plant_action: Vec::new(),
        }
    }

    /// One step; whether the run goes on.
    fn advance(
        &mut self,
        run: &mut Run,
        agent: Option<&mut Agent>,
        deviation: f64,
        random: &mut Random,
    ) -> bool {
        let ranges = self.plant.action_ranges();
        run.action.clear();
        match agent {
            Some(agent) => run.action.extend_from_slice(agent.act(&run.state)),
            None => run.action.resize(ranges.len(), 0.0),
        }
        run.plant_action.clear();
        let noise = run.noise.next(deviation, random);
        for ((action, noise), (lo, hi)) in run.action.iter_mut().zip(noise).zip(ranges) {
            *action = (*action + noise).clamp(-1.0, 1.0);
            run.plant_action.push(lo.midpoint(*hi) + *action * (hi - lo) / 2.0);
        }
        let before = run.state.clone();
        self.plant.step(&mut run.state, &run.plant_action);
        run.step += 1;
        let arrival = self.aim.arrival(run.step, &run.state);
        if arrival.is_lost {
            // There is no state to learn the value of.
            run.state.clone_from(&before);
        }
        let is_terminal = arrival.in_goal || arrival.is_lost;
        self.buffer.push(&StoredTransition {
            state: &before,
            action: &run.action,
            reward: arrival.reward,
            next: &run.state,
            is_terminal,
        });
        !is_terminal && run.step < self.plant.horizon()
    }
}

/// Mean and deviation of each variable.
fn scaling<'s>(states: impl Iterator<Item = &'s [f64]>, dimension: usize) -> Vec<(f64, f64)> {
    let (mut count, mut sums, mut squares) = (0.0f64, vec![0.0; dimension], vec![0.0; dimension]);
    for state in states {
        count += 1.0;
        for ((sum, square), x) in sums.iter_mut().zip(&mut squares).zip(state) {
            *sum += x;
            *square += x * x;
        }
    }
    let moments = sums.iter().zip(&squares).map(|(sum, square)| {
        let mean = sum / count;
        let deviation = (square / count - mean * mean).max(0.0).sqrt().max(MIN_DEVIATION);
        if mean.is_finite() && deviation.is_finite() { (mean, deviation) } else { (0.0, 1.0) }
    });
    moments.collect()
}

#[cfg(test)]
mod tests;
