//! The controller as a black box: one action for each cell, computed once and kept.

mod controls;
mod rounding;
mod single;
mod state;

use policert_numeric::{Interval, Rational};
use policert_policy::{Evaluator, Network, read_network};
use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::edge::Edge;
use crate::error::ReachError;
use crate::expression::Tape;
use crate::grid::{Cell, Grid};
use crate::range::Range;
use crate::task::{ActionMap, Controller, Task};

pub use controls::Controls;
pub use rounding::possible_outputs;
pub use single::SingleEvaluator;
pub(crate) use state::StateController;

/// In which arithmetic a network is evaluated: a part of the question.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Evaluation {
    /// Double precision.
    #[default]
    F64,
    /// Single precision, sums from the first input to the last.
    F32,
}

/// Which values of a network's outputs are possible in a cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rounding {
    /// The computed one alone.
    #[default]
    AsComputed,
    /// All that some order of summation, with or without fused multiply-adds, can give, and the
    /// exact one.
    AnyOrder,
}

/// How networks are evaluated.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct NetworkArithmetic {
    /// The precision.
    pub evaluation: Evaluation,
    /// Which rounded values count.
    pub rounding: Rounding,
}

/// A controller that reads cells.
#[derive(Clone, Debug)]
enum CellController<R> {
    Network {
        network: Network,
        double: Evaluator,
        single: SingleEvaluator,
        arithmetic: NetworkArithmetic,
    },
    Formula {
        tape: Tape<R>,
        registers: Vec<R>,
    },
}

/// Where the number of a cell's action stands.
#[derive(Clone, Debug)]
enum Index {
    /// For each cell, 0 if it has none yet, else the number plus 1.
    Dense(Vec<u32>),
    Sparse(FxHashMap<u128, u32>),
}

/// Grids of at most this many cells have a table.
const DENSE_CELLS: u64 = 1 << 22;

/// The actions of the cells met so far. Clones start with the actions known and go their own ways.
#[derive(Clone, Debug)]
pub struct Actions<R> {
    controller: CellController<R>,
    inputs: usize,
    action: ActionRange<R>,
    index: Index,
    cells: Vec<Cell>,
    /// Inputs of the dynamics, one row for each cell known; those of the last cells may be missing
    /// until [`Actions::complete`].
    known: Vec<R>,
}

/// The map from outputs to inputs over ranges.
#[derive(Clone, Debug)]
struct ActionRange<R> {
    scale: R,
    offset: R,
    map: ActionMap,
}

impl<R: Range> ActionRange<R> {
    fn apply(&self, output: &R) -> R {
        let mut action = output.clone();
        if !self.map.offset.is_zero() {
            action = action.sub(&self.offset);
        }
        if self.map.scale != Rational::ONE {
            action = action.mul(&self.scale);
        }
        match &self.map.clamp {
            Some((lower, upper)) => action.clamped(lower, upper),
            None => action,
        }
    }
}

impl<R: Range> Actions<R> {
    /// The actions of a task's controller on the cells of `grid`.
    ///
    /// # Errors
    /// If the network cannot be read or does not fit the task.
    pub fn new(
        task: &Task,
        grid: &Grid,
        arithmetic: NetworkArithmetic,
    ) -> Result<Self, ReachError> {
        let inputs = task.inputs.len();
        let controller = match &task.controller {
            Controller::CellNetwork(path) => {
                let network = read_network(path)?.network;
                let (width, outputs) = (2 * task.dimension(), inputs);
                if network.input_width() != width || network.output_width() != outputs {
                    return Err(ReachError::Mismatch(format!(
                        "{}: the network has {} inputs and {} outputs; bounds of {} variables and \
                         {} actions need {width} and {outputs}",
                        path.display(),
                        network.input_width(),
                        network.output_width(),
                        task.dimension(),
                        inputs
                    )));
                }
                CellController::Network {
                    double: Evaluator::new(&network),
                    single: SingleEvaluator::new(&network),
                    network,
                    arithmetic,
                }
            }
            Controller::CellFormula { graph, outputs } => {
                let tape = Tape::new(graph, outputs, 2 * task.dimension());
                let registers = tape.registers();
                CellController::Formula { tape, registers }
            }
            Controller::StateNetwork(_) => {
                return Err(ReachError::Mismatch("this network reads no cells".to_owned()));
            }
        };
        let index = match grid.cell_count() {
            Some(count) if count <= DENSE_CELLS => {
                Index::Dense(vec![0; usize::try_from(count).unwrap_or(0)])
            }
            _ => Index::Sparse(FxHashMap::default()),
        };
        let action = ActionRange {
            scale: R::enclosing(&task.action.scale),
            offset: R::enclosing(&task.action.offset),
            map: task.action.clone(),
        };
        Ok(Self { controller, inputs, action, index, cells: Vec::new(), known: Vec::new() })
    }

