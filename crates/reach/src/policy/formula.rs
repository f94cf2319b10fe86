//! Formulas over the bounds of a cell.

use policert_control_loop::{
    Cell, ClosedRange, ExactRange, ExpressionGraph, ExpressionId, Grid, Tape,
};

/// Formulas that give the action in a cell.
#[derive(Clone, Debug)]
pub(super) enum CellFormula<R> {
    /// Every operation is one of exact arithmetic.
    Exact(Code<ExactRange>),
    Rounded(Code<R>),
}

/// Compiled formulas with their work space.
#[derive(Clone, Debug)]
pub(super) struct Code<R> {
    tape: Tape<R>,
    registers: Vec<R>,
    outputs: usize,
}

impl<R: ClosedRange> CellFormula<R> {
    /// Compiles formulas over the bounds of cells of `dimension` variables.
    pub(super) fn new(graph: &ExpressionGraph, outputs: &[ExpressionId], dimension: usize) -> Self {
        if outputs.iter().all(|&output| graph.is_rational(output)) {
            Self::Exact(Code::new(graph, outputs, dimension))
        } else {
            Self::Rounded(Code::new(graph, outputs, dimension))
        }
    }

    /// The values in a cell; `None` if a formula has none.
    pub(super) fn outputs(&mut self, grid: &Grid, cell: &Cell) -> Option<Vec<R>> {
        match self {
            Self::Exact(code) => {
                Some(code.run(grid, cell)?.iter().map(ExactRange::converted).collect())
            }
            Self::Rounded(code) => code.run(grid, cell),
        }
    }
}

impl<R: ClosedRange> Code<R> {
    fn new(graph: &ExpressionGraph, outputs: &[ExpressionId], dimension: usize) -> Self {
        let tape = Tape::new(graph, outputs, 2 * dimension);
        Self { registers: tape.registers(), tape, outputs: outputs.len() }
    }

    fn run(&mut self, grid: &Grid, cell: &Cell) -> Option<Vec<R>> {
        for (i, (lower, upper)) in grid.edges_of(cell).enumerate() {
            self.registers[i] = R::enclosing(lower.exact());
            self.registers[cell.len() + i] = R::enclosing(upper.exact());
        }
        self.tape.run(&mut self.registers)?;
        let output = |i| self.tape.output(&self.registers, i).clone();
        Some((0..self.outputs).map(output).collect())
    }
}
