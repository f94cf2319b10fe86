//! Operations of a file that a network computes in another way, with several nodes.
//!
//! Over the real numbers a product is made of squares, and so exact. A library that rounds multiplies. So a
//! network that is read as it is written keeps what its file says, and [`Network::fold_as_written`] follows that.

use super::domain::value_of;
use super::{Elements, Network, NetworkBuilder, NodeId, Op};

/// The operation of a file that the value of a node is, element by element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// a · b.
    Product {
        /// The first factor.
        a: NodeId,
        /// The second factor.
        b: NodeId,
    },
    /// a / b.
    Quotient {
        /// The dividend.
        a: NodeId,
        /// The divisor.
        b: NodeId,
        /// True if 0 / 0 is 0.
        keeps_zeros: bool,
    },
    /// `a` where the condition is 1, `b` where it is 0.
    Choice {
        /// Which one is chosen: 0 or 1.
        condition: NodeId,
        /// What is chosen at 1.
        a: NodeId,
        /// What is chosen at 0.
        b: NodeId,
    },
}

impl Written {
    /// The nodes whose values it takes.
    pub(super) fn inputs(self) -> Vec<NodeId> {
        match self {
            Self::Product { a, b } | Self::Quotient { a, b, .. } => vec![a, b],
            Self::Choice { condition, a, b } => vec![condition, a, b],
        }
    }

    /// As in a network whose nodes have other numbers.
    pub(super) fn renumbered(self, number: impl Fn(NodeId) -> NodeId) -> Self {
        match self {
            Self::Product { a, b } => Self::Product { a: number(a), b: number(b) },
            Self::Quotient { a, b, keeps_zeros } => {
                Self::Quotient { a: number(a), b: number(b), keeps_zeros }
            }
            Self::Choice { condition, a, b } => {
                Self::Choice { condition: number(condition), a: number(a), b: number(b) }
            }
        }
    }
}

/// What a library does for a node.
#[derive(Clone, Copy, Debug)]
pub enum Step<'n> {
    /// The operation of the node.
    Op(&'n Op),
    /// An operation for which the node, and some before it, stand.
    Written(Written),
}

/// [`Elements`] that know the operations of files, too.
pub trait WrittenElements: Elements {
    /// a · b.
    ///
    /// # Errors
    /// If there is no value; so for all methods.
    fn product(
        &mut self,
        a: &Self::Element,
        b: &Self::Element,
    ) -> Result<Self::Element, Self::Error>;

    /// a / b; 0 / 0 is 0 if it `keeps_zeros`.
    fn quotient(
        &mut self,
        a: &Self::Element,
        b: &Self::Element,
        keeps_zeros: bool,
    ) -> Result<Self::Element, Self::Error>;

    /// `a` where the condition is 1, `b` where it is 0.
    fn choice(
        &mut self,
        condition: &Self::Element,
        a: &Self::Element,
        b: &Self::Element,
    ) -> Result<Self::Element, Self::Error>;
}

impl NetworkBuilder {
    /// Says that a file has this operation, of nodes before it, for the value of a node.
    pub fn stands_for(&mut self, node: NodeId, written: Written) {
        self.written.insert(node, written);
    }

    /// Says that a file has for a node what it has for another one before it.
    pub(crate) fn same_in_file(&mut self, node: NodeId, other: NodeId) {
        if let Some(&written) = self.written.get(&other) {
            self.written.insert(node, written);
        }
    }
}

impl Network {
    /// What a library does, by node; none for nodes whose values it does not need.
    #[must_use]
    pub fn steps(&self) -> Vec<Option<Step<'_>>> {
        let mut steps: Vec<Option<Step<'_>>> = vec![None; self.nodes.len()];
        let mut needed = vec![false; self.nodes.len()];
        needed[self.output.0] = true;
        for (i, node) in self.nodes.iter().enumerate().rev().filter(|(i, _)| *i > 0) {
            if !needed[i] {
                continue;
            }
            let step = match self.written.binary_search_by_key(&NodeId(i), |(node, _)| *node) {
                Ok(place) => {
                    let written = self.written[place].1;
                    written.inputs().iter().for_each(|input| needed[input.0] = true);
                    Step::Written(written)
                }
                Err(_) => {
                    node.op.inputs().iter().for_each(|input| needed[input.0] = true);
                    Step::Op(&node.op)
                }
            };
            steps[i] = Some(step);
        }
        steps[0] = Some(Step::Op(&self.nodes[0].op));
        steps
    }

    /// The values of all nodes by what the file says, for a vector as input; empty for those that are not needed.
    ///
    /// # Errors
    /// The first one of an operation.
    pub fn fold_as_written<D: WrittenElements>(
        &self,
        domain: &mut D,
        input: Vec<D::Element>,
    ) -> Result<Vec<Vec<D::Element>>, D::Error> {
        let mut values: Vec<Vec<D::Element>> = Vec::with_capacity(self.nodes.len());
        values.push(input);
        for step in self.steps().into_iter().skip(1) {
            let of = |node: NodeId| &values[node.0];
            let value = match step {
                None => Vec::new(),
                Some(Step::Op(op)) => value_of(op, &values, domain)?,
                Some(Step::Written(Written::Product { a, b })) => {
                    let pairs = of(a).iter().zip(of(b));
                    pairs.map(|(a, b)| domain.product(a, b)).collect::<Result<_, _>>()?
                }
                Some(Step::Written(Written::Quotient { a, b, keeps_zeros })) => {
                    let pairs = of(a).iter().zip(of(b));
                    let quotient = |(a, b)| domain.quotient(a, b, keeps_zeros);
                    pairs.map(quotient).collect::<Result<_, _>>()?
                }
                Some(Step::Written(Written::Choice { condition, a, b })) => {
                    let triples = of(condition).iter().zip(of(a)).zip(of(b));
                    let choice = |((condition, a), b)| domain.choice(condition, a, b);
                    triples.map(choice).collect::<Result<_, _>>()?
                }
            };
            values.push(value);
        }
        Ok(values)
    }
}
