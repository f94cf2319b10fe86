//! What chooses the actions of boxes: by cells, or from the state itself.

use policert_control_loop::{
    Cell, ClosedRange, Controller, Disturbance, Grid, Observation, ReachError, Task,
};
use policert_engine_api::{Budget, StopReason};
use policert_numeric::Interval;

use super::{Actions, NetworkArithmetic, StateController, network_within};
use crate::segment::segment;

/// The controller of a task, with what it computed so far.
#[derive(Clone, Debug)]
pub struct Controls<'a, R>(Kind<'a, R>);

#[derive(Clone, Debug)]
enum Kind<'a, R> {
    Cells {
        grid: &'a Grid,
        actions: Actions<R>,
    },
    State {
        controller: StateController,
        inputs: usize,
        disturbances: Vec<R>,
        /// The ranges of actions and disturbances for each box, one row after the other.
        rows: Vec<R>,
        /// For each of these rows, whether there are actions.
        defined: Vec<bool>,
        scratch: Vec<Interval>,
    },
}

impl<'a, R: ClosedRange> Controls<'a, R> {
    /// The controller of a task.
    ///
    /// # Errors
    /// If the network cannot be read or does not fit; a stop of the budget.
    pub fn new(
        task: &'a Task,
        arithmetic: NetworkArithmetic,
        budget: &Budget,
    ) -> Result<Self, ReachError> {
        let inputs = task.actions().len();
        let Controller::StateNetwork(path) = &task.controller else {
            let grid = task.grid.as_ref().ok_or_else(|| {
                ReachError::Mismatch("the controller reads cells, and there are none".to_owned())
            })?;
            let actions = Actions::new(task, grid, arithmetic, budget)?;
            return Ok(Self(Kind::Cells { grid, actions }));
        };
        let network = network_within(path, budget)?;
        let seen = task.observation.as_ref().map_or(task.dimension(), Observation::width);
        let outputs = task.action.choices.as_ref().map_or(inputs, Vec::len);
        if network.input_width() != seen || network.output_width() != outputs {
            let given = match &task.action.choices {
                Some(_) => "choices of actions",
                None => "actions",
            };
            let what = match &task.observation {
                Some(_) => "observed values",
                None => "variables",
            };
            return Err(ReachError::Mismatch(format!(
                "{}: the network has {} inputs and {} outputs; {seen} {what} and {outputs} {given} \
                 need as many",
                path.display(),
                network.input_width(),
                network.output_width(),
            )));
        }
        let observation = task.observation.clone();
        let controller = StateController::new(network, task.action.clone(), observation);
        let disturbances = task.dynamics.disturbances.iter().map(Disturbance::range).collect();
        let (rows, defined, scratch) = (Vec::new(), Vec::new(), Vec::new());
        let kind = Kind::State { controller, inputs, disturbances, rows, defined, scratch };
        Ok(Self(kind))
    }

    /// The controller if it reads the state itself.
    pub(crate) fn state_controller(&self) -> Option<&StateController> {
        match &self.0 {
            Kind::Cells { .. } => None,
            Kind::State { controller, .. } => Some(controller),
        }
    }

    /// Forgets what belongs to the boxes of the step before.
    pub fn begin(&mut self) {
        if let Kind::State { rows, defined, .. } = &mut self.0 {
            rows.clear();
            defined.clear();
        }
    }

    /// Calls `visit` with each part of a box that gets an action of its own, and the number of the
    /// action. Whether the box is inside the cells; otherwise no part is visited.
    ///
    /// # Errors
    /// That of `visit`.
    #[inline]
    pub fn segment<S: ClosedRange, E>(
        &mut self,
        state: &[S],
        part: &mut Vec<S>,
        mut visit: impl FnMut(u32, &[S]) -> Result<(), E>,
    ) -> Result<bool, E> {
        match &mut self.0 {
            Kind::Cells { grid, actions } => {
                let grid = *grid;
                segment(state, grid, part, |cell, part| visit(actions.number(grid, cell), part))
            }
            Kind::State { controller, inputs, disturbances, rows, defined, scratch } => {
                let outer: Vec<Interval> = state.iter().map(ClosedRange::to_interval).collect();
                let number = u32::try_from(defined.len()).unwrap_or(u32::MAX);
                scratch.clear();
                defined.push(controller.append_ranges(&outer, scratch).is_some());
                scratch.resize(*inputs, Interval::EVERYTHING);
                rows.extend(scratch.iter().map(|&range| R::from_interval(range)));
                rows.extend_from_slice(disturbances);
                visit(number, state)?;
                Ok(true)
            }
        }
    }

    /// Computes the actions that are missing.
    ///
    /// # Errors
    /// If the budget runs out.
    pub fn complete(&mut self, budget: &mut Budget) -> Result<(), StopReason> {
        match &mut self.0 {
            Kind::Cells { grid, actions } => actions.complete(grid, budget),
            Kind::State { .. } => Ok(()),
        }
    }

    /// Returns what the dynamics take for an action; `None` if the controller has no value there.
    #[inline]
    #[must_use]
    pub fn action(&self, number: u32) -> Option<&[R]> {
        match &self.0 {
            Kind::Cells { actions, .. } => actions.action(number),
            Kind::State { rows, inputs, disturbances, defined, .. } => {
                let width = inputs + disturbances.len();
                let at = number as usize * width;
                defined[number as usize].then(|| &rows[at..at + width])
            }
        }
    }

    /// About the actions in a state, all errors left out; `None` if the controller has none, or reads cells, whose
    /// actions are known once for all.
    pub fn rough_action(&mut self, state: &[f64]) -> Option<Vec<f64>> {
        let Kind::State { controller, .. } = &mut self.0 else { return None };
        let mut actions = Vec::new();
        controller.append_rough(state, &mut actions)?;
        Some(actions)
    }

    /// Takes note of cells that clones met.
    pub(crate) fn add_cells(&mut self, cells: &[Cell]) {
        if let Kind::Cells { grid, actions } = &mut self.0 {
            for cell in cells {
                actions.number(grid, cell);
            }
        }
    }

    /// The cells met so far; none if the controller reads no cells.
    #[must_use]
    pub fn cells(&self) -> &[Cell] {
        match &self.0 {
            Kind::Cells { actions, .. } => actions.cells(),
            Kind::State { .. } => &[],
        }
    }
}
