//! Taylor coefficients of expressions, in any kind of numbers.
//!
//! Along a solution of x′ = f(x, u), the coefficients of x up to order k give those of f up to k, which are those of x
//! at k + 1, times k + 1. Coefficient 0 is the value of an expression: difference equations, conditions and
//! controllers as formulas need no more.

use std::ops::RangeInclusive;

use policert_control_loop::{ExpressionFunction, ExpressionGraph, ExpressionId, ExpressionNode};
use policert_numeric::{Interval, Rational};

use super::arithmetic::Arithmetic;
use super::formulas::Formula;
use super::sets::LoopSide;

/// An operation on series; operands are positions before it, or the partner of a pair.
#[derive(Clone, Copy, Debug)]
enum Operation {
    Constant(usize),
    Variable(usize),
    Neg(usize),
    Add(usize, usize),
    Sub(usize, usize),
    Mul(usize, usize),
    Div(usize, usize),
    Exp(usize),
    Log(usize),
    Sqrt(usize),
    /// With the cosine at the next position.
    Sin(usize),
    /// With the sine at the position before.
    Cos(usize),
    /// With its slope by the argument, 1 − tanh², at the next position.
    Tanh(usize),
    SlopeOfTanh,
    Abs(usize),
    Min(usize, usize),
    Max(usize, usize),
    Choose {
        strict: bool,
        a: usize,
        b: usize,
        then: usize,
        otherwise: usize,
    },
}

/// Expressions ready to be evaluated.
pub(super) struct Program<A: Arithmetic> {
    arithmetic: A,
    constants: Vec<A::Number>,
    operations: Vec<Operation>,
    /// By operation: whether it is the same at all times, with variables that are.
    is_flat: Vec<bool>,
    roots: Vec<usize>,
}

impl<A: Arithmetic> Program<A> {
    /// Of some expressions; variables from `moving` on are the same at all times.
    pub fn new(
        arithmetic: A,
        graph: &ExpressionGraph,
        roots: &[ExpressionId],
        moving: usize,
    ) -> Self {
        let (graph, roots) = graph.needed_part(roots);
        let mut program = Self {
            arithmetic,
            constants: Vec::new(),
            operations: Vec::new(),
            is_flat: Vec::new(),
            roots: Vec::new(),
        };
        // By node of the graph: where its value is.
        let mut places: Vec<usize> = Vec::with_capacity(graph.nodes().len());
        for node in graph.nodes() {
            let at = |id: &ExpressionId| places[id.index()];
            let place = match node {
                ExpressionNode::Constant(value) => {
                    let number = program.arithmetic.constant(value);
                    program.constant(number)
                }
                ExpressionNode::Variable(i) => program.push(Operation::Variable(*i), *i >= moving),
                ExpressionNode::Neg(a) => program.over(Operation::Neg(at(a)), &[at(a)]),
                ExpressionNode::Add(a, b) => {
                    program.over(Operation::Add(at(a), at(b)), &[at(a), at(b)])
                }
                ExpressionNode::Sub(a, b) => {
                    program.over(Operation::Sub(at(a), at(b)), &[at(a), at(b)])
                }
                ExpressionNode::Mul(a, b) => program.product(at(a), at(b)),
                ExpressionNode::Div(a, b) => {
                    program.over(Operation::Div(at(a), at(b)), &[at(a), at(b)])
                }
                ExpressionNode::Power(a, exponent) => program.power(at(a), *exponent),
                ExpressionNode::Apply(function, a) => program.function(*function, at(a)),
                ExpressionNode::Min(a, b) => {
                    program.over(Operation::Min(at(a), at(b)), &[at(a), at(b)])
                }
                ExpressionNode::Max(a, b) => {
                    program.over(Operation::Max(at(a), at(b)), &[at(a), at(b)])
                }
                ExpressionNode::Choose { strict, a, b, then, otherwise } => {
                    let [a, b, then, otherwise] = [a, b, then, otherwise].map(at);
                    let choose = Operation::Choose { strict: *strict, a, b, then, otherwise };
                    program.over(choose, &[a, b, then, otherwise])
                }
            };
            places.push(place);
        }
        program.roots = roots.iter().map(|root| places[root.index()]).collect();
        program
    }

    fn push(&mut self, operation: Operation, is_flat: bool) -> usize {
        self.operations.push(operation);
        self.is_flat.push(is_flat);
        self.operations.len() - 1
    }

