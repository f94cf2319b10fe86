//! The loop of training.

use policert_asnet::{Asnet, DomainShape};
use policert_engine_api::{Budget, EngineError, StopReason};
use policert_explore::Random;
use policert_pddl::Task;

use super::config::AsnetConfig;
use super::pass::{Dropout, Pass, Weighted};
use super::problem::Problem;
use super::teacher::Lesson;
use super::weights::{Weights, flat, put};
use crate::adam::Adam;
use crate::archive::{Archive, Mark, broken, checksum};
use crate::error::TrainError;

/// The mark of checkpoints of these trainings.
const MARK: &Mark = b"PCASN\0\0\x02";

/// What a round came to.
#[derive(Clone, PartialEq, Debug)]
pub struct AsnetProgress {
    /// The round, from 1.
    pub round: usize,
    /// The mean loss of its batches.
    pub loss: f64,
    /// Number of states that are learnt from.
    pub states: usize,
    /// Number of problems that the network solves.
    pub solved: usize,
    /// Number of problems.
    pub problems: usize,
}

/// Hears how training goes.
pub trait AsnetObserver {
    /// A round ended.
    fn progress(&mut self, progress: &AsnetProgress);

    /// Returns whether [`checkpoint`](Self::checkpoint) is to be called.
    fn wants_checkpoints(&self) -> bool {
        false
    }

    /// What training can be continued from, after each round.
    fn checkpoint(&mut self, _bytes: Vec<u8>) {}
}

/// A network that was trained.
#[derive(Clone, Debug)]
pub struct AsnetTrained {
    /// The network of the best round.
    pub asnet: Asnet,
    /// What that round came to.
    pub best: AsnetProgress,
    /// Why training was stopped, if it was.
    pub stopped: Option<StopReason>,
}

/// In so many rounds one after the other all problems are solved before training ends.
const ENOUGH: usize = 5;

/// A training.
pub struct AsnetTraining {
    config: AsnetConfig,
    /// Names problems and settings.
    fingerprint: String,
    problems: Vec<Problem>,
    asnet: Asnet,
    adam: Adam,
    random: Random,
    /// Rounds that are over.
    round: usize,
    /// The last of them in which all problems were solved.
    in_a_row: usize,
    best: Option<(Asnet, AsnetProgress)>,
}

impl AsnetTraining {
    /// Prepares a training. The problems are of one domain.
    ///
    /// # Errors
    /// Settings that make no sense, no problems, problems of several domains or without way to the goal, and
    /// a stop.
    pub fn new(
        config: AsnetConfig,
        tasks: Vec<Task>,
        budget: &mut Budget,
    ) -> Result<Self, TrainError> {
        config.check()?;
        let Some(first) = tasks.first() else {
            return Err(TrainError::Setting("there are no problems to train on".to_owned()));
        };
        let shape = DomainShape::of(&first.domain);
        let fingerprint = fingerprint(&config, &shape, &tasks);
        let problems = Problem::all(tasks, &shape, config.exact_states, budget)?;
        let mut random = Random::new(config.seed);
        let mut asnet = Asnet::zeros(shape, config.architecture);
        let mut parameters = 0;
        for module in asnet.modules_mut() {
            // Glorot and Bengio's.
            #[expect(clippy::cast_precision_loss, reason = "modules are small")]
            let bound = (6.0 / (module.inputs + module.bias.len()) as f64).sqrt();
            module.weights.iter_mut().for_each(|weight| *weight = random.between(-bound, bound));
            parameters += module.weights.len() + module.bias.len();
        }
        let adam = Adam::new(parameters, config.rate);
        let (round, in_a_row, best) = (0, 0, None);
        Ok(Self { config, fingerprint, problems, asnet, adam, random, round, in_a_row, best })
    }

