//! Controllers that read cells: the parts of a box in them, and the action in each.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use policert_control_loop::{ActionMap, Axis, BoxEdge, Controller, Grid, Task};
use policert_numeric::{Interval, Rational};
use policert_policy::{Evaluator, Network};

use super::formulas::Formula;
use super::sets::{LoopSide, outer};
use super::{LoopFlaw, single_cells};
use crate::interval_scores::evaluate;

/// A box that meets more cells than this is not looked at.
const MOST_CELLS: usize = 1 << 16;

/// In which precision a network that reads cells is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CellPrecision {
    /// In doubles.
    #[default]
    Double,
    /// In single precision, sums from the first input to the last.
    Single,
}

/// A cell, by its position along each variable.
pub(super) type CellPosition = Vec<usize>;

/// The actions of cells, as far as they were asked for.
#[derive(Debug)]
pub(super) struct Cells<'t> {
    grid: &'t Grid,
    map: &'t ActionMap,
    controller: CellController,
    precision: CellPrecision,
    /// Ranges of the disturbances, which are the inputs after the actions.
    disturbances: Vec<Interval>,
    known: BTreeMap<CellPosition, Option<Vec<Interval>>>,
}

#[derive(Debug)]
enum CellController {
    Network { network: Box<Network>, evaluator: Box<Evaluator> },
    Formulas(Vec<Formula>),
}

impl<'t> Cells<'t> {
    /// The controller of a task; `network` is the one that the task names. The reason why there is none.
    pub fn new(
        task: &'t Task,
        network: Option<Network>,
        precision: CellPrecision,
    ) -> Result<Self, String> {
        let Some(grid) = &task.grid else { return Err("a controller without cells".to_owned()) };
        let n = grid.axes().len();
        let controller = match (&task.controller, network) {
            (Controller::CellNetwork(_), Some(network)) => {
                if network.input_width() != 2 * n || network.output_width() != task.actions().len()
                {
                    return Err("a network of another width".to_owned());
                }
                let evaluator = Box::new(Evaluator::new(&network));
                CellController::Network { network: Box::new(network), evaluator }
            }
            (Controller::CellFormula { graph, outputs }, None) => CellController::Formulas(
                outputs.iter().map(|&output| Formula::new(graph, output, 2 * n)).collect(),
            ),
            (_, _) => return Err("networks that read the state".to_owned()),
        };
        let disturbances = task.dynamics.disturbances.iter();
        let disturbances = disturbances.map(|one| range(&one.lower, &one.upper)).collect();
        let (map, known) = (&task.action, BTreeMap::new());
        Ok(Self { grid, map, controller, precision, disturbances, known })
    }

    /// The cells that a box meets, with its part in each, or what stands against it.
    pub fn parts<S: LoopSide>(
        &self,
        state: &[S],
    ) -> Result<Vec<(CellPosition, Vec<Interval>)>, LoopFlaw> {
        let mut parts = vec![(CellPosition::new(), Vec::new())];
        for (axis, side) in self.grid.axes().iter().zip(state) {
            let first = cell_of(axis, |edge| side.lower_cmp(edge)).ok_or(LoopFlaw::Cells)?;
            let last = cell_of(axis, |edge| side.upper_cmp(edge)).ok_or(LoopFlaw::Cells)?;
            if parts.len().saturating_mul(last.saturating_sub(first) + 1) > MOST_CELLS {
                return Err(LoopFlaw::ManyCells);
            }
            let outer = side.outer();
            let mut longer = Vec::new();
            for (cell, part) in parts {
                for k in first..=last {
                    let (lower, upper) = (axis.edge(k).floor(), axis.edge(k + 1).ceil());
                    let within = Interval::new(outer.lo().max(lower), outer.hi().min(upper));
                    let (mut cell, mut part): (CellPosition, Vec<_>) = (cell.clone(), part.clone());
                    cell.push(k);
                    part.push(within.ok_or(LoopFlaw::Cells)?);
                    longer.push((cell, part));
                }
            }
            parts = longer;
        }
        // Variables that the controller does not read have no cells.
        let others = outer(&state[self.grid.axes().len()..]);
        for (_, part) in &mut parts {
            part.extend_from_slice(&others);
        }
        Ok(parts)
    }

