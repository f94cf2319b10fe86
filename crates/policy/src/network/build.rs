//! Building networks node by node, with all checks.

use std::collections::BTreeMap;

use policert_numeric::Interval;

use super::fold::{self, Merges};
use super::{Domain, ElementType, Network, NetworkNode, NodeId, Op, Scaling, Written};
use crate::activation::{Activation, Smooth};
use crate::error::PolicyError;
use crate::matrix::Matrix;

/// Builds a [`Network`]. Constants must be finite, and widths must fit.
///
/// Node ids of one builder must not be given to another one.
#[derive(Debug)]
pub struct NetworkBuilder {
    pub(super) nodes: Vec<NetworkNode>,
    /// Bounds of the first nodes, where they are known or were asked for.
    pub(super) ranges: Vec<Vec<Interval>>,
    /// True if max(a, b) becomes ReLU(a − b) + b.
    composes_maxima: bool,
    /// What a file has for the values of nodes.
    pub(super) written: BTreeMap<NodeId, Written>,
}

type Built = Result<NodeId, PolicyError>;

impl NetworkBuilder {
    /// Starts with the input vector.
    ///
    /// # Errors
    /// If the width is 0.
    pub fn new(input_width: usize) -> Result<Self, PolicyError> {
        if input_width == 0 {
            return Err(PolicyError::invalid("", "the network has no inputs"));
        }
        let nodes = vec![NetworkNode { op: Op::Input, width: input_width }];
        Ok(Self { nodes, ranges: Vec::new(), composes_maxima: false, written: BTreeMap::new() })
    }

    /// As [`NetworkBuilder::new`], for inputs in these ranges.
    ///
    /// # Errors
    /// If there are none.
    pub(crate) fn within(inputs: &[Interval]) -> Result<Self, PolicyError> {
        Ok(Self { ranges: vec![inputs.to_vec()], ..Self::new(inputs.len())? })
    }

    /// As [`NetworkBuilder::new`], with sums of ReLUs in place of maxima.
    pub(super) fn without_maxima(input_width: usize) -> Result<Self, PolicyError> {
        Ok(Self { composes_maxima: true, ..Self::new(input_width)? })
    }

    /// The input vector.
    #[must_use]
    pub fn input(&self) -> NodeId {
        NodeId::INPUT
    }

    /// Width of a node.
    #[must_use]
    pub fn width(&self, node: NodeId) -> usize {
        self.nodes[node.0].width
    }

    /// `weights · x + bias`.
    ///
    /// # Errors
    /// If sizes do not fit, or a constant is not finite.
    pub fn affine(&mut self, input: NodeId, weights: Matrix, bias: Vec<f64>) -> Built {
        let width = self.width(input);
        if weights.columns() != width {
            let message =
                format!("{} weights a row for a vector of {width} elements", weights.columns());
            return Err(PolicyError::invalid("", message));
        }
        if weights.rows() == 0 || bias.len() != weights.rows() {
            let message = format!("{} biases for {} rows of weights", bias.len(), weights.rows());
            return Err(PolicyError::invalid("", message));
        }
        for (row, entries) in weights.row_iter().enumerate() {
            finite(entries, |column| format!("weight ({row}, {column})"))?;
        }
        finite(&bias, |row| format!("bias {row}"))?;
        let width = weights.rows();
        Ok(self.push(Op::Affine { input, weights, bias }, width))
    }

    /// `x · mul / div + add` element by element; nothing is added where that is x.
    ///
    /// # Errors
    /// If sizes do not fit, a constant is not finite, or a divisor is 0.
    pub fn scale(&mut self, input: NodeId, mul: Vec<f64>, div: Vec<f64>, add: Vec<f64>) -> Built {
        let width = self.width(input);
        for (constants, name) in [(&mul, "factor"), (&div, "divisor"), (&add, "summand")] {
            if constants.len() != width {
                let message =
                    format!("{} {name}s for a vector of {width} elements", constants.len());
                return Err(PolicyError::invalid("", message));
            }
            finite(constants, |i| format!("{name} {i}"))?;
        }
        if let Some(i) = div.iter().position(|&divisor| is(divisor, 0.0)) {
            return Err(PolicyError::invalid("", format!("divisor {i} is 0")));
        }
        let unit = |constants: &[f64], value: f64| constants.iter().all(|&c| is(c, value));
        if unit(&mul, 1.0) && unit(&div, 1.0) && unit(&add, 0.0) {
            return Ok(input);
        }
        Ok(self.push(Op::Scale { input, mul, div, add }, width))
    }

    /// max(x, 0).
    pub fn relu(&mut self, input: NodeId) -> NodeId {
        self.pointwise(input, Activation::RELU)
    }

    /// The hyperbolic tangent.
    pub fn tanh(&mut self, input: NodeId) -> NodeId {
        self.pointwise(input, Activation::Smooth(Smooth::Tanh))
    }

    /// A function, element by element; nothing is added for a clip without bounds.
    ///
    /// # Errors
    /// If a constant of the function is not finite, or no number where it is a bound.
    pub fn activation(&mut self, input: NodeId, activation: Activation) -> Built {
        let activation = match activation {
            Activation::Clip { lo, hi } => {
                if lo.is_nan() || lo == f64::INFINITY || hi.is_nan() || hi == f64::NEG_INFINITY {
                    let bounds = format!("bounds {lo} and {hi}").to_lowercase();
                    let message = format!("{bounds}: not finite numbers");
                    return Err(PolicyError::invalid("", message));
                }
                if lo == f64::NEG_INFINITY && hi == f64::INFINITY {
                    return Ok(input);
                }
                // Where the bounds cross, the upper one counts.
                Activation::Clip { lo: lo.min(hi), hi }
            }
            Activation::Leaky { .. } | Activation::Staircase(_) | Activation::Smooth(_) => {
                finite(&activation.operator().1, |_| "alpha".to_owned())?;
                activation
            }
        };
        Ok(self.pointwise(input, activation))
    }