    /// Trains until all problems are solved in several rounds one after the other, to the last round,
    /// or to a stop. Weights of the result are multiples of 2⁻¹², and so are those of the runs that decide
    /// which round is the best.
    ///
    /// # Errors
    /// A stop before the first round was over.
    pub fn run(
        mut self,
        observer: &mut dyn AsnetObserver,
        budget: &mut Budget,
    ) -> Result<AsnetTrained, TrainError> {
        let mut stopped = None;
        while self.round < self.config.rounds && self.in_a_row < ENOUGH {
            match self.next_round(budget) {
                Ok(progress) => observer.progress(&progress),
                Err(reason) => {
                    stopped = Some(reason);
                    break;
                }
            }
            if observer.wants_checkpoints() {
                let mut archive = Archive::writer(MARK);
                self.describe(&mut archive)?;
                observer.checkpoint(archive.finish());
            }
        }
        match (self.best, stopped) {
            (Some((asnet, best)), stopped) => Ok(AsnetTrained { asnet, best, stopped }),
            (None, Some(reason)) => Err(EngineError::from(reason).into()),
            (None, None) => Err(TrainError::Setting("rounds are 1 at least".to_owned())),
        }
    }

    /// Continues where a checkpoint was written.
    ///
    /// # Errors
    /// One of other problems or settings, or a damaged one.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), TrainError> {
        let mut archive = Archive::reader(bytes, MARK)?;
        self.describe(&mut archive)?;
        if archive.is_at_end() { Ok(()) } else { Err(broken()) }
    }

    fn next_round(&mut self, budget: &mut Budget) -> Result<AsnetProgress, StopReason> {
        if self.round == 0 {
            self.explore(&self.asnet.clone(), budget)?;
        }
        let mut losses = 0.0;
        self.adam.set_rate(self.config.rate_in(self.round));
        for _ in 0..self.config.batches {
            budget.poll_clock()?;
            losses += self.batch();
        }
        let rounded = rounded(&self.asnet);
        let solved = self.explore(&rounded, budget)?;
        self.round += 1;
        let problems = self.problems.len();
        #[expect(clippy::cast_precision_loss, reason = "a small number")]
        let progress = AsnetProgress {
            round: self.round,
            loss: losses / self.config.batches as f64,
            states: self.problems.iter().map(|problem| problem.lessons.len()).sum(),
            solved,
            problems,
        };
        let rank = |progress: &AsnetProgress| (progress.solved, -progress.loss);
        if self.best.as_ref().is_none_or(|(_, best)| rank(&progress) > rank(best)) {
            self.best = Some((rounded, progress.clone()));
        }
        self.in_a_row = if solved == problems { self.in_a_row + 1 } else { 0 };
        Ok(progress)
    }

    /// Runs a network in every problem, and notes states. Returns how many problems it solves.
    fn explore(&mut self, asnet: &Asnet, budget: &mut Budget) -> Result<usize, StopReason> {
        let mut solved = 0;
        for problem in &mut self.problems {
            let is_solved = problem.explore(asnet, &self.config, &mut self.random, budget)?;
            solved += usize::from(is_solved);
        }
        Ok(solved)
    }

    /// One step of Adam; returns the mean loss.
    fn batch(&mut self) -> f64 {
        let mut gradient = Weights::zeros(&self.asnet);
        let network = Weighted::new(&self.asnet);
        #[expect(clippy::cast_precision_loss, reason = "a small number")]
        let share = 1.0 / self.config.batch as f64;
        let mut loss = 0.0;
        for _ in 0..self.config.batch {
            let problem = &self.problems[self.random.below(self.problems.len())];
            if problem.lessons.is_empty() {
                continue;
            }
            let lesson = &problem.lessons[self.random.below(problem.lessons.len())];
            let mut applicable = vec![false; problem.instance.actions.len()];
            lesson.applicable.iter().for_each(|&action| applicable[action] = true);
            let (probability, random) = (self.config.dropout, &mut self.random);
            let dropout = (probability > 0.0).then_some(Dropout { probability, random });
            let pass = Pass::new(&network, &problem.instance, &lesson.state, &applicable, dropout);
            let (of_lesson, mut by_scores) = loss_of(pass.scores(), lesson);
            loss += share * of_lesson;
            by_scores.iter_mut().for_each(|by| *by *= share);
            pass.add_gradient(&by_scores, &mut gradient);
        }
        let mut slopes = gradient.flat();
        let mut parameters = flat(&mut self.asnet);
        let AsnetConfig { weight_decay, l1, .. } = self.config;
        for (slope, &weight) in slopes.iter_mut().zip(&parameters) {
            let sign = if weight.abs() > 0.0 { weight.signum() } else { 0.0 };
            *slope += weight_decay * weight + l1 * sign;
        }
        self.adam.descend(&mut parameters, &slopes);
        put(&mut self.asnet, &parameters);
        loss
    }

    /// All values, in their order in a checkpoint.
    fn describe(&mut self, archive: &mut Archive<'_>) -> Result<(), TrainError> {
        archive.same_text(&self.fingerprint)?;
        archive.usize(&mut self.round)?;
        archive.usize(&mut self.in_a_row)?;
        let mut state = self.random.state();
        archive.u64(&mut state)?;
        self.random = Random::new(state);
        let mut parameters = flat(&mut self.asnet);
        archive.f64s(&mut parameters)?;
        put(&mut self.asnet, &parameters);
        let mut result = Ok(());
        self.adam.visit(&mut |values| {
            if result.is_ok() {
                result = archive.f64s(values);
            }
        });
        result?;
        self.problems.iter_mut().try_for_each(|problem| problem.describe(archive))?;
        // After a round there is always a best one.
        let (asnet, best) = self.best.get_or_insert_with(|| {
            let (loss, problems) = (f64::INFINITY, self.problems.len());
            (self.asnet.clone(), AsnetProgress { round: 0, loss, states: 0, solved: 0, problems })
        });
        let mut parameters = flat(asnet);
        archive.f64s(&mut parameters)?;
        put(asnet, &parameters);
        archive.usize(&mut best.round)?;
        archive.f64(&mut best.loss)?;
        archive.usize(&mut best.states)?;
        archive.usize(&mut best.solved)
    }
}