    /// What the dynamics take in a cell: actions, then disturbances; `None` if the controller has no value
    /// there.
    pub fn inputs(&mut self, cell: &CellPosition) -> Option<&[Interval]> {
        if !self.known.contains_key(cell) {
            let outputs = self.outputs(cell);
            let inputs = outputs.map(|outputs| {
                let actions = outputs.into_iter().map(|output| self.action(output));
                actions.chain(self.disturbances.iter().copied()).collect()
            });
            self.known.insert(cell.clone(), inputs);
        }
        self.known.get(cell)?.as_deref()
    }

    /// The only cell that a box meets, if it meets one.
    pub fn certain_cell<S: LoopSide>(&self, state: &[S]) -> Option<CellPosition> {
        match self.parts(state).ok()?.as_slice() {
            [(cell, _)] => Some(cell.clone()),
            _ => None,
        }
    }

    /// What a controller reads of a cell: lower edges, then upper ones.
    pub fn edges(&self, cell: &CellPosition) -> Vec<&'t BoxEdge> {
        let edges = |upper: usize| {
            let axes = self.grid.axes().iter().zip(cell);
            axes.map(move |(axis, &k)| axis.edge(k + upper))
        };
        edges(0).chain(edges(1)).collect()
    }

    /// The outputs of the network in a cell, as computed in double precision and exactly; `None` if there is no network, or
    /// a number on the way may overflow.
    pub fn network_outputs(&mut self, cell: &CellPosition) -> Option<Vec<(f64, Interval)>> {
        let shown = self.shown(cell);
        let CellController::Network { network, evaluator } = &mut self.controller else {
            return None;
        };
        let mut computed = Vec::new();
        evaluator.evaluate(&shown, &mut computed);
        let shown: Vec<Interval> = shown.into_iter().map(Interval::point).collect();
        let mut values: Vec<Vec<Interval>> = Vec::new();
        for node in network.nodes() {
            let value = evaluate(&node.op, &values, &shown);
            if !value.iter().all(|x| x.magnitude().is_finite()) {
                return None;
            }
            values.push(value);
        }
        let both = computed.into_iter().zip(values.pop()?);
        both.map(|(computed, exact)| computed.is_finite().then_some((computed, exact))).collect()
    }

    /// What a network is shown of a cell.
    fn shown(&self, cell: &CellPosition) -> Vec<f64> {
        self.edges(cell).into_iter().map(BoxEdge::nearest_f32).collect()
    }

    fn outputs(&mut self, cell: &CellPosition) -> Option<Vec<Interval>> {
        if let CellController::Formulas(formulas) = &self.controller {
            let edges = self.edges(cell).into_iter();
            let bounds: Vec<Interval> =
                edges.map(|edge| Interval::enclosing(edge.exact())).collect();
            return formulas.iter().map(|formula| formula.value(&bounds)).collect();
        }
        if let (CellPrecision::Single, CellController::Network { network, .. }) =
            (self.precision, &self.controller)
        {
            return single_cells::outputs(network, &self.shown(cell));
        }
        // The exact output, too.
        let both = self.network_outputs(cell)?.into_iter();
        Some(both.map(|(computed, exact)| exact.hull(Interval::point(computed))).collect())
    }

    fn action(&self, output: Interval) -> Interval {
        let ActionMap { scale, offset, clamp, .. } = self.map;
        let mut action = output;
        // What changes nothing is not rounded.
        if !offset.is_zero() {
            action = action - Interval::enclosing(offset);
        }
        if *scale != Rational::ONE {
            action = action * Interval::enclosing(scale);
        }
        match clamp {
            Some((lower, upper)) => action
                .max(Interval::enclosing(lower.exact()))
                .min(Interval::enclosing(upper.exact())),
            None => action,
        }
    }
}

pub(super) fn range(lower: &Rational, upper: &Rational) -> Interval {
    Interval::enclosing(lower).hull(Interval::enclosing(upper))
}

/// The cell of a number, which is given by how it compares with edges: cells contain their lower edge, the
/// last one its upper edge, too.
fn cell_of(axis: &Axis, compare: impl Fn(&BoxEdge) -> Ordering) -> Option<usize> {
    let (mut from, mut to) = (0, axis.len());
    if compare(axis.edge(from)) == Ordering::Less {
        return None;
    }
    match compare(axis.edge(to)) {
        Ordering::Greater => return None,
        Ordering::Equal => return Some(axis.len() - 1),
        Ordering::Less => {}
    }
    // It is at least edge `from` and less than edge `to`.
    while to - from > 1 {
        let middle = from + (to - from) / 2;
        if compare(axis.edge(middle)) == Ordering::Less {
            to = middle;
        } else {
            from = middle;
        }
    }
    Some(from)
}
