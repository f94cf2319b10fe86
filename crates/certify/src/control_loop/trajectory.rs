//! A trajectory of a control loop, followed from an exact state in numbers of any precision.
//!
//! Differential equations are followed in stretches of length h: x + h·c₁ + … + hᵏ⁻¹·cₖ₋₁ + hᵏ·r, with Taylor's
//! coefficients c at the state, and r those of order k over a box that contains all solutions (Picard).

use policert_control_loop::{ActionMap, BoxEdge, Controller, DynamicsKind, Task};
use policert_engine_api::{Budget, StopReason};
use policert_numeric::Rational;
use policert_policy::Network;

use super::arithmetic::{Arithmetic, Doubles};
use super::cells::{CellPrecision, Cells};
use super::motion::Motion;
use super::series::Program;
use super::sets::outer;

/// How differential equations are followed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stretches {
    /// Into how many of them a step is cut.
    pub count: u32,
    /// Up to which order Taylor's formula is used.
    pub order: u32,
}

/// What chooses the actions.
enum Controls<'t, A: Arithmetic> {
    Cells { cells: Cells<'t>, formulas: Option<Program<A>> },
    State { network: Network, observed: Option<Program<A>> },
}

/// A loop made ready to be followed.
pub(super) struct Follower<'t, A: Arithmetic> {
    arithmetic: A,
    task: &'t Task,
    controls: Controls<'t, A>,
    /// The next state, or the derivative by time.
    dynamics: Program<A>,
    flow: Option<Flow<A>>,
}

struct Flow<A: Arithmetic> {
    stretches: Stretches,
    motion: Motion,
    /// The derivative by time over boxes.
    rough: Program<Doubles>,
    /// h.
    length: A::Number,
}

impl<'t, A: Arithmetic + Copy> Follower<'t, A> {
    /// The loop of a task, or the reason why there is none.
    pub fn new(
        arithmetic: A,
        task: &'t Task,
        network: Option<Network>,
        stretches: Option<Stretches>,
    ) -> Result<Self, String> {
        let (n, dynamics) = (task.dimension(), &task.dynamics);
        let controls = match (&task.controller, network) {
            (Controller::StateNetwork(_), Some(network)) => {
                let observed = task.observation.as_ref().map(|observation| {
                    let (graph, roots) = observation.expressions();
                    (Program::new(arithmetic, graph, roots, 0), roots.len())
                });
                let seen = observed.as_ref().map_or(n, |(_, seen)| *seen);
                let choices = task.action.choices.as_ref();
                let outputs = choices.map_or(task.actions().len(), Vec::len);
                if network.input_width() != seen || network.output_width() != outputs {
                    return Err("a network of another width".to_owned());
                }
                Controls::State { network, observed: observed.map(|(program, _)| program) }
            }
            (controller, network) => {
                let formulas = match controller {
                    Controller::CellFormula { graph, outputs } => {
                        Some(Program::new(arithmetic, graph, outputs, 0))
                    }
                    Controller::CellNetwork(_) | Controller::StateNetwork(_) => None,
                };
                Controls::Cells {
                    cells: Cells::new(task, network, CellPrecision::Double)?,
                    formulas,
                }
            }
        };
        let flow = match (dynamics.kind, stretches) {
            (DynamicsKind::Difference, _) | (DynamicsKind::Ode, None) => None,
            (DynamicsKind::Ode, Some(stretches)) => {
                let count = Rational::from(i64::from(stretches.count));
                let length = dynamics.period.checked_div(&count);
                let motion = Motion::new(dynamics, task.inputs.len(), stretches.count);
                let (Some(length), Some(motion)) = (length, motion) else {
                    return Err("stretches of no length".to_owned());
                };
                let rough = Program::new(Doubles, &dynamics.graph, &dynamics.components, n);
                Some(Flow { stretches, motion, rough, length: arithmetic.constant(&length) })
            }
        };
        let dynamics = Program::new(arithmetic, &dynamics.graph, &dynamics.components, n);
        Ok(Self { arithmetic, task, controls, dynamics, flow })
    }

    /// The state in these numbers.
    pub fn state(&self, exact: &[Rational]) -> Vec<A::Number> {
        exact.iter().map(|x| self.arithmetic.constant(x)).collect()
    }