/// Names what training depends on, but for the number of rounds, which may be raised.
fn fingerprint(config: &AsnetConfig, shape: &DomainShape, tasks: &[Task]) -> String {
    let settings = AsnetConfig { rounds: 0, ..config.clone() };
    let sum = |task: &Task| {
        let Task { propositions, initial, actions, goal, .. } = task;
        checksum(format!("{propositions:?} {initial:?} {actions:?} {goal:?}").as_bytes())
    };
    let sums: Vec<u64> = tasks.iter().map(sum).collect();
    format!("{} {settings:?} {} {sums:?}", env!("CARGO_PKG_VERSION"), shape.hash)
}

/// −ln of the probability of the wanted actions, and its derivatives by the scores.
pub(crate) fn loss_of(scores: &[f64], lesson: &Lesson) -> (f64, Vec<f64>) {
    let of = |actions: &[usize]| {
        let greatest = actions.iter().map(|&a| scores[a]).fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = actions.iter().map(|&a| (scores[a] - greatest).exp()).sum();
        greatest + sum.ln()
    };
    let (all, wanted) = (of(&lesson.applicable), of(&lesson.wanted));
    let mut by_scores = vec![0.0; scores.len()];
    for &action in &lesson.applicable {
        by_scores[action] += (scores[action] - all).exp();
    }
    for &action in &lesson.wanted {
        by_scores[action] -= (scores[action] - wanted).exp();
    }
    (all - wanted, by_scores)
}

/// The network with weights that are multiples of 2⁻¹²: short in files, and quick to compute exactly.
fn rounded(asnet: &Asnet) -> Asnet {
    const UNIT: f64 = 4096.0;
    let mut rounded = asnet.clone();
    let parameters: Vec<f64> =
        flat(&mut rounded).iter().map(|parameter| (parameter * UNIT).round() / UNIT).collect();
    put(&mut rounded, &parameters);
    rounded
}
