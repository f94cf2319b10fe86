//! A network laid out for bounds: one slot for each element of each node, weights in panels.
//!
//! Backward substitution handles a block of rows at a time, one row in each lane, so that a weight
//! is loaded once for all of them; the forward interval pass handles a panel of neurons at a time.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;

use policert_engine_api::{Budget, StopReason};
use policert_policy::{Activation, Matrix, Network, NodeId, Op};

/// Rows of a backward substitution, or neurons of an interval pass, that run side by side.
pub(crate) const LANES: usize = 8;
/// One number for each of them.
pub(crate) type Lanes = [f64; LANES];

/// Columns of weights that a backward substitution works on at a time.
pub(crate) const COLUMNS: usize = 4;

/// A network laid out for bounds.
#[derive(Debug)]
pub(crate) struct Program {
    network: Network,
    /// In topological order; the first is the input.
    pub nodes: Vec<ProgramNode>,
    /// The node of the scores.
    pub output: usize,
    /// Number of slots.
    pub slots: usize,
    /// True if it has maxima.
    pub has_maxima: bool,
}

/// One node: the slots `at .. at + width`.
#[derive(Debug)]
pub(crate) struct ProgramNode {
    pub at: usize,
    pub width: usize,
    /// True if tight bounds of its elements matter (a function that is not linear reads them) and
    /// plain intervals do not give them.
    pub refined: bool,
    /// The function that reads it, if that is its only reader that is not linear.
    pub reader: Option<Activation>,
    /// True if its readers that are not linear are maxima.
    pub only_maxima: bool,
    /// Number of nodes that read it.
    pub readers: usize,
    /// All columns of its weights, if it is affine; those of the input are chosen for each region
    /// instead. Nodes that share their weights share the panels.
    pub panels: Arc<Panels>,
}

/// Weights in the order in which the inner loops read them, possibly of a choice of columns.
#[derive(Clone, Debug, Default)]
pub(crate) struct Panels {
    /// For each panel of neurons, column by column.
    pub forward: Vec<Lanes>,
    /// For each panel of columns, neuron by neuron.
    pub backward: Vec<[f64; COLUMNS]>,
}

impl Panels {
    pub fn new(weights: &Matrix, columns: &[usize]) -> Self {
        let neurons = weights.rows();
        let mut forward = Vec::with_capacity(neurons.div_ceil(LANES) * columns.len());
        for first in (0..neurons).step_by(LANES) {
            let rows: [&[f64]; LANES] = std::array::from_fn(|i| match first + i < neurons {
                true => weights.row(first + i),
                false => &[],
            });
            let panel = |&column: &usize| rows.map(|row| row.get(column).copied().unwrap_or(0.0));
            forward.extend(columns.iter().map(panel));
        }
        let mut backward = Vec::with_capacity(columns.len().div_ceil(COLUMNS) * neurons);
        for columns in columns.chunks(COLUMNS) {
            let weight = |row: &[f64], j: usize| columns.get(j).map_or(0.0, |&column| row[column]);
            backward.extend(weights.row_iter().map(|row| std::array::from_fn(|j| weight(row, j))));
        }
        Self { forward, backward }
    }
}

impl Program {
    /// Lays a network out.
    pub fn new(network: &Network) -> Self {
        let go_on = || Ok::<(), Infallible>(());
        match Self::while_polled(network, go_on) {
            Ok(program) => program,
            Err(never) => match never {},
        }
    }

    /// As [`Program::new`], under a budget: large networks take a while.
    ///
    /// # Errors
    /// A stop of the budget.
    pub fn within(network: &Network, budget: &mut Budget) -> Result<Self, StopReason> {
        Self::while_polled(network, || budget.poll_clock())
    }

