//! Building networks node by node, with all checks.

use super::{ElementType, Network, Node, NodeId, Op, fold};
use crate::error::PolicyError;
use crate::matrix::Matrix;

/// Builds a [`Network`]. Constants must be finite, and widths must fit.
///
/// Node ids of one builder must not be given to another one.
#[derive(Debug)]
pub struct NetworkBuilder {
    nodes: Vec<Node>,
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
        Ok(Self { nodes: vec![Node { op: Op::Input, width: input_width }] })
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
        self.push(Op::Relu { input }, self.width(input))
    }

    /// x for x ≥ 0, `alpha` · x below.
    ///
    /// # Errors
    /// If `alpha` is not finite.
    pub fn leaky_relu(&mut self, input: NodeId, alpha: f64) -> Built {
        finite(&[alpha], |_| "alpha".to_owned())?;
        Ok(self.push(Op::LeakyRelu { input, alpha }, self.width(input)))
    }

    /// The hyperbolic tangent.
    pub fn tanh(&mut self, input: NodeId) -> NodeId {
        self.push(Op::Tanh { input }, self.width(input))
    }

    /// The logistic sigmoid.
    pub fn sigmoid(&mut self, input: NodeId) -> NodeId {
        self.push(Op::Sigmoid { input }, self.width(input))
    }

    /// min(max(x, lo), hi), where given.
    ///
    /// # Errors
    /// If a bound is not finite.
    pub fn clip(&mut self, input: NodeId, lo: Option<f64>, hi: Option<f64>) -> Built {
        for (bound, name) in [(lo, "lower bound"), (hi, "upper bound")] {
            finite(bound.as_slice(), |_| name.to_owned())?;
        }
        if lo.is_none() && hi.is_none() {
            return Ok(input);
        }
        Ok(self.push(Op::Clip { input, lo, hi }, self.width(input)))
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
        Ok(self.push(Op::Max { inputs }, width))
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
    pub(super) fn greater(&mut self, a: NodeId, b: NodeId) -> Built {
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
        self.copied(network, input, &|builder, inputs| builder.max(inputs.to_vec()))
    }

    /// A network that reads `input`, with its maxima built by `max`; its output.
    pub(super) fn copied(
        &mut self,
        network: &Network,
        input: NodeId,
        max: &dyn Fn(&mut Self, &[NodeId]) -> Built,
    ) -> Built {
        if self.width(input) != network.input_width() {
            let (width, inputs) = (self.width(input), network.input_width());
            let message = format!("a vector of {width} elements for a network of {inputs} inputs");
            return Err(PolicyError::invalid("", message));
        }
        let mut places: Vec<NodeId> = Vec::with_capacity(network.nodes.len());
        for node in &network.nodes {
            let at = |id: &NodeId| places[id.0];
            let all = |ids: &[NodeId]| -> Vec<NodeId> { ids.iter().map(at).collect() };
            let place = match &node.op {
                Op::Input => input,
                Op::Affine { input, weights, bias } => {
                    self.affine(at(input), weights.clone(), bias.clone())?
                }
                Op::Scale { input, mul, div, add } => {
                    self.scale(at(input), mul.clone(), div.clone(), add.clone())?
                }
                Op::Relu { input } => self.relu(at(input)),
                Op::LeakyRelu { input, alpha } => self.leaky_relu(at(input), *alpha)?,
                Op::Tanh { input } => self.tanh(at(input)),
                Op::Sigmoid { input } => self.sigmoid(at(input)),
                Op::Clip { input, lo, hi } => self.clip(at(input), *lo, *hi)?,
                Op::Add { inputs } => self.add(all(inputs))?,
                Op::Concat { inputs } => self.concat(all(inputs))?,
                Op::Max { inputs } => max(self, &all(inputs))?,
            };
            places.push(place);
        }
        Ok(places[network.output.0])
    }

    /// The network whose output is `output`. Unused nodes are dropped, and scaling is merged into
    /// weights where that is exact.
    #[must_use]
    pub fn finish(self, output: NodeId, element_type: ElementType) -> Network {
        fold::folded(self.nodes, output, element_type)
    }

    #[cfg(test)]
    pub(super) fn nodes_for_tests(&self) -> Vec<Node> {
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
        self.nodes.push(Node { op, width });
        NodeId(self.nodes.len() - 1)
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
