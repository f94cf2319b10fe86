//! Many episodes through a model at once.

use numpy::ndarray::{Array1, Array2};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1};
use policert_engine_api::EngineError;
use policert_explore::Random;
use pyo3::prelude::*;

use crate::environment::{Ending, Episode, Rewards, of_model};
use crate::failure::{failed, usage};
use crate::options::Task;
use crate::spaces::Spaces;

/// Episodes that go side by side. One that has ended begins again with the next step, whose action is
/// ignored.
#[pyclass(unsendable)]
pub struct VectorEnvironment {
    spaces: Spaces,
    episodes: Vec<Episode>,
    over: Vec<bool>,
    rewards: Rewards,
    max_steps: Option<u64>,
}

/// Observations, rewards, which episodes ended, which were cut off, and how they ended.
type Steps<'py> = (
    Bound<'py, PyArray2<f32>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<bool>>,
    Bound<'py, PyArray1<bool>>,
    Bound<'py, PyArray1<u8>>,
);

#[pymethods]
impl VectorEnvironment {
    #[new]
    #[pyo3(signature = (count, task, interface, rewards, reward=None, max_steps=None))]
    fn new(
        count: usize,
        task: Task,
        interface: &str,
        rewards: Rewards,
        reward: Option<&str>,
        max_steps: Option<u64>,
    ) -> PyResult<Self> {
        let spaces = Spaces::load(&task.options()?, interface, reward).map_err(|f| failed(&f))?;
        let mut random = Random::new(0);
        let episodes = (0..count).map(|_| Episode::new(&spaces, random.bits())).collect();
        Ok(Self { spaces, episodes, over: vec![true; count], rewards, max_steps })
    }

    /// Least and greatest values of the observation of one.
    fn bounds(&self) -> Vec<(f64, f64)> {
        self.spaces.bounds.clone()
    }

    /// Begins all episodes anew.
    #[pyo3(signature = (seed=None))]
    fn reset<'py>(
        &mut self,
        py: Python<'py>,
        seed: Option<u64>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        if let Some(seed) = seed {
            let mut random = Random::new(seed);
            self.episodes.iter_mut().for_each(|episode| episode.seed(random.bits()));
        }
        for (episode, over) in self.episodes.iter_mut().zip(&mut self.over) {
            episode.begin(&self.spaces).map_err(of_model)?;
            *over = false;
        }
        let mut observations = self.observations();
        for (k, episode) in self.episodes.iter().enumerate() {
            self.observe(k, episode, &mut observations).map_err(of_model)?;
        }
        Ok(observations.into_pyarray(py))
    }

    /// Takes an action in each episode.
    fn step<'py>(
        &mut self,
        py: Python<'py>,
        actions: PyReadonlyArray1<'py, i64>,
    ) -> PyResult<Steps<'py>> {
        let (actions, count) = (actions.as_array(), self.episodes.len());
        if actions.len() != count {
            return Err(usage(format!("{} actions for {count} episodes", actions.len())));
        }
        let labels = self.spaces.outputs.len();
        let mut observations = self.observations();
        let mut rewards = Array1::<f64>::zeros(count);
        let mut terminated = Array1::<bool>::from_elem(count, false);
        let mut truncated = Array1::<bool>::from_elem(count, false);
        let mut endings = Array1::<u8>::zeros(count);
        for (k, &action) in actions.iter().enumerate() {
            let episode = &mut self.episodes[k];
            if self.over[k] {
                episode.begin(&self.spaces).map_err(of_model)?;
                self.over[k] = false;
            } else {
                let Some(action) = usize::try_from(action).ok().filter(|a| *a < labels) else {
                    let message = format!("action {action}: there are {labels}, counted from 0");
                    return Err(usage(message));
                };
                let acted = episode.act(&self.spaces, self.rewards, action);
                let (reward, ending) = acted.map_err(of_model)?;
                rewards[k] = reward;
                endings[k] = ending as u8;
                terminated[k] = ending != Ending::None;
                truncated[k] =
                    !terminated[k] && self.max_steps.is_some_and(|n| episode.actions >= n);
                self.over[k] = terminated[k] || truncated[k];
            }
            self.observe(k, &self.episodes[k], &mut observations).map_err(of_model)?;
        }
        Ok((
            observations.into_pyarray(py),
            rewards.into_pyarray(py),
            terminated.into_pyarray(py),
            truncated.into_pyarray(py),
            endings.into_pyarray(py),
        ))
    }

    /// By episode and action: whether it is applicable.
    fn applicable<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<bool>> {
        let mut all = Array2::from_elem((self.episodes.len(), self.spaces.outputs.len()), false);
        for (mut row, episode) in all.rows_mut().into_iter().zip(&self.episodes) {
            episode.with_applicable(|applicable| {
                row.iter_mut().zip(applicable).for_each(|(place, &is)| *place = is);
            });
        }
        all.into_pyarray(py)
    }

    /// By episode: the values of the variables.
    fn states<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<i64>> {
        let width = self.spaces.problem.model.variables.len();
        let mut all = Array2::zeros((self.episodes.len(), width));
        for (mut row, episode) in all.rows_mut().into_iter().zip(&self.episodes) {
            episode.with_state(|state| {
                row.iter_mut().zip(state).for_each(|(place, &value)| *place = value);
            });
        }
        all.into_pyarray(py)
    }
}

impl VectorEnvironment {
    fn observations(&self) -> Array2<f32> {
        Array2::zeros((self.episodes.len(), self.spaces.features.len()))
    }

    fn observe(
        &self,
        k: usize,
        episode: &Episode,
        observations: &mut Array2<f32>,
    ) -> Result<(), EngineError> {
        match observations.row_mut(k).as_slice_mut() {
            Some(row) => episode.with_state(|state| self.spaces.observe(state, row)),
            None => Err(EngineError::Internal("rows are contiguous".to_owned())),
        }
    }
}
