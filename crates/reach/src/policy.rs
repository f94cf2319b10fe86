//! The controller as a black box: one action for each cell, computed once and kept.

mod controls;
mod formula;
mod rounding;
mod single;
mod state;
mod taken;

use std::path::Path;

use policert_control_loop::{
    ActionMap, Cell, ClosedRange, Controller, Disturbance, Grid, ReachError, Task,
};
use policert_engine_api::{Budget, StopReason};
use policert_numeric::{Interval, Rational};
use policert_policy::{Evaluator, Meter, Network, PolicyError, read_network_within};
use rustc_hash::FxHashMap;
use serde::Serialize;

pub use controls::Controls;
use formula::CellFormula;
pub use rounding::possible_outputs;
pub use single::SingleEvaluator;
pub(crate) use state::{Form, StateController, greatest};
pub(crate) use taken::{AnyChoice, Line, Taken, farthest};

/// In which arithmetic a network is evaluated: a part of the question.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum Evaluation {
    /// Double precision.
    #[default]
    F64,
    /// Single precision, sums from the first input to the last.
    F32,
}

/// Says which values of a network's outputs are possible in a cell.
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

/// Says how networks are evaluated.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct NetworkArithmetic {
    /// The precision.
    pub evaluation: Evaluation,
    /// The rounded values that count.
    pub rounding: Rounding,
}

/// A controller that reads cells.
#[derive(Clone, Debug)]
enum CellController<R> {
    Network(Box<CellNetwork>),
    Formula(CellFormula<R>),
}

/// A network that reads the bounds of a cell.
#[derive(Clone, Debug)]
struct CellNetwork {
    network: Network,
    double: Evaluator,
    single: SingleEvaluator,
    arithmetic: NetworkArithmetic,
    /// True if no number that an evaluation meets can overflow in any of the cells.
    never_overflows: bool,
}

/// Says where the number of a cell's action stands.
#[derive(Clone, Debug)]
enum Index {
    /// For each cell, 0 if it has none yet, else the number plus 1.
    Dense(Vec<u32>),
    Sparse(FxHashMap<u128, u32>),
    /// More cells than 128 bits can count.
    Named(FxHashMap<Cell, u32>),
}

/// Grids of at most this many cells have a table.
const DENSE_CELLS: u64 = 1 << 22;

/// So many actions are computed between two looks at the budget.
const ACTIONS_PER_POLL: usize = 256;

/// The actions of the cells met so far. Clones start with the actions known and go their own ways.
#[derive(Clone, Debug)]
pub struct Actions<R> {
    controller: CellController<R>,
    /// The width of a row.
    inputs: usize,
    disturbances: Vec<R>,
    action: ActionRange<R>,
    index: Index,
    cells: Vec<Cell>,
    /// Inputs of the dynamics, one row for each cell known; those of the last cells may be missing
    /// until [`Actions::complete`].
    known: Vec<R>,
    /// For each of these rows, whether the controller has a value in the cell. Where it has none
    /// there is no action, which is not the same as any action.
    defined: Vec<bool>,
}

/// The map from outputs to inputs over ranges.
#[derive(Clone, Debug)]
struct ActionRange<R> {
    scale: R,
    offset: R,
    map: ActionMap,
}

impl<R: ClosedRange> ActionRange<R> {
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

/// Reads a network within a budget.
fn network_within(path: &Path, budget: &Budget) -> Result<Network, ReachError> {
    let mut polled = budget.fork();
    let mut stop = None;
    let mut ask = |bytes| {
        stop = polled.poll_clock().and_then(|()| polled.check_memory(bytes)).err();
        stop.is_none()
    };
    match read_network_within(path, &mut Meter::new(&mut ask)) {
        // Without a reason of the budget the system did not give the memory.
        Err(PolicyError::Stopped) => Err(stop.unwrap_or(StopReason::Memory).into()),
        file => Ok(file?.network),
    }
}

impl<R: ClosedRange> Actions<R> {
    /// The actions of a task's controller on the cells of `grid`.
    ///
    /// # Errors
    /// If the network cannot be read or does not fit the task; a stop of the budget.
    pub fn new(
        task: &Task,
        grid: &Grid,
        arithmetic: NetworkArithmetic,
        budget: &Budget,
    ) -> Result<Self, ReachError> {
        let (inputs, actions) = (task.inputs.len(), task.actions().len());
        let dimension = grid.axes().len();
        let controller = match &task.controller {
            Controller::CellNetwork(path) => {
                let network = network_within(path, budget)?;
                let (width, outputs) = (2 * dimension, actions);
                if network.input_width() != width || network.output_width() != outputs {
                    return Err(ReachError::Mismatch(format!(
                        "{}: the network has {} inputs and {} outputs; bounds of {} variables and \
                         {} actions need {width} and {outputs}",
                        path.display(),
                        network.input_width(),
                        network.output_width(),
                        dimension,
                        actions
                    )));
                }
                if let Some(operator) = rounding::unknown_rounding(&network) {
                    return Err(ReachError::Unsupported(format!(
                        "{}: {operator} in a network that reads cells, whose floating-point results \
                         count; a network that reads the state is computed over the reals",
                        path.display()
                    )));
                }
                CellController::Network(Box::new(CellNetwork::new(network, arithmetic, grid)))
            }
            Controller::CellFormula { graph, outputs } => {
                CellController::Formula(CellFormula::new(graph, outputs, dimension))
            }
            Controller::StateNetwork(_) => {
                return Err(ReachError::Mismatch("this network reads no cells".to_owned()));
            }
        };
        let index = match grid.cell_count() {
            Some(count) if count <= DENSE_CELLS => {
                Index::Dense(vec![0; usize::try_from(count).unwrap_or(0)])
            }
            _ if grid.has_numbers() => Index::Sparse(FxHashMap::default()),
            _ => Index::Named(FxHashMap::default()),
        };
        let action = ActionRange {
            scale: R::enclosing(&task.action.scale),
            offset: R::enclosing(&task.action.offset),
            map: task.action.clone(),
        };
        let (cells, known, defined) = (Vec::new(), Vec::new(), Vec::new());
        let disturbances = task.dynamics.disturbances.iter().map(Disturbance::range).collect();
        Ok(Self { controller, inputs, disturbances, action, index, cells, known, defined })
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
            Index::Sparse(map) => map.entry(grid.number_of(cell)).or_insert(0),
            Index::Named(map) => map.entry(Cell::from_slice(cell)).or_insert(0),
        };
        if *place == 0 {
            *place = next + 1;
            self.cells.push(Cell::from_slice(cell));
        }
        *place - 1
    }

