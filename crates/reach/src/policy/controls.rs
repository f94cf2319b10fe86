//! What chooses the actions of boxes: by cells, or from the state itself.

use policert_numeric::Interval;
use policert_policy::read_network;

use super::{Actions, NetworkArithmetic, StateController};
use crate::error::ReachError;
use crate::expression::Expressions;
use crate::grid::{Cell, Grid};
use crate::range::Range;
use crate::segment::segment;
use crate::task::{Controller, Dynamics, DynamicsKind, Task};

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
        /// Whether the dynamics take the action as a function of the state.
        substituted: bool,
        /// What the dynamics take for each box, one row after the other.
        rows: Vec<R>,
        width: usize,
        scratch: Vec<Interval>,
    },
}

impl<'a, R: Range> Controls<'a, R> {
    /// The controller of a task, and the dynamics as they take its actions, with the number of
    /// what they take.
    ///
    /// # Errors
    /// If the network cannot be read or does not fit.
    pub fn new(
        task: &'a Task,
        arithmetic: NetworkArithmetic,
    ) -> Result<(Self, Dynamics, usize), ReachError> {
        let (n, inputs) = (task.dimension(), task.inputs.len());
        let Controller::StateNetwork(path) = &task.controller else {
            let grid = task.grid.as_ref().ok_or_else(|| {
                ReachError::Mismatch("the controller reads cells, and there are none".to_owned())
            })?;
            let actions = Actions::new(task, grid, arithmetic)?;
            return Ok((Self(Kind::Cells { grid, actions }), task.dynamics.clone(), inputs));
        };
        let network = read_network(path)?.network;
        if network.input_width() != n || network.output_width() != inputs {
            return Err(ReachError::Mismatch(format!(
                "{}: the network has {} inputs and {} outputs; {n} variables and {inputs} actions \
                 need as many",
                path.display(),
                network.input_width(),
                network.output_width(),
            )));
        }
        let controller = StateController::new(network, task.action.clone());
        // An action that is held while the state changes depends on the state at the start alone.
        let substituted =
            task.dynamics.kind == DynamicsKind::Difference && task.dynamics.substeps == 1;
        let (dynamics, width) = if substituted {
            (with_feedback(&task.dynamics, inputs), StateController::parameters(n, inputs))
        } else {
            (task.dynamics.clone(), inputs)
        };
        let kind =
            Kind::State { controller, substituted, rows: Vec::new(), width, scratch: Vec::new() };
        Ok((Self(kind), dynamics, width))
    }

    /// Forgets what belongs to the boxes of the step before.
    pub fn begin(&mut self) {
        if let Kind::State { rows, .. } = &mut self.0 {
            rows.clear();
        }
    }

    /// Calls `visit` with each part of a box that gets an action of its own, and the number of the
    /// action. `None` if the controller is not defined in all of the box.
    #[inline]
    pub fn segment<S: Range>(
        &mut self,
        state: &[S],
        part: &mut Vec<S>,
        mut visit: impl FnMut(u32, &[S]),
    ) -> Option<()> {
        match &mut self.0 {
            Kind::Cells { grid, actions } => {
                let grid = *grid;
                segment(state, grid, part, |cell, part| visit(actions.number(grid, cell), part))
            }
            Kind::State { controller, substituted, rows, width, scratch } => {
                let outer: Vec<Interval> = state.iter().map(Range::to_interval).collect();
                let number = u32::try_from(rows.len() / *width).ok()?;
                scratch.clear();
                if *substituted {
                    controller.append(&outer, scratch);
                } else {
                    controller.append_ranges(&outer, scratch);
                }
                rows.extend(scratch.iter().map(|&range| R::from_interval(range)));
                visit(number, state);
                Some(())
            }
        }
    }

    /// Computes the actions that are missing, in one batch.
    pub fn complete(&mut self) {
        if let Kind::Cells { grid, actions } = &mut self.0 {
            actions.complete(grid);
        }
    }

    /// What the dynamics take for an action.
    #[inline]
    #[must_use]
    pub fn action(&self, number: u32) -> &[R] {
        match &self.0 {
            Kind::Cells { actions, .. } => actions.action(number),
            Kind::State { rows, width, .. } => {
                let at = number as usize * width;
                &rows[at..at + width]
            }
        }
    }

    /// What the dynamics take for about the action in a state, all errors left out; `None` if the
    /// controller reads cells, whose actions are known once for all.
    pub fn rough_action(&mut self, state: &[f64]) -> Option<Vec<R>> {
        let Kind::State { controller, width, .. } = &mut self.0 else { return None };
        let mut actions = Vec::new();
        controller.append_rough(state, &mut actions);
        // Where the action is a function of the state, its slopes are 0.
        let mut row = vec![Interval::ZERO; *width - actions.len()];
        row.extend(actions.into_iter().map(Interval::point));
        Some(row.into_iter().map(R::from_interval).collect())
    }

    /// The cells met so far; none if the controller reads no cells.
    #[must_use]
    pub fn cells(&self) -> &[Cell] {
        match &self.0 {
            Kind::Cells { actions, .. } => actions.cells(),
            Kind::State { .. } => &[],
        }
    }

    /// The ranges of the inputs themselves, in a state, from what the dynamics take.
    #[must_use]
    pub fn inputs(&self, number: u32, state: &[R], inputs: usize) -> Vec<R> {
        let row = self.action(number);
        let Kind::State { substituted: true, .. } = &self.0 else { return row.to_vec() };
        let n = state.len();
        let (slopes, rest) = row.split_at(inputs * n);
        let (middle, rest) = rest.split_at(n);
        (0..inputs)
            .map(|i| {
                let terms = slopes[i * n..(i + 1) * n].iter().zip(state.iter().zip(middle));
                terms.fold(rest[i].clone(), |sum, (slope, (x, m))| sum.add(&slope.mul(&x.sub(m))))
            })
            .collect()
    }
}

/// The dynamics with each input uᵢ replaced by Σⱼ sᵢⱼ·(xⱼ − mⱼ) + eᵢ, over x, s, m and e.
fn with_feedback(dynamics: &Dynamics, inputs: usize) -> Dynamics {
    let n = dynamics.components.len();
    let mut graph = Expressions::new();
    let middle = n + inputs * n;
    let actions: Vec<_> = (0..inputs)
        .map(|i| {
            let mut sum = graph.variable(middle + n + i);
            for j in 0..n {
                let (x, m) = (graph.variable(j), graph.variable(middle + j));
                let offset = graph.sub(x, m);
                let slope = graph.variable(n + i * n + j);
                let term = graph.mul(slope, offset);
                sum = graph.add(sum, term);
            }
            sum
        })
        .collect();
    let states: Vec<_> = (0..n).map(|j| graph.variable(j)).collect();
    let replaced = [states, actions].concat();
    let components = graph.import(&dynamics.graph, &dynamics.components, &replaced);
    Dynamics { graph, components, ..dynamics.clone() }
}
