//! Neural networks: a graph of operations on vectors.
//!
//! The meaning of a network is a function over the real numbers, given by the stored weights
//! exactly as they are. Nothing here rounds: constants are merged only where the merged constant
//! is the exact one.

mod build;
mod domain;
pub(crate) mod fold;
mod ranges;
mod written;

#[cfg(test)]
pub(crate) mod generate;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::activation::Activation;
use crate::error::PolicyError;
use crate::matrix::Matrix;

pub use build::NetworkBuilder;
pub use domain::{Domain, Elements, Scaling};
pub use written::{Step, Written, WrittenElements};

/// A node of a [`Network`]; nodes only refer to nodes before them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(usize);

impl NodeId {
    /// The input of every network.
    pub const INPUT: NodeId = NodeId(0);

    /// The index into [`Network::nodes`].
    #[must_use]
    pub fn index(self) -> usize {
        self.0
    }
}

/// The type in which a file stores the weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementType {
    /// Single precision, widened exactly.
    F32,
    /// Double precision.
    F64,
}

/// An operation on vectors of real numbers.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// The input of the network.
    Input,
    /// `weights · x + bias`.
    Affine {
        /// The vector x.
        input: NodeId,
        /// One row for each output.
        weights: Matrix,
        /// One number for each output.
        bias: Vec<f64>,
    },
    /// `x · mul / div + add`, element by element.
    Scale {
        /// The vector x.
        input: NodeId,
        /// Factors.
        mul: Vec<f64>,
        /// Divisors, not 0.
        div: Vec<f64>,
        /// Summands.
        add: Vec<f64>,
    },
    /// A function, element by element.
    Pointwise {
        /// The vector x.
        input: NodeId,
        /// The function.
        activation: Activation,
    },
    /// Sum of vectors of one width; at least one.
    Add {
        /// The vectors.
        inputs: Vec<NodeId>,
    },
    /// The vectors one after the other; at least one.
    Concat {
        /// The vectors.
        inputs: Vec<NodeId>,
    },
    /// Element-wise maximum of vectors of one width; at least one.
    Max {
        /// The vectors.
        inputs: Vec<NodeId>,
    },
}

impl Op {
    /// The nodes whose values it takes, in order.
    #[must_use]
    pub fn inputs(&self) -> &[NodeId] {
        match self {
            Op::Input => &[],
            Op::Affine { input, .. } | Op::Scale { input, .. } | Op::Pointwise { input, .. } => {
                std::slice::from_ref(input)
            }
            Op::Add { inputs } | Op::Concat { inputs } | Op::Max { inputs } => inputs,
        }
    }

    fn inputs_mut(&mut self) -> &mut [NodeId] {
        match self {
            Op::Input => &mut [],
            Op::Affine { input, .. } | Op::Scale { input, .. } | Op::Pointwise { input, .. } => {
                std::slice::from_mut(input)
            }
            Op::Add { inputs } | Op::Concat { inputs } | Op::Max { inputs } => inputs,
        }
    }
}

/// An operation and the width of its result.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkNode {
    /// The operation.
    pub op: Op,
    /// Number of elements of the result.
    pub width: usize,
}

/// A feed-forward network with one input vector and one output vector.
///
/// Every constant is finite and every width fits, see [`NetworkBuilder`].
#[derive(Clone, Debug)]
pub struct Network {
    /// In topological order; the first is the input, and each one is needed for the output.
    nodes: Arc<[NetworkNode]>,
    output: NodeId,
    element_type: ElementType,
    merges_constants: bool,
    /// What the file has for the values of some nodes, in their order.
    written: Arc<[(NodeId, Written)]>,
}

/// Networks are equal if they have the same operations, however their constants were written.
impl PartialEq for Network {
    fn eq(&self, other: &Self) -> bool {
        let Self { nodes, output, element_type, merges_constants: _, written: _ } = self;
        (nodes, output, element_type) == (&other.nodes, &other.output, &other.element_type)
    }
}

impl Network {
    /// The network that gives its inputs.
    ///
    /// # Errors
    /// If there are none.
    pub(crate) fn identity(width: usize) -> Result<Self, PolicyError> {
        Ok(NetworkBuilder::new(width)?.finish(NodeId::INPUT, ElementType::F64))
    }

    /// The nodes in topological order; the first one, and no other, is the input.
    #[must_use]
    pub fn nodes(&self) -> &[NetworkNode] {
        &self.nodes
    }

    /// One node.
    ///
    /// # Panics
    /// If the id is one of another network.
    #[must_use]
    pub fn node(&self, id: NodeId) -> &NetworkNode {
        &self.nodes[id.0]
    }

    /// The node whose value is the output.
    #[must_use]
    pub fn output(&self) -> NodeId {
        self.output
    }

