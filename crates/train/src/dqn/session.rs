//! The training loop: runs with exploration, steps of learning, evaluations, checkpoints.

use std::cmp::Ordering;
use std::time::{Duration, Instant};

use policert_engine_api::{Budget, StopReason};
use policert_explore::{EpisodeEnd, Random};

use super::config::{DqnConfig, Rewards};
use super::environment::Environment;
use super::experience::{Experience, StepOutcome};
use super::label_network::LabelNetwork;
use super::learner::{Learner, best};
use super::score::{TrainingScore, evaluate};
use super::{DqnEnding, DqnObserver, DqnProgress, DqnTask, DqnTrained};
use crate::archive::{Archive, Mark, broken};
use crate::error::TrainError;

/// The mark of checkpoints of deep Q-learning.
const MARK: &Mark = b"PCDQN\0\0\x01";

/// Everything that training consists of between two steps.
pub(crate) struct Session<'m> {
    config: &'m DqnConfig,
    /// Names task and parameters.
    fingerprint: String,
    environment: Environment<'m>,
    /// Without shaping, for evaluations.
    judge: Environment<'m>,
    /// Inputs and outputs of the network.
    sizes: (usize, usize),
    /// Width of each input's domain.
    widths: Vec<f64>,
    /// The seed's number, from 0.
    seed: u32,
    run: Run,
    best: Option<Best>,
    /// Of earlier seeds.
    steps_before: u64,
    updates_before: u64,
    buffers: Buffers,
}

/// Holds what belongs to one seed.
struct Run {
    random: Random,
    learner: Learner,
    experience: Experience,
    step: u64,
    in_run: bool,
}

/// The best network so far.
#[derive(Clone)]
struct Best {
    network: LabelNetwork,
    score: TrainingScore,
    seed: u64,
}

#[derive(Default)]
struct Buffers {
    before: Vec<f64>,
    after: Vec<f64>,
    mask: Vec<bool>,
}

/// Says what comes of an evaluation.
enum Assessment {
    GoOn,
    /// Nothing is left to be learnt.
    Perfect,
    Stopped(StopReason),
}

/// The time that the last evaluation may take after a stop.
const GRACE: Duration = Duration::from_millis(200);

/// Keep the random numbers of evaluations apart from those of training.
const EVALUATION: u64 = 0x5ca1_ab1e_0000_0001;
const LAST_EVALUATION: u64 = 0x5ca1_ab1e_0000_0002;

impl Run {
    fn new(sizes: (usize, usize), seed: u64, config: &DqnConfig) -> Self {
        let mut random = Random::new(seed);
        let learner = Learner::new(sizes.0, sizes.1, config, &mut random.fork());
        let experience = Experience::new(config.buffer, sizes.0, sizes.1);
        Self { random, learner, experience, step: 0, in_run: false }
    }
}

impl<'m> Session<'m> {
    pub(crate) fn new(task: DqnTask<'m>, config: &'m DqnConfig) -> Result<Self, TrainError> {
        let (question, objective) = (task.question, task.objective);
        let environment = |rewards: &Rewards| {
            Environment::new(question, objective, task.starts, rewards, config.horizon)
        };
        let widths = objective.inputs.iter().map(|v| {
            let side = question.model.variables[v.index()].domain;
            #[expect(clippy::cast_precision_loss, reason = "a width to scale by")]
            let width = side.lo.abs_diff(side.hi) as f64;
            if side.is_bounded() { width } else { f64::INFINITY }
        });
        let sizes = (objective.inputs.len(), objective.outputs.len());
        Ok(Self {
            config,
            fingerprint: format!("{} {objective:?} {config:?}", task.fingerprint),
            environment: environment(&config.rewards),
            judge: environment(&Rewards { potential: 0.0, ..config.rewards.clone() }),
            sizes,
            widths: widths.collect(),
            seed: 0,
            run: Run::new(sizes, config.seed, config),
            best: None,
            steps_before: 0,
            updates_before: 0,
            buffers: Buffers::default(),
        })
    }

    /// Trains up to the end or to a stop.
    pub(crate) fn run(
        &mut self,
        budget: &mut Budget,
        observer: &mut dyn DqnObserver,
    ) -> Result<DqnTrained, TrainError> {
        let stop = self.train(budget, observer)?;
        let begin = Instant::now();
        // After a stop there is little time left.
        let mut go_on = || match stop {
            None => budget.poll_clock().is_ok(),
            Some(_) => begin.elapsed() < GRACE,
        };
        let mut best = match self.best.take() {
            Some(best) => best,
            None => self.evaluate(&mut || false)?,
        };
        if !best.network.perceptron.is_finite() {
            let message = "training diverged, some weights are no finite numbers any more: smaller \
                           steps (rate) or smaller rewards may help";
            return Err(TrainError::Config(message.to_owned()));
        }
        let score = self.judge_finally(&mut best.network, &mut go_on)?;
        let ending = match stop.or_else(|| budget.poll_clock().err()) {
            None => DqnEnding::Done,
            Some(reason) => DqnEnding::Stopped(reason),
        };
        Ok(DqnTrained {
            seed: best.seed,
            score,
            network: best.network,
            ending,
            steps: self.steps_before + self.run.step,
            updates: self.updates_before + self.run.learner.updates,
        })
    }

