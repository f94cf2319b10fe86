//! The loop of training.

use std::collections::BTreeSet;

use policert_asnet::{Architecture, Asnet, DomainShape, Instance};
use policert_explore::Random;
use policert_pddl::Task;

use super::gradient::Pass;
use super::run::{AsnetRun, asnet_run};
use super::teacher::{Lesson, Lessons};
use crate::adam::Adam;
use crate::error::TrainError;

/// Settings of training. The defaults are those of POLIC3's Table 2, but for dropout, which there is none
/// of here, and fewer and longer rounds.
#[derive(Clone, PartialEq, Debug)]
pub struct AsnetConfig {
    /// The sizes of the network.
    pub architecture: Architecture,
    /// The seed of all that is drawn.
    pub seed: u64,
    /// Most rounds.
    pub rounds: usize,
    /// Batches in each round.
    pub batches: usize,
    /// States in a batch.
    pub batch: usize,
    /// The length of steps of Adam.
    pub rate: f64,
    /// The factor of the squares of the weights in the loss, halved.
    pub weight_decay: f64,
    /// Most actions of a run.
    pub horizon: usize,
}

impl AsnetConfig {
    /// The default settings for a network of these sizes.
    #[must_use]
    pub fn new(architecture: Architecture) -> Self {
        Self {
            architecture,
            seed: 1,
            rounds: 60,
            batches: 100,
            batch: 64,
            rate: 0.003,
            weight_decay: 2e-4,
            horizon: 1000,
        }
    }
}

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

/// A network that was trained.
#[derive(Clone, Debug)]
pub struct AsnetTrained {
    /// The network of the best round.
    pub asnet: Asnet,
    /// What that round came to.
    pub best: AsnetProgress,
    /// True if training ended before all problems were solved, at the last round or at a stop.
    pub is_incomplete: bool,
}

/// A problem to train on.
struct Problem {
    task: Task,
    instance: Instance,
    lessons: Lessons,
    known: BTreeSet<Vec<bool>>,
    states: Vec<Lesson>,
}

/// In so many rounds one after the other all problems are solved before training ends.
const ENOUGH: usize = 5;

/// A training.
pub struct AsnetTraining {
    config: AsnetConfig,
    problems: Vec<Problem>,
    asnet: Asnet,
    adam: Adam,
    random: Random,
}

