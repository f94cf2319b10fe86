//! Real-valued expressions: a graph without repetitions, in which equal parts are one node.
//!
//! The text form is read by `expression/parse.rs`; partial derivatives are expressions again
//! (`expression/derivative.rs`); evaluation over ranges runs a [`Tape`].

mod derivative;
mod parse;
mod polynomial;
mod tape;

#[cfg(test)]
mod tests;

use policert_numeric::Rational;
use rustc_hash::FxHashMap;

pub use parse::Comparisons;
pub use parse::ExpressionError;
pub use tape::Tape;

/// A node of an [`ExpressionGraph`] graph.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ExpressionId(u32);

impl ExpressionId {
    /// The position of the node in the graph; operands come before it.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A function of one number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ExpressionFunction {
    /// The sine.
    Sin,
    /// The cosine.
    Cos,
    /// The tangent.
    Tan,
    /// e^x.
    Exp,
    /// The natural logarithm.
    Log,
    /// The square root.
    Sqrt,
    /// The hyperbolic tangent.
    Tanh,
    /// The absolute value.
    Abs,
}

impl ExpressionFunction {
    /// About its value at a number.
    fn approximate(self, x: f64) -> f64 {
        match self {
            Self::Sin => x.sin(),
            Self::Cos => x.cos(),
            Self::Tan => x.tan(),
            Self::Exp => x.exp(),
            Self::Log => x.ln(),
            Self::Sqrt => x.sqrt(),
            Self::Tanh => x.tanh(),
            Self::Abs => x.abs(),
        }
    }
}

/// An operation; operands are nodes before it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum ExpressionNode {
    /// An exact number.
    Constant(Rational),
    /// A variable, by its position.
    Variable(usize),
    /// −a.
    Neg(ExpressionId),
    /// a + b.
    Add(ExpressionId, ExpressionId),
    /// a − b.
    Sub(ExpressionId, ExpressionId),
    /// a · b.
    Mul(ExpressionId, ExpressionId),
    /// a / b.
    Div(ExpressionId, ExpressionId),
    /// a to an integer power other than 0 and 1.
    Power(ExpressionId, i32),
    /// A function of a.
    Apply(ExpressionFunction, ExpressionId),
    /// The smaller of two numbers.
    Min(ExpressionId, ExpressionId),
    /// The larger of two numbers.
    Max(ExpressionId, ExpressionId),
    /// `then` where a ≤ b, or a < b if `strict`; `otherwise` elsewhere.
    Choose {
        /// True if equality counts as not less.
        strict: bool,
        /// The left side.
        a: ExpressionId,
        /// The right side.
        b: ExpressionId,
        /// The value where it holds.
        then: ExpressionId,
        /// The value elsewhere.
        otherwise: ExpressionId,
    },
}

/// A graph of expressions over numbered variables.
#[derive(Clone, Debug, Default)]
pub struct ExpressionGraph {
    nodes: Vec<ExpressionNode>,
    /// By node: whether it has a value for all values of the variables.
    total: Vec<bool>,
    known: FxHashMap<ExpressionNode, ExpressionId>,
}

impl ExpressionGraph {
    /// A graph without nodes.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The operation of a node.
    #[must_use]
    pub fn node(&self, id: ExpressionId) -> &ExpressionNode {
        &self.nodes[id.index()]
    }

    /// The value of a node that is a constant.
    #[must_use]
    pub fn constant_value(&self, id: ExpressionId) -> Option<&Rational> {
        match self.node(id) {
            ExpressionNode::Constant(value) => Some(value),
            _ => None,
        }
    }

    fn intern(&mut self, node: ExpressionNode) -> ExpressionId {
        if let Some(&id) = self.known.get(&node) {
            return id;
        }
        let partial = match &node {
            ExpressionNode::Div(_, b) => self.constant_value(*b).is_none_or(Rational::is_zero),
            ExpressionNode::Power(_, exponent) => *exponent < 0,
            ExpressionNode::Apply(function, _) => {
                matches!(
                    function,
                    ExpressionFunction::Tan | ExpressionFunction::Log | ExpressionFunction::Sqrt
                )
            }
            _ => false,
        };
        let total = !partial && operands(&node).iter().all(|a| self.total[a.index()]);
        let id = ExpressionId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(node.clone());
        self.total.push(total);
        self.known.insert(node, id);
        id
    }