    /// Returns why training stopped early, if it did.
    fn train(
        &mut self,
        budget: &mut Budget,
        observer: &mut dyn DqnObserver,
    ) -> Result<Option<StopReason>, TrainError> {
        loop {
            while self.run.step < self.config.steps {
                // A step of learning may take long.
                if let Err(reason) = budget.poll_clock() {
                    return Ok(Some(reason));
                }
                self.advance()?;
                let is_last = self.run.step == self.config.steps;
                if self.run.step.is_multiple_of(self.config.evaluate_every) || is_last {
                    match self.assess(budget, observer)? {
                        Assessment::GoOn => {}
                        Assessment::Perfect => return Ok(None),
                        Assessment::Stopped(reason) => return Ok(Some(reason)),
                    }
                }
            }
            if self.seed + 1 >= self.config.seeds {
                return Ok(None);
            }
            self.steps_before += self.run.step;
            self.updates_before += self.run.learner.updates;
            self.seed += 1;
            self.run = Run::new(self.sizes, self.seed_now(), self.config);
        }
    }

    fn seed_now(&self) -> u64 {
        self.config.seed.wrapping_add(u64::from(self.seed))
    }

    /// One step in the model, and what is learnt after it.
    fn advance(&mut self) -> Result<(), TrainError> {
        let (config, run, environment) = (self.config, &mut self.run, &mut self.environment);
        let Buffers { before, after, mask } = &mut self.buffers;
        if !run.in_run {
            environment.begin(&mut run.random, &mut |_| false)?;
            run.in_run = true;
        }
        before.clear();
        environment.observe(before);
        mask.clear();
        mask.extend_from_slice(environment.applicable());
        let warm = run.step < config.warm_up as u64;
        let output = if warm || run.random.unit() < config.exploration_at(run.step) {
            random_output(mask, &mut run.random)
        } else {
            best(run.learner.values(before), |k| mask[k])
        };
        // A run goes on only where some label is applicable.
        let output = output.unwrap_or(0);
        let arrival = environment.act(output, &mut run.random)?;
        run.step += 1;
        run.in_run = arrival.end.is_none();
        after.clear();
        environment.observe(after);
        let weight = match arrival.end {
            None => config.discount,
            // Cut off where something may go on.
            Some(EpisodeEnd::CutOff) if environment.applicable().contains(&true) => config.discount,
            Some(_) => 0.0,
        };
        let outcome = StepOutcome {
            output: u32::try_from(output).unwrap_or(u32::MAX),
            reward: arrival.reward,
            weight,
        };
        let masks = [&mask[..], environment.applicable()];
        run.experience.push([before, after], masks, outcome);
        if run.step == config.warm_up as u64 {
            run.learner.set_scaling(&run.experience, &self.widths);
        }
        if !warm && run.step.is_multiple_of(config.learn_every) {
            run.learner.adam.set_rate(config.rate_at(run.step));
            run.learner.learn(&run.experience, config, &mut run.random);
        }
        Ok(())
    }

    /// Evaluates, keeps the best and writes a checkpoint.
    fn assess(
        &mut self,
        budget: &mut Budget,
        observer: &mut dyn DqnObserver,
    ) -> Result<Assessment, TrainError> {
        let mut go_on = || budget.poll_clock().is_ok();
        let mut now = self.evaluate(&mut go_on)?;
        let score = now.score;
        let is_done =
            score.is_perfect() && self.judge_finally(&mut now.network, &mut go_on)?.is_perfect();
        // A score of fewer runs is not compared with others.
        if let Err(reason) = budget.poll_clock() {
            return Ok(Assessment::Stopped(reason));
        }
        let competent = self.config.competent;
        let best = match self.best.take() {
            Some(best)
                if !is_done && score.compare(&best.score, competent) != Ordering::Greater =>
            {
                best
            }
            _ => now,
        };
        observer.progress(&DqnProgress {
            seed: self.seed_now(),
            step: self.run.step,
            updates: self.run.learner.updates,
            score,
            best: best.score,
        });
        self.best = Some(best);
        if is_done {
            return Ok(Assessment::Perfect);
        }
        if observer.wants_checkpoints() {
            observer.checkpoint(self.checkpoint()?)?;
        }
        Ok(Assessment::GoOn)
    }

