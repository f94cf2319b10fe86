//! A network laid out for bounds: one slot for each element of each node, weights in panels.
//!
//! Backward substitution handles a block of rows at a time, one row in each lane, so that a weight
//! is loaded once for all of them; the forward interval pass handles a panel of neurons at a time.

use policert_engine_api::{Budget, StopReason};
use policert_policy::{Network, Node as NetworkNode, Op as NetworkOp};

use crate::relaxation::Function;

/// Rows of a backward substitution, or neurons of an interval pass, that run side by side.
pub(crate) const LANES: usize = 8;
/// One number for each of them.
pub(crate) type Lanes = [f64; LANES];

/// Columns of weights that a backward substitution works on at a time.
pub(crate) const COLUMNS: usize = 4;

/// A network laid out for bounds.
#[derive(Debug)]
pub(crate) struct Program {
    /// In topological order; the first is the input.
    pub nodes: Vec<Node>,
    /// The node of the scores.
    pub output: usize,
    /// Number of slots.
    pub slots: usize,
}

/// One node: the slots `at .. at + width`.
#[derive(Debug)]
pub(crate) struct Node {
    pub op: Op,
    pub at: usize,
    pub width: usize,
    /// Whether tight bounds of its elements matter (a function that is not linear reads them) and
    /// plain intervals do not give them.
    pub refined: bool,
    /// The function that reads it, if that is its only reader that is not linear.
    pub reader: Option<Function>,
    /// Number of nodes that read it.
    pub readers: usize,
}

/// What a node computes, from other nodes given by index.
#[derive(Debug)]
pub(crate) enum Op {
    Input,
    Affine(Affine),
    /// `x · factor + summand`, where the factor stands for `mul / div` and is rounded.
    Scale {
        source: usize,
        factors: Vec<f64>,
        summands: Vec<f64>,
    },
    Pointwise {
        source: usize,
        function: Function,
    },
    Add {
        sources: Vec<usize>,
    },
    Concat {
        sources: Vec<usize>,
    },
    Max {
        sources: Vec<usize>,
    },
}

/// `weights · x + bias`.
#[derive(Debug)]
pub(crate) struct Affine {
    pub source: usize,
    /// Row by row.
    pub rows: Vec<f64>,
    pub columns: usize,
    pub bias: Vec<f64>,
    /// All columns; those of the input are chosen for each region instead.
    pub panels: Panels,
}

impl Affine {
    /// The weights of one neuron.
    pub fn row(&self, neuron: usize) -> &[f64] {
        &self.rows[neuron * self.columns..(neuron + 1) * self.columns]
    }
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
    pub fn new(rows: &[f64], width: usize, columns: &[usize]) -> Self {
        let neurons = rows.len() / width;
        let weight = |neuron: usize, column: Option<&usize>| match column {
            Some(&column) if neuron < neurons => rows[neuron * width + column],
            _ => 0.0,
        };
        let forward = (0..neurons).step_by(LANES).flat_map(|first| {
            let panel = move |column| std::array::from_fn(|i| weight(first + i, Some(column)));
            columns.iter().map(panel)
        });
        let backward = (0..columns.len()).step_by(COLUMNS).flat_map(|first| {
            let panel =
                move |neuron| std::array::from_fn(|j| weight(neuron, columns.get(first + j)));
            (0..neurons).map(panel)
        });
        Self { forward: forward.collect(), backward: backward.collect() }
    }
}

impl Program {
    /// Lays a network out.
    pub fn new(network: &Network) -> Self {
        let mut program = Self::empty(network);
        let mut read = vec![false; network.nodes().len()];
        network.nodes().iter().for_each(|node| program.add(node, &mut read));
        program
    }

    /// As [`Program::new`], under a budget: large networks take a while.
    ///
    /// # Errors
    /// A stop of the budget.
    pub fn within(network: &Network, budget: &mut Budget) -> Result<Self, StopReason> {
        let mut program = Self::empty(network);
        let mut read = vec![false; network.nodes().len()];
        for node in network.nodes() {
            budget.poll_clock()?;
            program.add(node, &mut read);
        }
        Ok(program)
    }

    fn empty(network: &Network) -> Self {
        let nodes = Vec::with_capacity(network.nodes().len());
        Self { nodes, output: network.output().index(), slots: 0 }
    }