    /// An exact number.
    pub fn constant(&mut self, value: Rational) -> ExpressionId {
        self.intern(ExpressionNode::Constant(value))
    }

    /// A variable.
    pub fn variable(&mut self, position: usize) -> ExpressionId {
        self.intern(ExpressionNode::Variable(position))
    }

    fn is(&self, id: ExpressionId, value: &Rational) -> bool {
        self.constant_value(id) == Some(value)
    }

    /// −a.
    pub fn neg(&mut self, a: ExpressionId) -> ExpressionId {
        match self.node(a) {
            ExpressionNode::Constant(value) => {
                let value = -value;
                self.constant(value)
            }
            ExpressionNode::Neg(inner) => *inner,
            _ => self.intern(ExpressionNode::Neg(a)),
        }
    }

    /// a + b.
    pub fn add(&mut self, a: ExpressionId, b: ExpressionId) -> ExpressionId {
        if let (Some(x), Some(y)) = (self.constant_value(a), self.constant_value(b)) {
            let sum = x + y;
            return self.constant(sum);
        }
        if self.is(a, &Rational::ZERO) {
            return b;
        }
        if self.is(b, &Rational::ZERO) {
            return a;
        }
        if let ExpressionNode::Neg(inner) = *self.node(b) {
            return self.sub(a, inner);
        }
        self.intern(ExpressionNode::Add(a, b))
    }

    /// a − b.
    pub fn sub(&mut self, a: ExpressionId, b: ExpressionId) -> ExpressionId {
        if let (Some(x), Some(y)) = (self.constant_value(a), self.constant_value(b)) {
            let difference = x - y;
            return self.constant(difference);
        }
        if self.is(a, &Rational::ZERO) {
            return self.neg(b);
        }
        if self.is(b, &Rational::ZERO) {
            return a;
        }
        if let ExpressionNode::Neg(inner) = *self.node(b) {
            return self.add(a, inner);
        }
        self.intern(ExpressionNode::Sub(a, b))
    }

    /// a · b; a power where both have one base.
    pub fn mul(&mut self, a: ExpressionId, b: ExpressionId) -> ExpressionId {
        if let (Some(x), Some(y)) = (self.constant_value(a), self.constant_value(b)) {
            let product = x * y;
            return self.constant(product);
        }
        for (one, other) in [(a, b), (b, a)] {
            if self.is(one, &Rational::ONE) {
                return other;
            }
            if self.is(one, &Rational::integer(-1)) {
                return self.neg(other);
            }
            if self.is(one, &Rational::ZERO) && self.total[other.index()] {
                return one;
            }
        }
        let ((base, p), (other, q)) = (self.base(a), self.base(b));
        if base == other
            && p > 0
            && q > 0
            && let Some(exponent) = p.checked_add(q)
        {
            return self.intern(ExpressionNode::Power(base, exponent));
        }
        self.intern(ExpressionNode::Mul(a, b))
    }

    fn base(&self, a: ExpressionId) -> (ExpressionId, i32) {
        match *self.node(a) {
            ExpressionNode::Power(base, exponent) => (base, exponent),
            _ => (a, 1),
        }
    }

    /// a / b; the product with the inverse of a constant.
    pub fn div(&mut self, a: ExpressionId, b: ExpressionId) -> ExpressionId {
        if let Some(divisor) = self.constant_value(b)
            && let Some(inverse) = divisor.recip()
        {
            if let Some(x) = self.constant_value(a) {
                let quotient = x * &inverse;
                return self.constant(quotient);
            }
            let factor = self.constant(inverse);
            return self.mul(a, factor);
        }
        self.intern(ExpressionNode::Div(a, b))
    }

