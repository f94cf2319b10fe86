//! A model as an environment for training: episodes through it, one at a time.
//!
//! In a state, the agent chooses an action, a label of the model; then the environment runs until the
//! agent has a choice again. An episode ends in a goal, in an unsafe state, where nothing can happen, or
//! where an outcome is no transition. These are the runs that verification is about.

use numpy::ndarray::Array2;
use numpy::{IntoPyArray, PyArray1, PyArray2, ToPyArray};
use policert_engine_api::EngineError;
use policert_explore::{Random, RunStep};
use policert_generate::StatePicture;
use policert_model::{DomainRule, ModelSemantics, Operator, Probability};
use policert_numeric::Rational;
use policert_outcome::Failure;
use pyo3::prelude::*;

use crate::failure::{failed, usage};
use crate::options::Task;
use crate::spaces::{Run, Spaces, check_state};

/// Start states that are drawn in search of one from which there is something to choose.
const DRAWS: u32 = 10_000;
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
    fn name(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Goal => Some("goal"),
            Self::Unsafe => Some("unsafe"),
            Self::Stuck => Some("stuck"),
        }
    }
}

/// An episode: a run, and how far it is.
pub struct Episode {
    run: Run,
    random: Random,
    start: Vec<i64>,
    /// Actions since the episode began.
    pub actions: u64,
}

impl Episode {
    /// One that has not begun.
    pub fn new(spaces: &Spaces, seed: u64) -> Self {
        Self { run: spaces.run(), random: Random::new(seed), start: Vec::new(), actions: 0 }
    }

    /// Begins again with this seed.
    pub fn seed(&mut self, seed: u64) {
        self.random = Random::new(seed);
    }

    /// Goes to a start state in which the agent has a choice.
    ///
    /// # Errors
    /// If none is found, and errors of the model.
    pub fn begin(&mut self, spaces: &Spaces) -> Result<(), EngineError> {
        for _ in 0..DRAWS {
            spaces.starts.draw(&mut self.start, &mut self.random)?;
            let state = std::mem::take(&mut self.start);
            let entered = self.enter(&state);
            self.start = state;
            if entered? == Ending::None {
                return Ok(());
            }
        }
        let message = "in all start states that were drawn, the goal or an unsafe state is reached \
                       without a choice of the agent, or nothing can happen";
        Err(EngineError::Unsupported(message.to_owned()))
    }

    /// Goes to a state, and on until the agent has a choice.
    ///
    /// # Errors
    /// Errors of the model.
    pub fn enter(&mut self, state: &[i64]) -> Result<Ending, EngineError> {
        self.actions = 0;
        let random = &mut self.random;
        self.run.with_dependent_mut(|_, rollout| {
            rollout.enter(state)?;
            let mut ignored = 0.0;
            settle(rollout, random, None, &mut ignored)
        })
    }

    /// Chooses an action, and lets the environment run until the next choice; the reward and the end.
    ///
    /// # Errors
    /// Errors of the model.
    pub fn act(
        &mut self,
        spaces: &Spaces,
        rewards: Rewards,
        action: usize,
    ) -> Result<(f64, Ending), EngineError> {
        self.actions += 1;
        let random = &mut self.random;
        self.run.with_dependent_mut(|_, rollout| {
            let mut reward = rewards.step;
            let ending = match rollout.step(Some(action), random)? {
                RunStep::Moved { .. } => {
                    if let Some(number) = &spaces.reward {
                        reward += number.value(rollout.state()).unwrap_or(0.0);
                    }
                    settle(rollout, random, spaces.reward.as_ref(), &mut reward)?
                }
                RunStep::Dropped { .. } | RunStep::Stuck => Ending::Stuck,
            };
            reward += match ending {
                Ending::None => 0.0,
                Ending::Goal => rewards.goal,
                Ending::Unsafe => rewards.r#unsafe,
                Ending::Stuck => rewards.stuck,
            };
            Ok((reward, ending))
        })
    }

    /// The current state.
    pub fn with_state<T>(&self, look: impl FnOnce(&[i64]) -> T) -> T {
        self.run.with_dependent(|_, rollout| look(rollout.state()))
    }