    /// Lays out one more node. `read` says of each node whether a function reads it.
    fn add(&mut self, node: &NetworkNode, read: &mut [bool]) {
        let Self { nodes, slots, .. } = self;
        let sources: Vec<usize> = node.op.inputs().iter().map(|input| input.index()).collect();
        let source = sources.first().copied().unwrap_or(0);
        let pointwise = |function| Op::Pointwise { source, function };
        let op = match &node.op {
            NetworkOp::Input => Op::Input,
            NetworkOp::Affine { weights, bias, .. } => {
                let width = weights.columns();
                let all: Vec<usize> = (0..width).collect();
                let panels = match nodes[source].op {
                    Op::Input => Panels::default(),
                    _ => Panels::new(weights.entries(), width, &all),
                };
                let rows = weights.entries().to_vec();
                Op::Affine(Affine { source, rows, columns: width, bias: bias.clone(), panels })
            }
            NetworkOp::Scale { mul, div, add, .. } => {
                let factors = mul.iter().zip(div).map(|(&mul, &div)| factor(mul, div)).collect();
                Op::Scale { source, factors, summands: add.clone() }
            }
            NetworkOp::Relu { .. } => pointwise(Function::Leaky { alpha: 0.0 }),
            NetworkOp::LeakyRelu { alpha, .. } => pointwise(Function::Leaky { alpha: *alpha }),
            NetworkOp::Tanh { .. } => pointwise(Function::Tanh),
            NetworkOp::Sigmoid { .. } => pointwise(Function::Sigmoid),
            NetworkOp::Clip { lo, hi, .. } => pointwise(Function::Clip {
                lo: lo.unwrap_or(f64::NEG_INFINITY),
                hi: hi.unwrap_or(f64::INFINITY),
            }),
            NetworkOp::Add { .. } => Op::Add { sources: sources.clone() },
            NetworkOp::Concat { .. } => Op::Concat { sources: sources.clone() },
            NetworkOp::Max { .. } => Op::Max { sources: sources.clone() },
        };
        if matches!(op, Op::Pointwise { .. } | Op::Max { .. }) {
            for &source in &sources {
                let function = match &op {
                    Op::Pointwise { function, .. } if !read[source] => Some(*function),
                    _ => None,
                };
                read[source] = true;
                nodes[source].reader = function;
                nodes[source].refined = !nodes[source].is_tight(nodes);
            }
        }
        for &source in &sources {
            nodes[source].readers += 1;
        }
        let width = node.width;
        nodes.push(Node { op, at: *slots, width, refined: false, reader: None, readers: 0 });
        *slots += node.width;
    }

    /// The values of all slots for some inputs, rounded.
    pub fn values(&self, inputs: &[f64]) -> Vec<f64> {
        let mut values = Vec::with_capacity(self.slots);
        for node in &self.nodes {
            match &node.op {
                Op::Input => values.extend_from_slice(inputs),
                Op::Affine(affine) => {
                    let from = self.nodes[affine.source].at;
                    for (row, bias) in affine.rows.chunks_exact(affine.columns).zip(&affine.bias) {
                        let products = row.iter().zip(&values[from..]).map(|(w, x)| w * x);
                        values.push(products.sum::<f64>() + bias);
                    }
                }
                Op::Scale { source, factors, summands } => {
                    for (i, (factor, summand)) in factors.iter().zip(summands).enumerate() {
                        values.push(values[self.nodes[*source].at + i] * factor + summand);
                    }
                }
                Op::Pointwise { source, function } => {
                    for i in 0..node.width {
                        let x = values[self.nodes[*source].at + i];
                        values.push(function.image(x, x).0);
                    }
                }
                Op::Add { sources } => {
                    for i in 0..node.width {
                        values.push(sources.iter().map(|&s| values[self.nodes[s].at + i]).sum());
                    }
                }
                Op::Max { sources } => {
                    for i in 0..node.width {
                        let each = sources.iter().map(|&s| values[self.nodes[s].at + i]);
                        values.push(each.fold(f64::NEG_INFINITY, f64::max));
                    }
                }
                Op::Concat { sources } => {
                    for &source in sources {
                        values.extend_from_within(self.range(source));
                    }
                }
            }
        }
        values
    }

    /// Number of weights.
    pub fn weights(&self) -> usize {
        let of = |node: &Node| match &node.op {
            Op::Affine(affine) => affine.rows.len(),
            Op::Input
            | Op::Scale { .. }
            | Op::Pointwise { .. }
            | Op::Add { .. }
            | Op::Concat { .. }
            | Op::Max { .. } => node.width,
        };
        self.nodes.iter().map(of).sum()
    }

    /// The node that a slot belongs to.
    pub fn node_of(&self, slot: usize) -> usize {
        self.nodes.partition_point(|node| node.at <= slot).saturating_sub(1)
    }

    /// The slots of a node.
    pub fn range(&self, node: usize) -> std::ops::Range<usize> {
        let node = &self.nodes[node];
        node.at..node.at + node.width
    }
}

/// The quotient up to a relative error of one rounding, or no number.
fn factor(mul: f64, div: f64) -> f64 {
    let factor = mul / div;
    if factor.is_normal() || mul.abs() < f64::from_bits(1) { factor } else { f64::NAN }
}

impl Node {
    /// Whether interval arithmetic gives tight bounds of each element.
    fn is_tight(&self, nodes: &[Node]) -> bool {
        match &self.op {
            Op::Input => true,
            Op::Affine(affine) => matches!(nodes[affine.source].op, Op::Input),
            // Monotone functions of one element keep tight bounds tight (or nearly so).
            Op::Scale { source, .. } | Op::Pointwise { source, .. } => {
                nodes[*source].refined || nodes[*source].is_tight(nodes)
            }
            Op::Concat { sources } => {
                sources.iter().all(|&s| nodes[s].refined || nodes[s].is_tight(nodes))
            }
            Op::Add { .. } | Op::Max { .. } => false,
        }
    }
}
