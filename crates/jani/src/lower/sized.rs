//! Lowered expressions that know their size, so that inlining cannot get out of hand.

use policert_model::{BinaryOp, Expr, UnaryOp};
use policert_numeric::Rational;

/// A number or truth value as an expression over the model's variables.
#[derive(Clone, Debug)]
pub(crate) struct Scalar {
    pub expr: Expr,
    /// At least the depth of the tree.
    pub depth: u32,
    /// At least the number of nodes.
    pub size: u64,
}

impl Scalar {
    /// A constant or variable.
    pub fn leaf(expr: Expr) -> Self {
        Self { expr, depth: 1, size: 1 }
    }

    pub fn constant(value: Rational) -> Self {
        Self::leaf(Expr::Constant(value))
    }

    pub fn bool(value: bool) -> Self {
        Self::leaf(Expr::bool(value))
    }

    fn over<const N: usize>(operands: [(u32, u64); N], expr: Expr) -> Self {
        let depth = operands.iter().map(|(depth, _)| depth).max().unwrap_or(&0).saturating_add(1);
        let size = operands.iter().fold(1u64, |sum, (_, size)| sum.saturating_add(*size));
        match expr {
            Expr::Constant(_) => Self::leaf(expr),
            expr => Self { expr, depth, size },
        }
    }

    fn measure(&self) -> (u32, u64) {
        (self.depth, self.size)
    }

    pub fn unary(op: UnaryOp, operand: Self) -> Self {
        Self::over([operand.measure()], Expr::unary(op, operand.expr))
    }

    pub fn binary(op: BinaryOp, left: Self, right: Self) -> Self {
        Self::over([left.measure(), right.measure()], Expr::binary(op, left.expr, right.expr))
    }

    pub fn ite(condition: Self, then: Self, otherwise: Self) -> Self {
        let measures = [condition.measure(), then.measure(), otherwise.measure()];
        Self::over(measures, Expr::ite(condition.expr, then.expr, otherwise.expr))
    }

    /// One of some cells, by an index.
    pub fn cell(cells: Vec<Self>, index: Self) -> Self {
        let depth = cells.iter().map(|c| c.depth).max().unwrap_or(0);
        let size = cells.iter().fold(0u64, |sum, c| sum.saturating_add(c.size));
        let cells = cells.into_iter().map(|c| c.expr).collect();
        Self::over([(depth, size), index.measure()], Expr::cell(cells, index.expr))
    }

    /// The operands joined by an associative operator, as a tree of little depth.
    pub fn balanced(op: BinaryOp, mut operands: Vec<Self>) -> Option<Self> {
        while operands.len() > 1 {
            let mut pairs = operands.into_iter();
            let mut joined = Vec::with_capacity(pairs.len().div_ceil(2));
            while let Some(left) = pairs.next() {
                joined.push(match pairs.next() {
                    Some(right) => Self::binary(op, left, right),
                    None => left,
                });
            }
            operands = joined;
        }
        operands.pop()
    }
}

/// Says what an expression becomes.
#[derive(Clone, Debug)]
pub(crate) enum Lowered {
    Scalar(Scalar),
    Array(Vec<Lowered>),
}

impl Lowered {
    /// Number of nodes of all expressions in it.
    pub fn size(&self) -> u64 {
        match self {
            Self::Scalar(scalar) => scalar.size,
            Self::Array(elements) => elements.iter().fold(1, |sum, e| sum.saturating_add(e.size())),
        }
    }

    /// All numbers in it, row by row.
    pub fn flatten(self, into: &mut Vec<Scalar>) {
        match self {
            Self::Scalar(scalar) => into.push(scalar),
            Self::Array(elements) => elements.into_iter().for_each(|e| e.flatten(into)),
        }
    }
}