    fn over(&mut self, operation: Operation, operands: &[usize]) -> usize {
        let is_flat = operands.iter().all(|&at| self.is_flat[at]);
        self.push(operation, is_flat)
    }

    fn constant(&mut self, number: A::Number) -> usize {
        self.constants.push(number);
        self.push(Operation::Constant(self.constants.len() - 1), true)
    }

    fn product(&mut self, a: usize, b: usize) -> usize {
        self.over(Operation::Mul(a, b), &[a, b])
    }

    /// By squaring.
    fn power(&mut self, a: usize, exponent: i32) -> usize {
        let (mut rest, mut square, mut power) = (exponent.unsigned_abs(), a, None);
        while rest > 0 {
            if rest & 1 == 1 {
                power = Some(power.map_or(square, |power| self.product(power, square)));
            }
            rest >>= 1;
            if rest > 0 {
                square = self.product(square, square);
            }
        }
        let one = self.arithmetic.constant(&Rational::ONE);
        match power {
            Some(power) if exponent > 0 => power,
            Some(power) => {
                let one = self.constant(one);
                self.over(Operation::Div(one, power), &[power])
            }
            None => self.constant(one),
        }
    }

    fn function(&mut self, function: ExpressionFunction, a: usize) -> usize {
        let circle = |program: &mut Self| {
            let sin = program.over(Operation::Sin(a), &[a]);
            (sin, program.over(Operation::Cos(a), &[a]))
        };
        match function {
            ExpressionFunction::Sin => circle(self).0,
            ExpressionFunction::Cos => circle(self).1,
            ExpressionFunction::Tan => {
                let (sin, cos) = circle(self);
                self.over(Operation::Div(sin, cos), &[sin, cos])
            }
            ExpressionFunction::Exp => self.over(Operation::Exp(a), &[a]),
            ExpressionFunction::Log => self.over(Operation::Log(a), &[a]),
            ExpressionFunction::Sqrt => self.over(Operation::Sqrt(a), &[a]),
            ExpressionFunction::Tanh => {
                let tanh = self.over(Operation::Tanh(a), &[a]);
                self.over(Operation::SlopeOfTanh, &[a]);
                tanh
            }
            ExpressionFunction::Abs => self.over(Operation::Abs(a), &[a]),
        }
    }

    /// The values of the expressions; `None` if one has none somewhere.
    pub fn values(&self, variables: &[A::Number]) -> Option<Vec<A::Number>> {
        let mut series = Series { program: self, coefficients: Vec::new() };
        series.append(|i| variables.get(i))?;
        Some(series.of_roots(0))
    }

    /// The coefficients of a solution up to an order, by variable: the expressions are the derivatives of the first
    /// variables. `Some(None)` if a value or bound is missing somewhere, and `None` if `stops`, which is asked
    /// in between, says so.
    pub fn solution(
        &self,
        variables: &[A::Number],
        order: u32,
        stops: &mut impl FnMut() -> bool,
    ) -> Option<Option<Vec<Vec<A::Number>>>> {
        let mut solution: Vec<Vec<A::Number>> =
            variables.iter().map(|value| vec![value.clone()]).collect();
        let mut series = Series { program: self, coefficients: Vec::new() };
        for k in 0..order {
            if stops() {
                return None;
            }
            let at = k as usize;
            if series.append(|i| solution.get(i)?.get(at)).is_none() {
                return Some(None);
            }
            for (x, speed) in solution.iter_mut().zip(series.of_roots(at)) {
                x.push(self.arithmetic.part(&speed, k + 1));
            }
        }
        solution.truncate(self.roots.len());
        Some(Some(solution))
    }
}

/// Bounds of a formula where its variables have these values; `None` if it has none.
pub(super) fn value_of<A: Arithmetic>(
    arithmetic: A,
    formula: &Formula,
    variables: &[A::Number],
) -> Option<Interval> {
    let (graph, roots) = formula.expression();
    Program::new(arithmetic, graph, roots, 0).values(variables)?.first().map(LoopSide::outer)
}

/// The coefficients of all operations of a program.
struct Series<'p, A: Arithmetic> {
    program: &'p Program<A>,
    /// By order, then by operation; beyond order 0, nothing stands for 0.
    coefficients: Vec<Vec<Option<A::Number>>>,
}

