//! Many episodes through a model at once.

use numpy::ndarray::{Array1, Array2, ArrayViewMut1};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1};
use policert_engine_api::EngineError;
use policert_explore::{Episode, Position, Random};
use pyo3::prelude::*;

use crate::environment::of_model;
use crate::episode::{Ending, Rewards, act, begin};
use crate::failure::{failed, usage};
use crate::options::Task;
use crate::spaces::{Run, Spaces};

/// Episodes that go side by side. One that has ended begins again with the next step, whose action is
/// ignored.
#[pyclass(unsendable)]
pub struct VectorEnvironment {
    spaces: Spaces,
    /// What the episodes share.
    run: Run,
    walkers: Vec<Walker>,
    rewards: Rewards,
    max_steps: Option<u64>,
}

/// The greatest number of episodes.
const MOST: usize = 1 << 20;

/// Observations, rewards, which episodes ended, which were cut off, and how they ended if one did.
type Steps<'py> = (
    Bound<'py, PyArray2<f32>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<bool>>,
    Bound<'py, PyArray1<bool>>,
    Option<Bound<'py, PyArray1<u8>>>,
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
        if count > MOST {
            return Err(usage(format!("num_envs: {count} are more than {MOST}")));
        }
        let spaces = Spaces::load(&task.options()?, interface, reward).map_err(|f| failed(&f))?;
        let mut random = Random::new(0);
        let run = spaces.run();
        let walker = |_| Walker {
            position: run.with_dependent(|_, episode| episode.nowhere()),
            random: random.fork(),
            actions: 0,
            is_over: true,
        };
        let walkers = (0..count).map(walker).collect();
        Ok(Self { spaces, run, walkers, rewards, max_steps })
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
            self.walkers.iter_mut().for_each(|walker| walker.random = random.fork());
        }
        let mut observations = self.observations();
        let Self { spaces, run, walkers, .. } = self;
        let begun = run.with_dependent_mut(|_, episode| {
            let rows = observations.rows_mut().into_iter();
            walkers.iter_mut().zip(rows).try_for_each(|(walker, row)| {
                walker.begin(episode, spaces)?;
                walker.observe(spaces, row)
            })
        });
        begun.map_err(of_model)?;
        Ok(observations.into_pyarray(py))
    }

    /// Takes an action in each episode.
    fn step<'py>(
        &mut self,
        py: Python<'py>,
        actions: PyReadonlyArray1<'py, i64>,
    ) -> PyResult<Steps<'py>> {
        let (actions, count) = (actions.as_array(), self.walkers.len());
        if actions.len() != count {
            return Err(usage(format!("{} actions for {count} episodes", actions.len())));
        }
        let labels = self.spaces.outputs.len();
        let is_action = |action: &i64| usize::try_from(*action).is_ok_and(|action| action < labels);
        let moves = self.walkers.iter().zip(&actions).filter(|(walker, _)| !walker.is_over);
        if let Some((_, action)) = moves.into_iter().find(|(_, action)| !is_action(action)) {
            return Err(usage(format!("action {action}: there are {labels}, counted from 0")));
        }
        let mut observations = self.observations();
        let mut rewards = Array1::<f64>::zeros(count);
        let mut terminated = Array1::<bool>::from_elem(count, false);
        let mut truncated = Array1::<bool>::from_elem(count, false);
        let mut endings = Array1::<u8>::zeros(count);
        let mut has_ended = false;
        let Self { spaces, run, walkers, rewards: worth, max_steps } = self;
        let stepped = run.with_dependent_mut(|_, episode| {
            let rows = observations.rows_mut().into_iter();
            for (k, (walker, row)) in walkers.iter_mut().zip(rows).enumerate() {
                if walker.is_over {
                    walker.begin(episode, spaces)?;
                } else {
                    let action = usize::try_from(actions[k]).unwrap_or(labels);
                    let (reward, ending) = walker.act(episode, spaces, *worth, action)?;
                    rewards[k] = reward;
                    endings[k] = ending as u8;
                    terminated[k] = ending != Ending::None;
                    has_ended |= terminated[k];
                    truncated[k] = !terminated[k] && max_steps.is_some_and(|n| walker.actions >= n);
                    walker.is_over = terminated[k] || truncated[k];
                }
                walker.observe(spaces, row)?;
            }
            Ok(())
        });
        stepped.map_err(of_model)?;
        Ok((
            observations.into_pyarray(py),
            rewards.into_pyarray(py),
            terminated.into_pyarray(py),
            truncated.into_pyarray(py),
            has_ended.then(|| endings.into_pyarray(py)),
        ))
    }

    /// By episode and action: whether it is applicable.
    fn applicable<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<bool>> {
        let mut all = Array2::from_elem((self.walkers.len(), self.spaces.outputs.len()), false);
        for (mut row, walker) in all.rows_mut().into_iter().zip(&self.walkers) {
            let applicable = walker.position.applicable();
            row.iter_mut().zip(applicable).for_each(|(place, &is)| *place = is);
        }
        all.into_pyarray(py)
    }

    /// By episode: the values of the variables.
    fn states<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<i64>> {
        let width = self.spaces.problem.model.variables.len();
        let mut all = Array2::zeros((self.walkers.len(), width));
        for (mut row, walker) in all.rows_mut().into_iter().zip(&self.walkers) {
            let state = walker.position.state();
            row.iter_mut().zip(state).for_each(|(place, &value)| *place = value);
        }
        all.into_pyarray(py)
    }
}

impl VectorEnvironment {
    fn observations(&self) -> Array2<f32> {
        Array2::zeros((self.walkers.len(), self.spaces.features.len()))
    }
}

/// An episode among many: where it stands while another one goes on.
struct Walker {
    position: Position,
    random: Random,
    /// Actions since it began.
    actions: u64,
    /// True if it has ended, and begins again with the next step.
    is_over: bool,
}

impl Walker {
    fn begin(&mut self, episode: &mut Episode<'_>, spaces: &Spaces) -> Result<(), EngineError> {
        (self.actions, self.is_over) = (0, false);
        episode.exchange(&mut self.position);
        let begun = begin(episode, spaces, &mut self.random);
        episode.exchange(&mut self.position);
        begun
    }

    #[inline]
    fn act(
        &mut self,
        episode: &mut Episode<'_>,
        spaces: &Spaces,
        rewards: Rewards,
        action: usize,
    ) -> Result<(f64, Ending), EngineError> {
        self.actions += 1;
        episode.exchange(&mut self.position);
        let acted = act(episode, spaces, rewards, action, &mut self.random);
        episode.exchange(&mut self.position);
        acted
    }

    fn observe(&self, spaces: &Spaces, mut row: ArrayViewMut1<'_, f32>) -> Result<(), EngineError> {
        match row.as_slice_mut() {
            Some(row) => spaces.observe(self.position.state(), row),
            None => Err(EngineError::Internal("rows are contiguous".to_owned())),
        }
    }
}