    /// Computes the actions that are missing.
    ///
    /// # Errors
    /// If the budget runs out; the next call goes on.
    pub fn complete(&mut self, grid: &Grid, budget: &mut Budget) -> Result<(), StopReason> {
        for cells in self.cells[self.defined.len()..].chunks(ACTIONS_PER_POLL) {
            budget.poll_clock()?;
            let mut push = |outputs: Option<&[R]>| {
                self.defined.push(outputs.is_some());
                match outputs {
                    Some(outputs) => {
                        self.known.extend(outputs.iter().map(|output| self.action.apply(output)));
                        self.known.extend_from_slice(&self.disturbances);
                    }
                    None => {
                        let nothing = R::from_interval(Interval::EVERYTHING);
                        self.known.extend(std::iter::repeat_n(nothing, self.inputs));
                    }
                }
            };
            match &mut self.controller {
                CellController::Network(network) => {
                    let rows = network.outputs(grid, cells);
                    for row in rows {
                        let ranges: Option<Vec<R>> =
                            row.map(|row| row.into_iter().map(R::from_interval).collect());
                        push(ranges.as_deref());
                    }
                }
                CellController::Formula(formula) => {
                    for cell in cells {
                        push(formula.outputs(grid, cell).as_deref());
                    }
                }
            }
        }
        Ok(())
    }

    /// The action with a number; `None` if the controller has no value in the cell.
    #[inline]
    #[must_use]
    pub fn action(&self, number: u32) -> Option<&[R]> {
        let number = number as usize;
        let at = number * self.inputs;
        self.defined[number].then(|| &self.known[at..at + self.inputs])
    }

    /// The cells met so far.
    #[must_use]
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }
}

impl CellNetwork {
    fn new(network: Network, arithmetic: NetworkArithmetic, grid: &Grid) -> Self {
        let ends = || grid.axes().iter().map(|axis| (axis.edge(0), axis.edge(axis.len())));
        let bounds: Vec<Interval> = ends()
            .chain(ends())
            .map(|(first, last)| {
                Interval::point(first.nearest_f32()).hull(Interval::point(last.nearest_f32()))
            })
            .collect();
        let never_overflows = possible_outputs(&network, &bounds, arithmetic.evaluation).is_some();
        Self {
            double: Evaluator::new(&network),
            single: SingleEvaluator::new(&network),
            network,
            arithmetic,
            never_overflows,
        }
    }

    /// Returns what the network gives in some cells: a range for each output, or `None` where a
    /// number on the way may be none, or is not finite.
    fn outputs(&mut self, grid: &Grid, cells: &[Cell]) -> Vec<Option<Vec<Interval>>> {
        let width = self.network.input_width();
        let mut bounds = Vec::with_capacity(cells.len() * width);
        for cell in cells {
            bounds.extend(grid.edges_of(cell).map(|(lower, _)| lower.nearest_f32()));
            bounds.extend(grid.edges_of(cell).map(|(_, upper)| upper.nearest_f32()));
        }
        let evaluation = self.arithmetic.evaluation;
        let possible = |row: &[f64]| {
            let points: Vec<Interval> = row.iter().map(|&x| Interval::point(x)).collect();
            possible_outputs(&self.network, &points, evaluation)
        };
        if self.arithmetic.rounding == Rounding::AnyOrder {
            return bounds.chunks(width).map(possible).collect();
        }
        let computed: Vec<f64> = match evaluation {
            Evaluation::F64 => {
                let mut outputs = Vec::new();
                self.double.evaluate(&bounds, &mut outputs);
                outputs
            }
            Evaluation::F32 => {
                let rows = bounds.chunks(width);
                rows.flat_map(|row| self.single.evaluate(row)).map(f64::from).collect()
            }
        };
        let rows = computed.chunks(self.network.output_width()).zip(bounds.chunks(width));
        rows.map(|(outputs, row)| {
            let finite = outputs.iter().all(|output| output.is_finite());
            // A number that is none may be lost on the way, in max(x, 0) for instance.
            let defined = finite && (self.never_overflows || possible(row).is_some());
            defined.then(|| outputs.iter().map(|&output| Interval::point(output)).collect())
        })
        .collect()
    }
}