impl<A: Arithmetic> Series<'_, A> {
    fn of_roots(&self, k: usize) -> Vec<A::Number> {
        let zero = || self.program.arithmetic.constant(&Rational::ZERO);
        let root = |&root: &usize| self.get(root, k).cloned().unwrap_or_else(zero);
        self.program.roots.iter().map(root).collect()
    }

    fn get(&self, operation: usize, k: usize) -> Option<&A::Number> {
        self.coefficients[k][operation].as_ref()
    }

    /// Computes the coefficients of the next order from those of the variables.
    fn append<'v>(&mut self, variable: impl Fn(usize) -> Option<&'v A::Number>) -> Option<()>
    where
        A::Number: 'v,
    {
        let k = self.coefficients.len();
        self.coefficients.push(Vec::with_capacity(self.program.operations.len()));
        for (at, operation) in self.program.operations.iter().enumerate() {
            let coefficient = match operation {
                Operation::Variable(i) if k == 0 || !self.program.is_flat[at] => {
                    Some(variable(*i)?.clone())
                }
                _ if k == 0 => Some(self.value(operation, at)?),
                _ if self.program.is_flat[at] => None,
                operation => self.coefficient(*operation, at, k)?,
            };
            if coefficient.as_ref().is_some_and(|number| !self.program.arithmetic.is_small(number))
            {
                return None;
            }
            self.coefficients[k].push(coefficient);
        }
        Some(())
    }

    /// Coefficient 0 of an operation that is no variable.
    fn value(&self, operation: &Operation, at: usize) -> Option<A::Number> {
        let arithmetic = &self.program.arithmetic;
        let of = |a: &usize| self.get(*a, 0);
        let apply = |function, a: &usize| arithmetic.apply(function, of(a)?);
        match operation {
            Operation::Constant(i) => self.program.constants.get(*i).cloned(),
            Operation::Variable(_) => None,
            Operation::Neg(a) => Some(arithmetic.neg(of(a)?)),
            Operation::Add(a, b) => Some(arithmetic.add(of(a)?, of(b)?)),
            Operation::Sub(a, b) => Some(arithmetic.sub(of(a)?, of(b)?)),
            Operation::Mul(a, b) => Some(arithmetic.mul(of(a)?, of(b)?)),
            Operation::Div(a, b) => arithmetic.div(of(a)?, of(b)?),
            Operation::Exp(a) => apply(ExpressionFunction::Exp, a),
            Operation::Log(a) => apply(ExpressionFunction::Log, a),
            Operation::Sqrt(a) => apply(ExpressionFunction::Sqrt, a),
            Operation::Sin(a) => apply(ExpressionFunction::Sin, a),
            Operation::Cos(a) => apply(ExpressionFunction::Cos, a),
            Operation::Tanh(a) => apply(ExpressionFunction::Tanh, a),
            Operation::SlopeOfTanh => {
                let tanh = of(&(at - 1))?;
                let one = arithmetic.constant(&Rational::ONE);
                Some(arithmetic.sub(&one, &arithmetic.mul(tanh, tanh)))
            }
            Operation::Abs(a) => apply(ExpressionFunction::Abs, a),
            Operation::Min(a, b) => Some(arithmetic.min(of(a)?, of(b)?)),
            Operation::Max(a, b) => Some(arithmetic.max(of(a)?, of(b)?)),
            Operation::Choose { strict, a, b, then, otherwise } => {
                let (then, otherwise) = (of(then)?, of(otherwise)?);
                match arithmetic.is_less(*strict, of(a)?, of(b)?) {
                    Some(true) => Some(then.clone()),
                    Some(false) => Some(otherwise.clone()),
                    None => arithmetic.hull(then, otherwise),
                }
            }
        }
    }

    /// Coefficient k ≥ 1 of an operation that is not flat; `Some(None)` is 0, and `None` means that it has none: at kinks
    /// and jumps.
    fn coefficient(&self, operation: Operation, at: usize, k: usize) -> Option<Option<A::Number>> {
        let arithmetic = &self.program.arithmetic;
        let of = |a: usize| self.get(a, k).cloned();
        let first = |a: usize| self.get(a, 0);
        Some(match operation {
            Operation::Constant(_) | Operation::Variable(_) => None,
            Operation::Neg(a) => of(a).map(|a| arithmetic.neg(&a)),
            Operation::Add(a, b) => self.plus(of(a), of(b)),
            Operation::Sub(a, b) => self.minus(of(a), of(b)),
            Operation::Mul(a, b) => self.convolution(a, b, 0..=k, k),
            Operation::Div(a, b) => {
                let rest = self.minus(of(a), self.convolution(b, at, 1..=k, k));
                self.over(rest, first(b)?)?
            }
            Operation::Exp(a) => self.chain(a, at, 1..=k, k),
            Operation::Log(a) => {
                let rest = self.minus(of(a), self.chain(at, a, 1..=k - 1, k));
                self.over(rest, first(a)?)?
            }
            Operation::Sqrt(a) => {
                let rest = self.minus(of(a), self.convolution(at, at, 1..=k - 1, k));
                let root = first(at)?;
                self.over(rest, &arithmetic.add(root, root))?
            }
            Operation::Sin(a) => self.chain(a, at + 1, 1..=k, k),
            Operation::Cos(a) => {
                self.chain(a, at - 1, 1..=k, k).map(|slope| arithmetic.neg(&slope))
            }
            Operation::Tanh(a) => self.chain(a, at + 1, 1..=k, k),
            Operation::SlopeOfTanh => {
                self.convolution(at - 1, at - 1, 0..=k, k).map(|square| arithmetic.neg(&square))
            }
            Operation::Abs(a) => {
                let zero = arithmetic.constant(&Rational::ZERO);
                match arithmetic.is_less(false, &zero, first(a)?)? {
                    true => of(a),
                    false => of(a).map(|a| arithmetic.neg(&a)),
                }
            }
            Operation::Min(a, b) => {
                of(if arithmetic.is_less(false, first(a)?, first(b)?)? { a } else { b })
            }
            Operation::Max(a, b) => {
                of(if arithmetic.is_less(false, first(a)?, first(b)?)? { b } else { a })
            }
            Operation::Choose { strict, a, b, then, otherwise } => {
                of(if arithmetic.is_less(strict, first(a)?, first(b)?)? { then } else { otherwise })
            }
        })
    }

    fn plus(&self, a: Option<A::Number>, b: Option<A::Number>) -> Option<A::Number> {
        match (a, b) {
            (Some(a), Some(b)) => Some(self.program.arithmetic.add(&a, &b)),
            (a, b) => a.or(b),
        }
    }

    fn minus(&self, a: Option<A::Number>, b: Option<A::Number>) -> Option<A::Number> {
        self.plus(a, b.map(|b| self.program.arithmetic.neg(&b)))
    }

    /// The quotient; `None` if there is none.
    fn over(&self, a: Option<A::Number>, b: &A::Number) -> Option<Option<A::Number>> {
        match a {
            Some(a) => Some(Some(self.program.arithmetic.div(&a, b)?)),
            None => Some(None),
        }
    }

    /// `Σ aⱼ · bₖ₋ⱼ` over some j.
    fn convolution(
        &self,
        a: usize,
        b: usize,
        over: RangeInclusive<usize>,
        k: usize,
    ) -> Option<A::Number> {
        self.products((a, b), over, k, |_, a, b| self.program.arithmetic.mul(a, b))
    }

    /// `Σ j/k · aⱼ · bₖ₋ⱼ` over some j.
    fn chain(
        &self,
        a: usize,
        b: usize,
        over: RangeInclusive<usize>,
        k: usize,
    ) -> Option<A::Number> {
        let arithmetic = &self.program.arithmetic;
        let sum = self.products((a, b), over, k, |j, a, b| {
            let factor = Rational::from(i64::try_from(j).unwrap_or(0));
            arithmetic.mul(&arithmetic.mul(&arithmetic.constant(&factor), a), b)
        });
        sum.map(|sum| arithmetic.part(&sum, u32::try_from(k).unwrap_or(u32::MAX)))
    }

    /// The sum over some j of a product of j, aⱼ and bₖ₋ⱼ, which is 0 where a factor is.
    fn products(
        &self,
        (a, b): (usize, usize),
        over: RangeInclusive<usize>,
        k: usize,
        product: impl Fn(usize, &A::Number, &A::Number) -> A::Number,
    ) -> Option<A::Number> {
        over.fold(None, |sum, j| {
            let factors = self.get(a, j).zip(self.get(b, k - j));
            self.plus(sum, factors.map(|(a, b)| product(j, a, b)))
        })
    }
}

#[cfg(test)]
mod tests;
