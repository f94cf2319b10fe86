//! A model as an environment for training: episodes through it, one at a time.
//!
//! In a state, the agent chooses an action, a label of the model; then the environment runs until the
//! agent has a choice again. An episode ends in a goal, in an unsafe state, where nothing can happen, or
//! where an outcome is no transition. These are the runs that verification is about.

use numpy::ndarray::Array2;
use numpy::{IntoPyArray, PyArray1, PyArray2, ToPyArray};
use policert_engine_api::EngineError;
use policert_explore::Random;
use policert_generate::StatePicture;
use policert_model::{DomainRule, ModelSemantics, Operator, Probability};
use policert_numeric::Rational;
use policert_outcome::Failure;
use pyo3::prelude::*;

use crate::episode::{Ending, Rewards, act, begin, enter};
use crate::failure::{failed, usage};
use crate::options::Task;
use crate::spaces::{Run, Spaces, check_state};

/// The exception of an error of the model.
pub fn of_model(error: EngineError) -> PyErr {
    failed(&error.into())
}

/// Episodes through a model, one at a time.
#[pyclass(unsendable)]
pub struct Environment {
    spaces: Spaces,
    run: Run,
    random: Random,
    /// Actions since the episode began.
    actions: u64,
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
        let run = spaces.run();
        let row = vec![0.0; spaces.features.len()];
        let (random, actions) = (Random::new(0), 0);
        Ok(Self { spaces, run, random, actions, rewards, max_steps, row, operators: None })
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
            self.random = Random::new(seed);
        }
        if let Some(state) = &state {
            self.check(state)?;
        }
        self.actions = 0;
        let Self { spaces, random, run, .. } = self;
        let entered = run.with_dependent_mut(|_, episode| match &state {
            None => begin(episode, spaces, random).map(|()| Ending::None),
            Some(state) => enter(episode, state, random),
        });
        let ending = entered.map_err(of_model)?;
        Ok((self.observation(py)?, ending.name()))
    }

    /// Takes an action.
    fn step<'py>(&mut self, py: Python<'py>, action: usize) -> PyResult<Step<'py>> {
        let actions = self.spaces.outputs.len();
        if action >= actions {
            return Err(usage(format!("action {action}: there are {actions}, counted from 0")));
        }
        self.actions += 1;
        let Self { spaces, random, run, rewards, .. } = self;
        let acted =
            run.with_dependent_mut(|_, episode| act(episode, spaces, *rewards, action, random));
        let (reward, ending) = acted.map_err(of_model)?;
        let terminated = ending != Ending::None;
        let truncated = !terminated && self.max_steps.is_some_and(|n| self.actions >= n);
        Ok((self.observation(py)?, reward, terminated, truncated, ending.name()))
    }

    /// By action: whether it is applicable.
    fn applicable<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<bool>> {
        self.run.with_dependent(|_, episode| episode.applicable().to_pyarray(py))
    }

    /// The values of the variables.
    fn state(&self) -> Vec<i64> {
        self.run.with_dependent(|_, episode| episode.state().to_vec())
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
        Some(self.run.with_dependent(|_, episode| picture.draw(episode.state())))
    }
}

impl Environment {
    fn check(&self, state: &[i64]) -> PyResult<()> {
        let domains = self.spaces.problem.model.domains();
        check_state(&domains, state).map_err(|failure| failed(&failure))
    }

    fn observation<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f32>>> {
        let Self { spaces, run, row, .. } = self;
        run.with_dependent(|_, episode| spaces.observe(episode.state(), row)).map_err(of_model)?;
        Ok(self.row.to_pyarray(py))
    }
}