    /// Number of inputs.
    #[must_use]
    pub fn input_width(&self) -> usize {
        self.nodes[0].width
    }

    /// Number of outputs.
    #[must_use]
    pub fn output_width(&self) -> usize {
        self.node(self.output).width
    }

    /// The type in which the weights are stored.
    #[must_use]
    pub fn element_type(&self) -> ElementType {
        self.element_type
    }

    /// Returns whether a constant of it is made of several that were written, exactly, or an operation of a file of
    /// several nodes: a library that rounds computes in other ways. A bias that follows a product is not merged
    /// in this sense.
    #[must_use]
    pub fn merges_constants(&self) -> bool {
        self.merges_constants
    }

    /// Returns whether the network is a piecewise linear function, so that rational inputs have
    /// rational outputs.
    #[must_use]
    pub fn is_piecewise_linear(&self) -> bool {
        self.nodes.iter().all(|node| match &node.op {
            Op::Pointwise { activation, .. } => activation.is_piecewise_linear(),
            Op::Input
            | Op::Affine { .. }
            | Op::Scale { .. }
            | Op::Add { .. }
            | Op::Concat { .. }
            | Op::Max { .. } => true,
        })
    }

    /// Sizes of the hidden layers: the results of all weight matrices but the last. `None` if the
    /// network is no chain of layers.
    #[must_use]
    pub fn hidden_sizes(&self) -> Option<Vec<usize>> {
        let mut sizes = Vec::new();
        let mut at = self.output;
        loop {
            let node = self.node(at);
            at = match &node.op {
                Op::Input => break,
                Op::Affine { input, .. } => {
                    sizes.push(node.width);
                    *input
                }
                Op::Scale { input, .. } | Op::Pointwise { input, .. } => *input,
                Op::Add { inputs } | Op::Concat { inputs } | Op::Max { inputs } => {
                    let mut varying = inputs.iter().filter(|&&input| !self.is_constant(input));
                    match (varying.next(), varying.next()) {
                        (Some(input), None) => *input,
                        (None, _) | (Some(_), Some(_)) => return None,
                    }
                }
            };
        }
        sizes.reverse();
        sizes.pop();
        Some(sizes)
    }

    /// Widths of the results of all weight matrices but the last one.
    #[must_use]
    pub fn hidden_widths(&self) -> Vec<usize> {
        let mut is_joined = vec![false; self.nodes.len()];
        for node in self.nodes.iter() {
            if let Op::Add { inputs } | Op::Concat { inputs } | Op::Max { inputs } = &node.op {
                inputs.iter().for_each(|input| is_joined[input.0] = true);
            }
        }
        let is_layer = |i: &usize| {
            matches!(self.nodes[*i].op, Op::Affine { .. })
                && !(is_joined[*i] && self.is_constant(NodeId(*i)))
        };
        let layers = (0..self.nodes.len()).filter(is_layer);
        let mut widths: Vec<usize> = layers.map(|i| self.nodes[i].width).collect();
        widths.pop();
        widths
    }

    /// Returns whether a node is a constant vector, written as a product of the input with 0.
    fn is_constant(&self, id: NodeId) -> bool {
        match &self.node(id).op {
            Op::Affine { input: NodeId::INPUT, weights, .. } => {
                weights.entries().iter().all(|&weight| weight.abs() <= 0.0)
            }
            _ => false,
        }
    }

    /// The same function without maxima: max(a, b) = ReLU(a − b) + b.
    ///
    /// # Errors
    /// None that a network which was built before can have.
    pub fn without_maxima(&self) -> Result<Network, PolicyError> {
        let mut builder = NetworkBuilder::without_maxima(self.input_width())?;
        let output = builder.append(self, NodeId::INPUT)?;
        Ok(builder.finish(output, self.element_type))
    }

    /// Returns whether its outputs pass through a strictly increasing function such as tanh at its end.
    #[must_use]
    pub fn ends_squashed(&self) -> bool {
        self.squashed_output() != self.output
    }

    /// The node that is the output but for strictly increasing functions.
    fn squashed_output(&self) -> NodeId {
        let mut output = self.output;
        while let Op::Pointwise { input, activation: activation @ Activation::Smooth(_) } =
            self.node(output).op
            && activation.is_strictly_increasing()
        {
            output = input;
        }
        output
    }

    /// The network without strictly increasing functions (tanh, for example) at its end: the order
    /// of its outputs is the same, ties included.
    #[must_use]
    pub fn without_final_squashing(&self) -> Network {
        let output = self.squashed_output();
        if output == self.output {
            return self.clone();
        }
        let nodes = self.nodes[..=output.0].to_vec();
        fold::pruned(nodes, output, self.element_type, self.merges_constants, &self.written)
    }
}