    /// a to an integer power.
    pub fn power(&mut self, a: ExpressionId, exponent: i32) -> ExpressionId {
        match exponent {
            0 if self.total[a.index()] => return self.constant(Rational::ONE),
            1 => return a,
            _ => {}
        }
        if let Some(power) = self.constant_value(a).and_then(|x| x.pow(exponent)) {
            return self.constant(power);
        }
        self.intern(ExpressionNode::Power(a, exponent))
    }

    /// A function of a.
    pub fn apply(&mut self, function: ExpressionFunction, a: ExpressionId) -> ExpressionId {
        if function == ExpressionFunction::Abs
            && let Some(value) = self.constant_value(a)
        {
            let value = value.abs();
            return self.constant(value);
        }
        self.intern(ExpressionNode::Apply(function, a))
    }

    /// The smaller of two numbers.
    pub fn min(&mut self, a: ExpressionId, b: ExpressionId) -> ExpressionId {
        if a == b { a } else { self.intern(ExpressionNode::Min(a, b)) }
    }

    /// The larger of two numbers.
    pub fn max(&mut self, a: ExpressionId, b: ExpressionId) -> ExpressionId {
        if a == b { a } else { self.intern(ExpressionNode::Max(a, b)) }
    }

    /// `then` where a ≤ b (a < b if `strict`), `otherwise` elsewhere.
    pub fn choose(
        &mut self,
        strict: bool,
        [a, b]: [ExpressionId; 2],
        then: ExpressionId,
        otherwise: ExpressionId,
    ) -> ExpressionId {
        // Where a side of the comparison has no value, neither has the choice.
        if then == otherwise && self.total[a.index()] && self.total[b.index()] {
            return then;
        }
        self.intern(ExpressionNode::Choose { strict, a, b, then, otherwise })
    }

    /// Takes expressions over from another graph, with each variable replaced by a node.
    pub fn import(
        &mut self,
        other: &ExpressionGraph,
        roots: &[ExpressionId],
        variables: &[ExpressionId],
    ) -> Vec<ExpressionId> {
        let mut own: Vec<ExpressionId> = Vec::with_capacity(other.nodes.len());
        for node in &other.nodes {
            let at = |a: ExpressionId| own[a.index()];
            let id = match *node {
                ExpressionNode::Constant(ref value) => self.constant(value.clone()),
                ExpressionNode::Variable(position) => match variables.get(position) {
                    Some(&replaced) => replaced,
                    None => self.variable(position),
                },
                ExpressionNode::Neg(a) => self.neg(at(a)),
                ExpressionNode::Add(a, b) => self.add(at(a), at(b)),
                ExpressionNode::Sub(a, b) => self.sub(at(a), at(b)),
                ExpressionNode::Mul(a, b) => self.mul(at(a), at(b)),
                ExpressionNode::Div(a, b) => self.div(at(a), at(b)),
                ExpressionNode::Power(a, exponent) => self.power(at(a), exponent),
                ExpressionNode::Apply(function, a) => self.apply(function, at(a)),
                ExpressionNode::Min(a, b) => self.min(at(a), at(b)),
                ExpressionNode::Max(a, b) => self.max(at(a), at(b)),
                ExpressionNode::Choose { strict, a, b, then, otherwise } => {
                    self.choose(strict, [at(a), at(b)], at(then), at(otherwise))
                }
            };
            own.push(id);
        }
        roots.iter().map(|root| own[root.index()]).collect()
    }

