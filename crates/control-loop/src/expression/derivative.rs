//! Partial derivatives, as expressions.
//!
//! At kinks of abs, min and max the derivative of either side is taken, and where a range meets a
//! kink, both: the mean-value theorem holds for such sets of slopes.

use policert_numeric::Rational;

use super::{ExpressionFunction, ExpressionGraph, ExpressionId, ExpressionNode};

impl ExpressionGraph {
    /// The partial derivative by a variable; `None` if the expression may jump (a conditional), so
    /// that slopes say nothing about it.
    pub fn derivative(&mut self, root: ExpressionId, variable: usize) -> Option<ExpressionId> {
        let count = root.index() + 1;
        let needed = self.needed(&[root]);
        let zero = self.constant(Rational::ZERO);
        let mut slopes: Vec<ExpressionId> = Vec::with_capacity(count);
        for (i, &needed) in needed.iter().enumerate().take(count) {
            let slope = if needed { self.slope(i, variable, &slopes)? } else { zero };
            slopes.push(slope);
        }
        slopes.last().copied()
    }

    /// The derivative of node `i`, given those of the nodes before it.
    fn slope(
        &mut self,
        i: usize,
        variable: usize,
        slopes: &[ExpressionId],
    ) -> Option<ExpressionId> {
        let id = ExpressionId(u32::try_from(i).ok()?);
        let d = |a: ExpressionId| slopes[a.index()];
        Some(match self.nodes[i].clone() {
            ExpressionNode::Constant(_) => self.constant(Rational::ZERO),
            ExpressionNode::Variable(position) => {
                self.constant(Rational::from(i64::from(position == variable)))
            }
            ExpressionNode::Neg(a) => self.neg(d(a)),
            ExpressionNode::Add(a, b) => self.add(d(a), d(b)),
            ExpressionNode::Sub(a, b) => self.sub(d(a), d(b)),
            ExpressionNode::Mul(a, b) => {
                let (left, right) = (self.mul(d(a), b), self.mul(a, d(b)));
                self.add(left, right)
            }
            ExpressionNode::Div(a, b) => {
                // (a′ − (a/b)·b′) / b
                let inner = self.mul(id, d(b));
                let difference = self.sub(d(a), inner);
                if self.is(difference, &Rational::ZERO) {
                    difference
                } else {
                    self.div(difference, b)
                }
            }
            ExpressionNode::Power(a, exponent) => {
                let power = self.power(a, exponent.checked_sub(1)?);
                let factor = self.constant(Rational::from(exponent));
                let outer = self.mul(factor, power);
                self.mul(outer, d(a))
            }
            ExpressionNode::Apply(function, a) => {
                let outer = self.outer_slope(function, a, id);
                self.mul(outer, d(a))
            }
            ExpressionNode::Min(a, b) => self.choose(false, [a, b], d(a), d(b)),
            ExpressionNode::Max(a, b) => self.choose(false, [b, a], d(a), d(b)),
            ExpressionNode::Choose { a, b, then, otherwise, .. } => {
                let zero = self.constant(Rational::ZERO);
                let constant = [a, b, then, otherwise].iter().all(|&part| d(part) == zero);
                if !constant {
                    return None;
                }
                zero
            }
        })
    }

    /// The derivative of a function at a; `value` is its value there.
    fn outer_slope(
        &mut self,
        function: ExpressionFunction,
        a: ExpressionId,
        value: ExpressionId,
    ) -> ExpressionId {
        let one = self.constant(Rational::ONE);
        match function {
            ExpressionFunction::Sin => self.apply(ExpressionFunction::Cos, a),
            ExpressionFunction::Cos => {
                let sin = self.apply(ExpressionFunction::Sin, a);
                self.neg(sin)
            }
            ExpressionFunction::Tan => {
                let square = self.power(value, 2);
                self.add(one, square)
            }
            ExpressionFunction::Exp => value,
            ExpressionFunction::Log => self.div(one, a),
            ExpressionFunction::Sqrt => {
                let double = self.add(value, value);
                self.div(one, double)
            }
            ExpressionFunction::Tanh => {
                let square = self.power(value, 2);
                self.sub(one, square)
            }
            ExpressionFunction::Abs => {
                let zero = self.constant(Rational::ZERO);
                let minus_one = self.constant(Rational::integer(-1));
                self.choose(false, [zero, a], one, minus_one)
            }
        }
    }
}