    /// The number of a cell's action; it may have to be computed first ([`Actions::complete`]).
    #[inline]
    pub fn number(&mut self, grid: &Grid, cell: &[u32]) -> u32 {
        let next = u32::try_from(self.cells.len()).unwrap_or(u32::MAX);
        let place = match &mut self.index {
            Index::Dense(table) => {
                let position = grid
                    .axes()
                    .iter()
                    .zip(cell)
                    .fold(0, |position, (axis, &k)| position * axis.len() + k as usize);
                &mut table[position]
            }
            Index::Sparse(map) => {
                // Products of up to 64 axes could exceed 128 bits; wrapping around would confuse
                // cells, so the bits are kept apart by a check against the cell itself below.
                let key = grid.axes().iter().zip(cell).fold(0u128, |key, (axis, &k)| {
                    key.wrapping_mul(axis.len() as u128).wrapping_add(u128::from(k))
                });
                map.entry(key).or_insert(0)
            }
        };
        if *place == 0 {
            *place = next + 1;
            self.cells.push(Cell::from_slice(cell));
            return next;
        }
        let known = *place - 1;
        if self.cells[known as usize].as_slice() == cell {
            known
        } else {
            // Another cell has the key: this one gets an action of its own each time.
            self.cells.push(Cell::from_slice(cell));
            next
        }
    }

    /// Computes the actions that are missing, in one batch.
    pub fn complete(&mut self, grid: &Grid) {
        let from = self.known.len() / self.inputs;
        if from == self.cells.len() {
            return;
        }
        match &mut self.controller {
            CellController::Network { network, double, single, arithmetic } => {
                let mut bounds = Vec::new();
                for cell in &self.cells[from..] {
                    bounds.extend(grid.edges_of(cell).map(|(lower, _)| nearest_f32(lower)));
                    bounds.extend(grid.edges_of(cell).map(|(_, upper)| nearest_f32(upper)));
                }
                let outputs = evaluate(network, double, single, *arithmetic, &bounds);
                self.known
                    .extend(outputs.into_iter().map(|o| self.action.apply(&R::from_interval(o))));
            }
            CellController::Formula { tape, registers } => {
                for cell in &self.cells[from..] {
                    let n = cell.len();
                    for (i, (lower, upper)) in grid.edges_of(cell).enumerate() {
                        registers[i] = R::enclosing(lower.exact());
                        registers[n + i] = R::enclosing(upper.exact());
                    }
                    let some = tape.run(registers).is_some();
                    for i in 0..self.inputs {
                        let output = if some {
                            tape.output(registers, i).clone()
                        } else {
                            R::from_interval(Interval::EVERYTHING)
                        };
                        self.known.push(self.action.apply(&output));
                    }
                }
            }
        }
    }

    /// The action with a number.
    #[inline]
    #[must_use]
    pub fn action(&self, number: u32) -> &[R] {
        let at = number as usize * self.inputs;
        &self.known[at..at + self.inputs]
    }

    /// The cells met so far.
    #[must_use]
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }
}

/// What a network gives for a batch of inputs: one range for each output, row by row.
fn evaluate(
    network: &Network,
    double: &mut Evaluator,
    single: &mut SingleEvaluator,
    arithmetic: NetworkArithmetic,
    inputs: &[f64],
) -> Vec<Interval> {
    if arithmetic.rounding == Rounding::AnyOrder {
        let rows = inputs.chunks(network.input_width());
        return rows
            .flat_map(|row| possible_outputs(network, row, arithmetic.evaluation))
            .collect();
    }
    match arithmetic.evaluation {
        Evaluation::F64 => {
            let mut outputs = Vec::new();
            double.evaluate(inputs, &mut outputs);
            outputs.into_iter().map(Interval::point).collect()
        }
        Evaluation::F32 => inputs
            .chunks(network.input_width())
            .flat_map(|row| single.evaluate(row))
            .map(|output| Interval::point(f64::from(output)))
            .collect(),
    }
}

/// The nearest single-precision number of an edge, as a double; at a tie the one with an even
/// mantissa.
fn nearest_f32(edge: &Edge) -> f64 {
    #[expect(clippy::cast_possible_truncation, reason = "rounding is meant")]
    let (low, high) = (edge.floor() as f32, edge.ceil() as f32);
    // Rounding keeps the order, so equal ones are that of the number between.
    if low.to_bits() == high.to_bits() {
        return f64::from(low);
    }
    let distance = |candidate: f32| {
        Rational::from_f32(candidate).map(|candidate| (candidate - edge.exact()).abs())
    };
    let (Some(below), Some(above)) = (distance(low), distance(high)) else { return f64::from(low) };
    let even_is_low = low.to_bits() & 1 == 0;
    f64::from(if below < above || (below == above && even_is_low) { low } else { high })
}