    fn pointwise(&mut self, input: NodeId, activation: Activation) -> NodeId {
        self.push(Op::Pointwise { input, activation }, self.width(input))
    }

    /// The sum of vectors.
    ///
    /// # Errors
    /// If there are none, or their widths differ.
    pub fn add(&mut self, inputs: Vec<NodeId>) -> Built {
        let width = self.common_width(&inputs)?;
        Ok(self.push(Op::Add { inputs }, width))
    }

    /// The element-wise maximum of vectors.
    ///
    /// # Errors
    /// If there are none, or their widths differ.
    pub fn max(&mut self, inputs: Vec<NodeId>) -> Built {
        let width = self.common_width(&inputs)?;
        match inputs[..] {
            [first, ref rest @ ..] if self.composes_maxima => {
                rest.iter().try_fold(first, |greatest, &other| self.greater(greatest, other))
            }
            _ => Ok(self.push(Op::Max { inputs }, width)),
        }
    }

    /// Vectors one after the other.
    ///
    /// # Errors
    /// If there are none.
    pub fn concat(&mut self, inputs: Vec<NodeId>) -> Built {
        if inputs.is_empty() {
            return Err(PolicyError::invalid("", "no vectors to join"));
        }
        let width = inputs.iter().map(|&input| self.width(input)).sum();
        Ok(self.push(Op::Concat { inputs }, width))
    }

    /// max(a, b) as ReLU(a − b) + b.
    fn greater(&mut self, a: NodeId, b: NodeId) -> Built {
        let width = self.width(a);
        let both = self.concat(vec![a, b])?;
        let difference = self.affine(both, Matrix::difference(width), vec![0.0; width])?;
        let excess = self.relu(difference);
        self.add(vec![excess, b])
    }

    /// A whole network that reads `input`; its output.
    ///
    /// # Errors
    /// If `input` has another width than the input of the network.
    pub fn append(&mut self, network: &Network, input: NodeId) -> Built {
        if self.width(input) != network.input_width() {
            let (width, inputs) = (self.width(input), network.input_width());
            let message = format!("a vector of {width} elements for a network of {inputs} inputs");
            return Err(PolicyError::invalid("", message));
        }
        Ok(network.fold(self, input)?[network.output.0])
    }

    /// The network whose output is `output`. Unused nodes are dropped, and scaling is merged into
    /// weights where that is exact.
    #[must_use]
    pub fn finish(self, output: NodeId, element_type: ElementType) -> Network {
        fold::folded(self.nodes, output, element_type, Merges::All, &self.written)
    }

    /// As [`finish`](Self::finish), with no constants merged but those of a product and the bias after it: the network
    /// keeps which operations nodes [stand for](Self::stands_for).
    #[must_use]
    pub fn finish_as_written(self, output: NodeId, element_type: ElementType) -> Network {
        fold::folded(self.nodes, output, element_type, Merges::Biases, &self.written)
    }

    #[cfg(test)]
    pub(super) fn nodes_for_tests(&self) -> Vec<NetworkNode> {
        self.nodes.clone()
    }

    fn common_width(&self, inputs: &[NodeId]) -> Result<usize, PolicyError> {
        let [first, rest @ ..] = inputs else {
            return Err(PolicyError::invalid("", "no vectors to combine"));
        };
        let width = self.width(*first);
        match rest.iter().map(|&input| self.width(input)).find(|&other| other != width) {
            None => Ok(width),
            Some(other) => {
                let message = format!("vectors of {width} and of {other} elements are combined");
                Err(PolicyError::invalid("", message))
            }
        }
    }

    fn push(&mut self, op: Op, width: usize) -> NodeId {
        self.nodes.push(NetworkNode { op, width });
        NodeId(self.nodes.len() - 1)
    }
}

/// A network as a builder sees it: nodes of another one.
impl Domain for NetworkBuilder {
    type Vector = NodeId;
    type Error = PolicyError;

    fn affine(&mut self, x: &NodeId, weights: &Matrix, bias: &[f64]) -> Built {
        NetworkBuilder::affine(self, *x, weights.clone(), bias.to_vec())
    }

    fn scale(&mut self, x: &NodeId, scaling: Scaling<'_>) -> Built {
        let Scaling { mul, div, add } = scaling;
        NetworkBuilder::scale(self, *x, mul.to_vec(), div.to_vec(), add.to_vec())
    }

    fn apply(&mut self, activation: Activation, x: &NodeId) -> Built {
        self.activation(*x, activation)
    }

    fn sum(&mut self, nodes: &[&NodeId]) -> Built {
        self.add(nodes.iter().map(|&&node| node).collect())
    }

    fn max(&mut self, nodes: &[&NodeId]) -> Built {
        NetworkBuilder::max(self, nodes.iter().map(|&&node| node).collect())
    }

    fn concat(&mut self, nodes: &[&NodeId]) -> Built {
        NetworkBuilder::concat(self, nodes.iter().map(|&&node| node).collect())
    }
}

/// Exact comparison with a constant.
fn is(value: f64, constant: f64) -> bool {
    value.partial_cmp(&constant) == Some(std::cmp::Ordering::Equal)
}

/// Checks that all constants are numbers.
fn finite(constants: &[f64], name: impl Fn(usize) -> String) -> Result<(), PolicyError> {
    match constants.iter().position(|constant| !constant.is_finite()) {
        None => Ok(()),
        Some(i) => {
            let value = constants[i].to_string().to_lowercase();
            let message = format!("{} is {value}: not a finite number", name(i));
            Err(PolicyError::invalid("", message))
        }
    }
}