    fn while_polled<E>(
        network: &Network,
        mut poll: impl FnMut() -> Result<(), E>,
    ) -> Result<Self, E> {
        let nodes = Vec::with_capacity(network.nodes().len());
        let output = network.output().index();
        let mut program =
            Self { network: network.clone(), nodes, output, slots: 0, has_maxima: false };
        let mut read = vec![false; network.nodes().len()];
        let mut shared = BTreeMap::new();
        for node in network.nodes() {
            poll()?;
            let panels = match &node.op {
                Op::Affine { input, weights, .. } if *input != NodeId::INPUT => {
                    let all: Vec<usize> = (0..weights.columns()).collect();
                    let known = shared.entry(weights.place());
                    Arc::clone(known.or_insert_with(|| Arc::new(Panels::new(weights, &all))))
                }
                _ => Arc::default(),
            };
            program.add(node, panels, &mut read);
        }
        Ok(program)
    }

    /// Lays out one more node. `read` says of each node whether a function reads it.
    fn add(&mut self, node: &policert_policy::NetworkNode, panels: Arc<Panels>, read: &mut [bool]) {
        let sources = node.op.inputs().iter().map(|input| input.index());
        let reader = match &node.op {
            Op::Pointwise { activation, .. } => Some(Some(*activation)),
            Op::Max { .. } => Some(None),
            Op::Input
            | Op::Affine { .. }
            | Op::Scale { .. }
            | Op::Add { .. }
            | Op::Concat { .. } => None,
        };
        for source in sources {
            self.nodes[source].readers += 1;
            if let Some(function) = reader {
                let of = &mut self.nodes[source];
                of.reader = function.filter(|_| !read[source]);
                of.only_maxima = function.is_none() && (of.only_maxima || !read[source]);
                read[source] = true;
                self.nodes[source].refined = !self.is_tight(source);
            }
        }
        self.has_maxima |= matches!(node.op, Op::Max { .. });
        let (at, width) = (self.slots, node.width);
        self.nodes.push(ProgramNode {
            at,
            width,
            refined: false,
            reader: None,
            only_maxima: false,
            readers: 0,
            panels,
        });
        self.slots += node.width;
    }

    /// Returns whether interval arithmetic gives tight bounds of each element of a node.
    fn is_tight(&self, node: usize) -> bool {
        let is_bounded =
            |source: &NodeId| self.nodes[source.index()].refined || self.is_tight(source.index());
        match self.op(node) {
            Op::Input => true,
            Op::Affine { input, .. } => *input == NodeId::INPUT,
            // Monotone functions of one element keep tight bounds tight (or nearly so).
            Op::Scale { input, .. } | Op::Pointwise { input, .. } => is_bounded(input),
            Op::Concat { inputs } => inputs.iter().all(is_bounded),
            Op::Add { .. } | Op::Max { .. } => false,
        }
    }

    /// The operation of a node.
    pub fn op(&self, node: usize) -> &Op {
        &self.network.nodes()[node].op
    }

    /// Number of weights.
    pub fn weights(&self) -> usize {
        let of = |node: &policert_policy::NetworkNode| match &node.op {
            Op::Affine { weights, .. } => weights.entries().len(),
            Op::Input
            | Op::Scale { .. }
            | Op::Pointwise { .. }
            | Op::Add { .. }
            | Op::Concat { .. }
            | Op::Max { .. } => node.width,
        };
        self.network.nodes().iter().map(of).sum()
    }

    /// The node that a slot belongs to.
    pub fn node_of(&self, slot: usize) -> usize {
        self.nodes.partition_point(|node| node.at <= slot).saturating_sub(1)
    }

    /// The node of a slot, and which of its elements it is.
    pub fn element_of(&self, slot: usize) -> (usize, usize) {
        let node = self.node_of(slot);
        (node, slot - self.nodes[node].at)
    }

    /// The slots of a node.
    pub fn range(&self, node: usize) -> std::ops::Range<usize> {
        let node = &self.nodes[node];
        node.at..node.at + node.width
    }
}

/// The quotient up to a relative error of one rounding, or no number.
pub(crate) fn factor(mul: f64, div: f64) -> f64 {
    let factor = mul / div;
    if factor.is_normal() || mul.abs() < f64::from_bits(1) { factor } else { f64::NAN }
}
