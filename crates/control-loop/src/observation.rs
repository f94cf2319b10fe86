//! What a network that reads the state is shown of it: expressions of the state.

use policert_numeric::Interval;

use crate::expression::{ExpressionGraph, ExpressionId, Tape};

/// Expressions of the state, one for each input of the network.
#[derive(Clone, Debug)]
pub struct Observation {
    graph: ExpressionGraph,
    roots: Vec<ExpressionId>,
    values: Tape<Interval>,
    /// Slopes by the state, row by row, if all expressions have some.
    slopes: Option<Tape<Interval>>,
}

impl Observation {
    /// The observation of some expressions over `variables` variables.
    #[must_use]
    pub fn new(mut graph: ExpressionGraph, roots: Vec<ExpressionId>, variables: usize) -> Self {
        let slopes: Option<Vec<_>> = roots
            .iter()
            .flat_map(|&root| (0..variables).map(move |variable| (root, variable)))
            .map(|(root, variable)| graph.derivative(root, variable))
            .collect();
        let slopes = slopes.map(|slopes| Tape::new(&graph, &slopes, variables));
        let values = Tape::new(&graph, &roots, variables);
        Self { graph, roots, values, slopes }
    }

    /// The graph of the expressions, and they.
    pub fn expressions(&self) -> (&ExpressionGraph, &[ExpressionId]) {
        (&self.graph, &self.roots)
    }

    /// The number of expressions.
    #[must_use]
    pub fn width(&self) -> usize {
        self.roots.len()
    }

    /// Ranges of the expressions over a box; `None` if one has no value somewhere in it.
    #[must_use]
    pub fn ranges(&self, state: &[Interval]) -> Option<Vec<Interval>> {
        self.values.evaluate(state)
    }

    /// Appends about what the expressions are in a state; `registers` is work space.
    pub fn approximate(&self, state: &[f64], registers: &mut Vec<f64>, outputs: &mut Vec<f64>) {
        self.values.approximate(state, registers, outputs);
    }

    /// Slopes of the expressions by the state over a box, row by row.
    pub fn slopes(&self, state: &[Interval]) -> Option<Vec<Interval>> {
        self.slopes.as_ref()?.evaluate(state)
    }
}