    /// A graph of the nodes that some expressions need, and these expressions in it. Nodes stay as they are.
    pub fn needed_part(&self, roots: &[ExpressionId]) -> (Self, Vec<ExpressionId>) {
        let needed = self.needed(roots);
        let mut part = Self::new();
        let mut own = vec![ExpressionId(0); self.nodes.len()];
        for (i, node) in self.nodes.iter().enumerate().filter(|(i, _)| needed[*i]) {
            let at = |a: ExpressionId| own[a.index()];
            own[i] = part.intern(match node.clone() {
                node @ (ExpressionNode::Constant(_) | ExpressionNode::Variable(_)) => node,
                ExpressionNode::Neg(a) => ExpressionNode::Neg(at(a)),
                ExpressionNode::Add(a, b) => ExpressionNode::Add(at(a), at(b)),
                ExpressionNode::Sub(a, b) => ExpressionNode::Sub(at(a), at(b)),
                ExpressionNode::Mul(a, b) => ExpressionNode::Mul(at(a), at(b)),
                ExpressionNode::Div(a, b) => ExpressionNode::Div(at(a), at(b)),
                ExpressionNode::Power(a, exponent) => ExpressionNode::Power(at(a), exponent),
                ExpressionNode::Apply(function, a) => ExpressionNode::Apply(function, at(a)),
                ExpressionNode::Min(a, b) => ExpressionNode::Min(at(a), at(b)),
                ExpressionNode::Max(a, b) => ExpressionNode::Max(at(a), at(b)),
                ExpressionNode::Choose { strict, a, b, then, otherwise } => {
                    let (a, b, then, otherwise) = (at(a), at(b), at(then), at(otherwise));
                    ExpressionNode::Choose { strict, a, b, then, otherwise }
                }
            });
        }
        (part, roots.iter().map(|root| own[root.index()]).collect())
    }

    /// All nodes, each after its operands.
    pub fn nodes(&self) -> &[ExpressionNode] {
        &self.nodes
    }

    /// Returns how often a variable is read when the expression is written out as text (equal parts
    /// count each time), up to a bound.
    #[must_use]
    pub fn occurrences(&self, root: ExpressionId, variable: usize) -> u32 {
        let mut counts: Vec<u32> = Vec::with_capacity(root.index() + 1);
        for node in &self.nodes[..=root.index()] {
            counts.push(match node {
                ExpressionNode::Variable(position) => u32::from(*position == variable),
                other => operands(other)
                    .iter()
                    .fold(0u32, |sum, a| sum.saturating_add(counts[a.index()])),
            });
        }
        counts[root.index()]
    }

    /// Returns whether only operations of exact rational arithmetic occur.
    #[must_use]
    pub fn is_rational(&self, root: ExpressionId) -> bool {
        self.reachable(root).all(|node| match node {
            ExpressionNode::Apply(function, _) => *function == ExpressionFunction::Abs,
            _ => true,
        })
    }

    /// Returns whether the expression is differentiable as often as one likes wherever it has a
    /// value.
    #[must_use]
    pub fn is_smooth(&self, root: ExpressionId) -> bool {
        self.reachable(root).all(|node| {
            !matches!(
                node,
                ExpressionNode::Min(..)
                    | ExpressionNode::Max(..)
                    | ExpressionNode::Choose { .. }
                    | ExpressionNode::Apply(ExpressionFunction::Abs | ExpressionFunction::Sqrt, _)
            )
        })
    }

    /// The nodes that a node needs, itself included.
    fn reachable(&self, root: ExpressionId) -> impl Iterator<Item = &ExpressionNode> {
        let needed = self.needed(&[root]);
        self.nodes.iter().zip(needed).filter_map(|(node, needed)| needed.then_some(node))
    }

    /// Returns which nodes are needed for some others.
    fn needed(&self, roots: &[ExpressionId]) -> Vec<bool> {
        let mut needed = vec![false; self.nodes.len()];
        for root in roots {
            needed[root.index()] = true;
        }
        for i in (0..self.nodes.len()).rev() {
            if needed[i] {
                for a in operands(&self.nodes[i]) {
                    needed[a.index()] = true;
                }
            }
        }
        needed
    }
}

/// The operands of a node.
fn operands(node: &ExpressionNode) -> Vec<ExpressionId> {
    match *node {
        ExpressionNode::Constant(_) | ExpressionNode::Variable(_) => Vec::new(),
        ExpressionNode::Neg(a) | ExpressionNode::Power(a, _) | ExpressionNode::Apply(_, a) => {
            vec![a]
        }
        ExpressionNode::Add(a, b)
        | ExpressionNode::Sub(a, b)
        | ExpressionNode::Mul(a, b)
        | ExpressionNode::Div(a, b)
        | ExpressionNode::Min(a, b)
        | ExpressionNode::Max(a, b) => vec![a, b],
        ExpressionNode::Choose { a, b, then, otherwise, .. } => vec![a, b, then, otherwise],
    }
}