    /// By action: whether it is applicable.
    pub fn with_applicable<T>(&self, look: impl FnOnce(&[bool]) -> T) -> T {
        self.run.with_dependent(|_, rollout| look(rollout.applicable()))
    }
}

/// Runs on while nothing is to be chosen.
fn settle(
    rollout: &mut policert_explore::Rollout<'_>,
    random: &mut Random,
    number: Option<&policert_explore::StateNumber>,
    reward: &mut f64,
) -> Result<Ending, EngineError> {
    for _ in 0..PATIENCE {
        if rollout.is_unsafe() {
            return Ok(Ending::Unsafe);
        }
        if rollout.is_goal() {
            return Ok(Ending::Goal);
        }
        if rollout.is_terminal() {
            return Ok(Ending::Stuck);
        }
        if rollout.applicable().contains(&true) {
            return Ok(Ending::None);
        }
        match rollout.step(None, random)? {
            RunStep::Moved { .. } => {
                if let Some(number) = number {
                    *reward += number.value(rollout.state()).unwrap_or(0.0);
                }
            }
            RunStep::Dropped { .. } | RunStep::Stuck => return Ok(Ending::Stuck),
        }
    }
    let message = "the environment goes on for a million steps in which the agent has no choice";
    Err(EngineError::Unsupported(message.to_owned()))
}

/// The exception of an error of the model.
pub fn of_model(error: EngineError) -> PyErr {
    failed(&error.into())
}

/// Episodes through a model, one at a time.
#[pyclass(unsendable)]
pub struct Environment {
    spaces: Spaces,
    episode: Episode,
    rewards: Rewards,
    max_steps: Option<u64>,
    row: Vec<f32>,
    operators: Option<Vec<Operator>>,
}

/// More operators are not composed for a list of successors.
const OPERATORS: usize = 1 << 20;

/// A label, `None` for a silent step; its outcomes, each with its probability as a fraction.
type Successors = (Option<String>, Vec<(String, Vec<i64>)>);

/// Observation, reward, whether the episode ended, whether it was cut off, and how it ended.
type Step<'py> = (Bound<'py, PyArray1<f32>>, f64, bool, bool, Option<&'static str>);

#[pymethods]
impl Environment {
    #[new]
    #[pyo3(signature = (task, interface, rewards, reward=None, max_steps=None))]
    fn new(
        task: Task,
        interface: &str,
        rewards: Rewards,
        reward: Option<&str>,
        max_steps: Option<u64>,
    ) -> PyResult<Self> {
        let spaces = Spaces::load(&task.options()?, interface, reward).map_err(|f| failed(&f))?;
        let episode = Episode::new(&spaces, 0);
        let row = vec![0.0; spaces.features.len()];
        Ok(Self { spaces, episode, rewards, max_steps, row, operators: None })
    }

    /// Least and greatest values of the observation.
    fn bounds(&self) -> Vec<(f64, f64)> {
        self.spaces.bounds.clone()
    }

    /// The variables of the model: names, least and greatest values.
    fn variables(&self) -> Vec<(String, i64, i64)> {
        let variables = self.spaces.problem.model.variables.iter();
        variables.map(|v| (v.name.clone(), v.domain.lo, v.domain.hi)).collect()
    }