    /// The network as it would be written, and how it does.
    fn evaluate(&mut self, go_on: &mut dyn FnMut() -> bool) -> Result<Best, TrainError> {
        let learner = &self.run.learner;
        let mut network = LabelNetwork::new(learner.online.clone().reading_raw(&learner.scaling));
        let random = Random::new(self.config.seed ^ EVALUATION);
        let score = self.judge(&mut network, self.config.evaluation_runs, random, go_on)?;
        Ok(Best { network, score, seed: self.seed_now() })
    }

    fn judge_finally(
        &mut self,
        network: &mut LabelNetwork,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<TrainingScore, TrainError> {
        let random = Random::new(self.config.seed ^ LAST_EVALUATION);
        self.judge(network, self.config.final_runs, random, go_on)
    }

    fn judge(
        &mut self,
        network: &mut LabelNetwork,
        runs: u32,
        random: Random,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<TrainingScore, TrainError> {
        let stuck = self.config.rewards.stuck;
        evaluate(&mut self.judge, network, self.config.mask, stuck, runs, random, go_on)
    }

    /// Returns what training can be continued from.
    fn checkpoint(&mut self) -> Result<Vec<u8>, TrainError> {
        let mut archive = Archive::writer(MARK);
        self.describe(&mut archive)?;
        Ok(archive.finish())
    }

    /// Continues where a checkpoint was written.
    pub(crate) fn restore(&mut self, bytes: &[u8]) -> Result<(), TrainError> {
        let mut archive = Archive::reader(bytes, MARK)?;
        self.describe(&mut archive)?;
        let is_whole = archive.is_at_end()
            && self.seed < self.config.seeds
            && self.run.step <= self.config.steps
            && self.run.experience.is_consistent();
        if is_whole { Ok(()) } else { Err(broken()) }
    }

    /// All values, in their order in a checkpoint.
    fn describe(&mut self, archive: &mut Archive<'_>) -> Result<(), TrainError> {
        archive.same_text(&self.fingerprint)?;
        archive.u32(&mut self.seed)?;
        archive.u64(&mut self.steps_before)?;
        archive.u64(&mut self.updates_before)?;
        self.run.describe(archive)?;
        let (state, mut steps) = self.environment.position();
        let mut state = state.to_vec();
        archive.list(&mut state, Archive::i64)?;
        archive.u32(&mut steps)?;
        if matches!(archive, Archive::Reader(_)) && self.run.in_run {
            if !self.environment.is_state(&state) {
                return Err(broken());
            }
            self.environment.go_to(&state, steps)?;
        }
        let mut has_best = u32::from(self.best.is_some());
        archive.u32(&mut has_best)?;
        if has_best != 0 {
            let network = LabelNetwork::new(self.run.learner.online.clone());
            let unknown = Best { network, score: TrainingScore::default(), seed: 0 };
            self.best.get_or_insert(unknown).describe(archive)?;
        }
        Ok(())
    }
}

impl Run {
    fn describe(&mut self, archive: &mut Archive<'_>) -> Result<(), TrainError> {
        let mut state = self.random.state();
        archive.u64(&mut state)?;
        self.random = Random::new(state);
        archive.u64(&mut self.step)?;
        let mut in_run = u32::from(self.in_run);
        archive.u32(&mut in_run)?;
        self.in_run = in_run != 0;
        let learner = &mut self.learner;
        archive.u64(&mut learner.updates)?;
        archive.f64s(&mut learner.online.parameters)?;
        archive.f64s(&mut learner.target.parameters)?;
        let mut result = Ok(());
        learner.adam.visit(&mut |values| {
            if result.is_ok() {
                result = archive.f64s(values);
            }
        });
        result?;
        for (mean, deviation) in &mut learner.scaling {
            archive.f64(mean)?;
            archive.f64(deviation)?;
        }
        let (states, outcomes, masks, next) = self.experience.parts();
        archive.list(states, Archive::f32)?;
        archive.list(outcomes, |archive, outcome| {
            archive.u32(&mut outcome.output)?;
            archive.f64(&mut outcome.reward)?;
            archive.f64(&mut outcome.weight)
        })?;
        archive.list(masks, Archive::u64)?;
        archive.usize(next)
    }
}

impl Best {
    fn describe(&mut self, archive: &mut Archive<'_>) -> Result<(), TrainError> {
        archive.f64s(&mut self.network.perceptron.parameters)?;
        archive.u64(&mut self.seed)?;
        let TrainingScore { runs, goal, unsafe_runs, stuck, cut_off, mean_return, mean_choices } =
            &mut self.score;
        for count in [runs, goal, unsafe_runs, stuck, cut_off] {
            archive.u32(count)?;
        }
        archive.f64(mean_return)?;
        archive.f64(mean_choices)
    }
}

/// One of the outputs that may be chosen, uniformly.
fn random_output(mask: &[bool], random: &mut Random) -> Option<usize> {
    let count = mask.iter().filter(|&&may| may).count();
    let chosen = random.below(count);
    (0..mask.len()).filter(|&k| mask[k]).nth(chosen)
}