impl AsnetTraining {
    /// Prepares a training. The problems are of one domain.
    ///
    /// # Errors
    /// Problems of several domains, without way to the goal, or with too many states; no problems.
    pub fn new(
        config: AsnetConfig,
        tasks: Vec<Task>,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<Self, TrainError> {
        let Some(first) = tasks.first() else {
            return Err(TrainError::Setting("there are no problems to train on".to_owned()));
        };
        let shape = DomainShape::of(&first.domain);
        let mut problems = Vec::with_capacity(tasks.len());
        for task in tasks {
            let name = task.problem.name.clone();
            if DomainShape::of(&task.domain) != shape {
                let message = format!("problem `{name}` is of another domain");
                return Err(TrainError::Setting(message));
            }
            let Some(lessons) = Lessons::of(&task, stop) else {
                let message = format!(
                    "problem `{name}` has more than {} states, or its search was stopped: networks \
                     are trained on small problems",
                    super::MAX_STATES
                );
                return Err(TrainError::Setting(message));
            };
            if lessons.distance(&task.initial).is_none() {
                let message = format!("problem `{name}` has no way to its goal");
                return Err(TrainError::Setting(message));
            }
            let instance = Instance::of(&shape, &task);
            let (known, states) = (BTreeSet::new(), Vec::new());
            problems.push(Problem { task, instance, lessons, known, states });
        }
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
        Ok(Self { config, problems, asnet, adam, random })
    }

    /// Trains until all problems are solved in several rounds one after the other, to the last round,
    /// or until `stop` says so. Weights of the result are multiples of 2⁻¹², and so are those of the
    /// runs that decide which round is the best.
    pub fn run(
        mut self,
        observe: &mut dyn FnMut(&AsnetProgress),
        stop: &mut dyn FnMut() -> bool,
    ) -> AsnetTrained {
        let mut best: Option<AsnetTrained> = None;
        let mut in_a_row = 0;
        self.explore();
        for round in 1..=self.config.rounds {
            let Some(loss) = self.learn(stop) else { break };
            let rounded = rounded(&self.asnet);
            let precise = std::mem::replace(&mut self.asnet, rounded);
            let solved = self.explore();
            let problems = self.problems.len();
            let states = self.problems.iter().map(|problem| problem.states.len()).sum();
            let progress = AsnetProgress { round, loss, states, solved, problems };
            observe(&progress);
            let is_better =
                |known: &AsnetTrained| (solved, -loss) > (known.best.solved, -known.best.loss);
            if best.as_ref().is_none_or(is_better) {
                let is_incomplete = solved < problems;
                best =
                    Some(AsnetTrained { asnet: self.asnet.clone(), best: progress, is_incomplete });
            }
            in_a_row = if solved == problems { in_a_row + 1 } else { 0 };
            if in_a_row == ENOUGH {
                break;
            }
            self.asnet = precise;
        }
        best.unwrap_or(AsnetTrained {
            best: AsnetProgress {
                round: 0,
                loss: f64::INFINITY,
                states: 0,
                solved: 0,
                problems: self.problems.len(),
            },
            asnet: self.asnet,
            is_incomplete: true,
        })
    }

    /// Runs the network in every problem, and a shortest way from where it ends; notes the states.
    /// Returns how many problems it solves.
    fn explore(&mut self) -> usize {
        let mut solved = 0;
        for problem in &mut self.problems {
            let horizon = self.config.horizon;
            let AsnetRun { states, reaches_goal } =
                asnet_run(&self.asnet, &problem.task, &problem.instance, horizon, &mut self.random);
            solved += usize::from(reaches_goal);
            let mut last = problem.task.initial.clone();
            for state in states {
                problem.note(&state);
                last = state;
            }
            // From the start, from where the run ended, and from anywhere.
            let anywhere = problem.wander(&mut self.random);
            for mut state in [problem.task.initial.clone(), last, anywhere] {
                while let Some(lesson) = problem.note(&state) {
                    let action = lesson.best[self.random.below(lesson.best.len())];
                    let outcomes = &problem.task.actions[action].outcomes;
                    let next = outcomes.iter().map(|outcome| outcome.after(&state));
                    let nearest =
                        next.min_by_key(|next| problem.lessons.distance(next).unwrap_or(u32::MAX));
                    match nearest {
                        Some(next) => state = next,
                        None => break,
                    }
                }
            }
        }
        solved
    }

    /// One round of batches; the mean loss, or none after a stop.
    fn learn(&mut self, stop: &mut dyn FnMut() -> bool) -> Option<f64> {
        let mut losses = 0.0;
        for _ in 0..self.config.batches {
            if stop() {
                return None;
            }
            losses += self.batch();
        }
        #[expect(clippy::cast_precision_loss, reason = "a small number")]
        Some(losses / self.config.batches as f64)
    }

    fn batch(&mut self) -> f64 {
        let mut gradient = Asnet::zeros(self.asnet.shape.clone(), self.config.architecture);
        #[expect(clippy::cast_precision_loss, reason = "a small number")]
        let share = 1.0 / self.config.batch as f64;
        let mut loss = 0.0;
        for _ in 0..self.config.batch {
            let problem = &self.problems[self.random.below(self.problems.len())];
            if problem.states.is_empty() {
                continue;
            }
            let lesson = &problem.states[self.random.below(problem.states.len())];
            let mut applicable = vec![false; problem.instance.actions.len()];
            lesson.applicable.iter().for_each(|&action| applicable[action] = true);
            let pass = Pass::new(&self.asnet, &problem.instance, &lesson.state, &applicable);
            let (of_lesson, mut by_scores) = loss_of(pass.scores(), lesson);
            loss += share * of_lesson;
            by_scores.iter_mut().for_each(|by| *by *= share);
            pass.add_gradient(&by_scores, &mut gradient);
        }
        let mut slopes = flat(&mut gradient);
        let mut parameters = flat(&mut self.asnet);
        let decay = self.config.weight_decay;
        slopes.iter_mut().zip(&parameters).for_each(|(slope, weight)| *slope += decay * weight);
        self.adam.descend(&mut parameters, &slopes);
        put(&mut self.asnet, &parameters);
        loss
    }
}

/// Most actions at random before a way to the goal is looked at.
const WANDER: usize = 60;

impl Problem {
    /// A state that actions drawn at random lead to from the start.
    fn wander(&self, random: &mut Random) -> Vec<bool> {
        let mut state = self.task.initial.clone();
        for _ in 0..random.below(WANDER) {
            let actions = self.task.actions.iter();
            let applicable: Vec<_> =
                actions.filter(|action| action.is_applicable(&state)).collect();
            if applicable.is_empty() {
                break;
            }
            let outcomes = &applicable[random.below(applicable.len())].outcomes;
            state = outcomes[random.below(outcomes.len())].after(&state);
        }
        state
    }

    /// Adds a state to those that are learnt from.
    fn note(&mut self, state: &[bool]) -> Option<Lesson> {
        let lesson = self.lessons.lesson(state)?;
        if self.known.insert(state.to_vec()) {
            self.states.push(lesson.clone());
        }
        Some(lesson)
    }
}

/// −ln of the probability of the best actions, and its derivatives by the scores.
pub(crate) fn loss_of(scores: &[f64], lesson: &Lesson) -> (f64, Vec<f64>) {
    let of = |actions: &[usize]| {
        let greatest = actions.iter().map(|&a| scores[a]).fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = actions.iter().map(|&a| (scores[a] - greatest).exp()).sum();
        greatest + sum.ln()
    };
    let (all, best) = (of(&lesson.applicable), of(&lesson.best));
    let mut by_scores = vec![0.0; scores.len()];
    for &action in &lesson.applicable {
        by_scores[action] += (scores[action] - all).exp();
    }
    for &action in &lesson.best {
        by_scores[action] -= (scores[action] - best).exp();
    }
    (all - best, by_scores)
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

/// All weights and biases in one list.
pub(crate) fn flat(asnet: &mut Asnet) -> Vec<f64> {
    let modules = asnet.modules_mut();
    modules.flat_map(|module| module.weights.iter().chain(&module.bias).copied()).collect()
}

/// Puts weights and biases back.
pub(crate) fn put(asnet: &mut Asnet, parameters: &[f64]) {
    let places = asnet.modules_mut().flat_map(|m| m.weights.iter_mut().chain(&mut m.bias));
    places.zip(parameters).for_each(|(place, parameter)| *place = *parameter);
}