    /// The state after a step with certain disturbances; `None` if it, or the action, is not certain enough.
    ///
    /// # Errors
    /// A stop of the budget.
    pub fn step(
        &mut self,
        state: &[A::Number],
        disturbances: &[Rational],
        budget: &mut Budget,
    ) -> Result<Option<Vec<A::Number>>, StopReason> {
        let Some(mut inputs) = self.actions(state) else { return Ok(None) };
        inputs.extend(self.state(disturbances));
        let n = state.len();
        let mut at = [state, &inputs].concat();
        let moved = match &self.flow {
            Some(flow) => self.flow(flow, &mut at, budget)?,
            None => self.iterate(&mut at, budget)?,
        };
        if moved.is_none() {
            return Ok(None);
        }
        for &(variable, input) in &self.task.dynamics.remembered {
            at[variable] = inputs[input].clone();
        }
        at.truncate(n);
        for (x, bounds) in at.iter_mut().zip(self.task.dynamics.clamp.iter().flatten()) {
            *x = self.clamped(x, bounds);
        }
        Ok(Some(at))
    }

    fn iterate(&self, at: &mut [A::Number], budget: &mut Budget) -> Result<Option<()>, StopReason> {
        for _ in 0..self.task.dynamics.substeps {
            budget.poll()?;
            let Some(next) = self.dynamics.values(at) else { return Ok(None) };
            for (x, next) in at.iter_mut().zip(next) {
                *x = next;
            }
        }
        Ok(Some(()))
    }

    fn flow(
        &self,
        flow: &Flow<A>,
        at: &mut [A::Number],
        budget: &mut Budget,
    ) -> Result<Option<()>, StopReason> {
        let Stretches { count, order } = flow.stretches;
        for _ in 0..count {
            let mut stopped = None;
            let mut stops = || {
                stopped = budget.poll_clock().err();
                stopped.is_some()
            };
            let Some(enclosure) = flow.motion.enclosure(&outer(at)) else { return Ok(None) };
            let rests = flow.rough.solution(&enclosure, order, &mut stops);
            let terms = self.dynamics.solution(at, order - 1, &mut stops);
            let (Some(rests), Some(terms)) = (rests, terms) else {
                return stopped.map_or(Ok(None), Err);
            };
            let (Some(rests), Some(terms)) = (rests, terms) else { return Ok(None) };
            for (x, (rest, terms)) in at.iter_mut().zip(rests.iter().zip(terms)) {
                let rest = rest.last().and_then(|&rest| self.arithmetic.enclosing(rest));
                let Some(rest) = rest else { return Ok(None) };
                *x = terms.iter().rev().fold(rest, |sum, term| {
                    self.arithmetic.add(term, &self.arithmetic.mul(&flow.length, &sum))
                });
            }
        }
        Ok(Some(()))
    }

    /// The actions in a state.
    fn actions(&mut self, state: &[A::Number]) -> Option<Vec<A::Number>> {
        let outputs = match &mut self.controls {
            Controls::Cells { cells, formulas } => {
                let cell = cells.certain_cell(state)?;
                match formulas {
                    Some(formulas) => {
                        let edges = cells.edges(&cell).into_iter();
                        let bounds: Vec<A::Number> =
                            edges.map(|edge| self.arithmetic.constant(edge.exact())).collect();
                        formulas.values(&bounds)?
                    }
                    None => {
                        let outputs = cells.network_outputs(&cell)?.into_iter();
                        let computed =
                            outputs.map(|(computed, _)| self.arithmetic.double(computed));
                        computed.collect::<Option<_>>()?
                    }
                }
            }
            Controls::State { network, observed } => {
                let seen = match observed {
                    Some(observed) => observed.values(state)?,
                    None => state.to_vec(),
                };
                self.arithmetic.outputs(network, &seen)?
            }
        };
        let ActionMap { scale, offset, clamp, choices } = &self.task.action;
        if let Some(choices) = choices {
            let taken = choices.get(self.first_greatest(&outputs)?)?;
            return Some(self.state(taken));
        }
        let constant = |value| self.arithmetic.constant(value);
        let (scale, offset) = (constant(scale), constant(offset));
        let mapped = outputs.iter().map(|output| {
            let action = self.arithmetic.mul(&scale, &self.arithmetic.sub(output, &offset));
            match clamp {
                Some(bounds) => self.clamped(&action, bounds),
                None => action,
            }
        });
        Some(mapped.collect())
    }

    /// A number between bounds, or the nearer bound.
    fn clamped(&self, x: &A::Number, (lower, upper): &(BoxEdge, BoxEdge)) -> A::Number {
        let [lower, upper] = [lower, upper].map(|edge| self.arithmetic.constant(edge.exact()));
        self.arithmetic.min(&self.arithmetic.max(x, &lower), &upper)
    }

    /// The first of the greatest outputs, where it is certain which one that is.
    fn first_greatest(&self, outputs: &[A::Number]) -> Option<usize> {
        let is_taken = |&at: &usize| {
            let others = outputs.iter().enumerate().filter(|(other, _)| *other != at);
            let mut below = others.map(|(other, score)| {
                self.arithmetic.is_less(other < at, score, &outputs[at]) == Some(true)
            });
            below.all(|below| below)
        };
        (0..outputs.len()).find(is_taken)
    }
}