    /// Begins an episode, in a start state or in a given state.
    #[pyo3(signature = (seed=None, state=None))]
    fn reset<'py>(
        &mut self,
        py: Python<'py>,
        seed: Option<u64>,
        state: Option<Vec<i64>>,
    ) -> PyResult<(Bound<'py, PyArray1<f32>>, Option<&'static str>)> {
        if let Some(seed) = seed {
            self.episode.seed(seed);
        }
        let ending = match state {
            None => {
                self.episode.begin(&self.spaces).map_err(of_model)?;
                self.episode.actions = 0;
                Ending::None
            }
            Some(state) => {
                self.check(&state)?;
                self.episode.enter(&state).map_err(of_model)?
            }
        };
        Ok((self.observation(py)?, ending.name()))
    }

    /// Takes an action.
    fn step<'py>(&mut self, py: Python<'py>, action: usize) -> PyResult<Step<'py>> {
        let actions = self.spaces.outputs.len();
        if action >= actions {
            return Err(usage(format!("action {action}: there are {actions}, counted from 0")));
        }
        let acted = self.episode.act(&self.spaces, self.rewards, action);
        let (reward, ending) = acted.map_err(of_model)?;
        let terminated = ending != Ending::None;
        let truncated = !terminated && self.max_steps.is_some_and(|n| self.episode.actions >= n);
        Ok((self.observation(py)?, reward, terminated, truncated, ending.name()))
    }

    /// By action: whether it is applicable.
    fn applicable<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<bool>> {
        self.episode.with_applicable(|applicable| applicable.to_pyarray(py))
    }

    /// The values of the variables.
    fn state(&self) -> Vec<i64> {
        self.episode.with_state(<[i64]>::to_vec)
    }

    /// The start states; `None` if there are too many for a list.
    fn starts(&self) -> Option<Vec<Vec<i64>>> {
        Some(self.spaces.starts.listed()?.iter().map(|state| state.to_vec()).collect())
    }

    /// The observations of some states.
    fn observe<'py>(
        &self,
        py: Python<'py>,
        states: Vec<Vec<i64>>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let mut rows = Array2::<f32>::zeros((states.len(), self.spaces.features.len()));
        for (mut row, state) in rows.rows_mut().into_iter().zip(&states) {
            self.check(state)?;
            let mut values = vec![0.0; self.spaces.features.len()];
            self.spaces.observe(state, &mut values).map_err(of_model)?;
            row.iter_mut().zip(&values).for_each(|(place, &value)| *place = value);
        }
        Ok(rows.into_pyarray(py))
    }

    /// What may happen in a state, whatever is chosen: for each operator that is enabled its label and
    /// its outcomes. Those between which the model leaves the choice open have the probability of all of
    /// them together.
    fn successors(&mut self, state: Vec<i64>) -> PyResult<Vec<Successors>> {
        self.check(&state)?;
        let model = &self.spaces.problem.model;
        let operators = match &mut self.operators {
            Some(operators) => operators,
            missing => {
                let composed = model.operators(OPERATORS);
                let unsupported = |error| failed(&Failure::unsupported(format!("{error}")));
                missing.insert(composed.map_err(unsupported)?)
            }
        };
        let semantics = ModelSemantics { model, rule: DomainRule::Drop };
        let wrong = |error| failed(&Failure::invalid(format!("{error}")));
        let mut all = Vec::new();
        for operator in operators {
            if !semantics.is_enabled(operator, &state).map_err(wrong)? {
                continue;
            }
            let found = semantics.successors(operator, &state).map_err(wrong)?;
            let outcome = |successor: policert_model::Successor| {
                let probability = match &operator.destinations[successor.destination].probability {
                    Probability::Constant(probability) => probability.clone(),
                    Probability::Expr(expr) => expr.eval(&state).unwrap_or(Rational::ZERO),
                };
                (probability.to_string(), successor.state.to_vec())
            };
            let label = operator.label.map(|label| model.label_name(Some(label)).to_owned());
            all.push((label, found.list.into_iter().map(outcome).collect()));
        }
        Ok(all)
    }

    /// The current state as a picture of text, of models of the domains that ship with the program.
    fn picture(&self) -> Option<String> {
        let model = &self.spaces.problem.model;
        let variables: Vec<(&str, i64, i64)> =
            model.variables.iter().map(|v| (v.name.as_str(), v.domain.lo, v.domain.hi)).collect();
        let picture = StatePicture::new(&model.name, &variables, None).ok()?;
        Some(self.episode.with_state(|state| picture.draw(state)))
    }
}

impl Environment {
    fn check(&self, state: &[i64]) -> PyResult<()> {
        let domains = self.spaces.problem.model.domains();
        check_state(&domains, state).map_err(|failure| failed(&failure))
    }

    fn observation<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f32>>> {
        let (spaces, row) = (&self.spaces, &mut self.row);
        self.episode.with_state(|state| spaces.observe(state, row)).map_err(of_model)?;
        Ok(self.row.to_pyarray(py))
    }
}
