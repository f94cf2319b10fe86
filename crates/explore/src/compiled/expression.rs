//! Compiled expressions whose value is an integer or a truth value: `i64` throughout, without
//! allocation. Truth values are 0 and 1.

use policert_model::{BinaryOp, Expr, LinearExpr, UnaryOp};
use policert_numeric::IntBox;

use super::fraction::FractionExpr;
use super::term::{Term, fits_i64, terms_of};

/// An expression whose value is an integer wherever it has one.
#[derive(Clone, Debug)]
pub(crate) enum IntegerExpr {
    Constant(i64),
    Variable(usize),
    /// `Σ terms + constant`; no partial sum leaves `i64` inside the domains.
    Sum {
        terms: Box<[Term]>,
        constant: i64,
    },
    /// Such a sum compared with 0.
    Compare {
        op: BinaryOp,
        terms: Box<[Term]>,
        constant: i64,
    },
    /// Floor, ceiling, truncation or sign.
    Round(UnaryOp, Box<FractionExpr>),
    /// A comparison of fractions.
    CompareFractions(BinaryOp, Box<(FractionExpr, FractionExpr)>),
    /// The integer that a fraction is, where it is one.
    Exact(Box<FractionExpr>),
    Not(Box<IntegerExpr>),
    Abs(Box<IntegerExpr>),
    Binary(BinaryOp, Box<(IntegerExpr, IntegerExpr)>),
    /// Condition, value where it holds, value elsewhere.
    Ite(Box<[IntegerExpr; 3]>),
    /// Cells and index.
    Cell(Box<[IntegerExpr]>, Box<IntegerExpr>),
    /// Only the reference evaluates it.
    Reference,
}

impl IntegerExpr {
    /// Compiles an expression on points of `domains`; one that may be a fraction has a value
    /// where it is an integer.
    pub(crate) fn new(expr: &Expr, domains: &IntBox) -> Self {
        let new = |e: &Expr| Box::new(Self::new(e, domains));
        let fraction = |e: &Expr| FractionExpr::new(e, domains);
        if let Some(sum) = Self::linear(expr, domains) {
            return sum;
        }
        if !expr.is_integral() {
            return match fraction(expr) {
                FractionExpr::Reference => Self::Reference,
                fraction => Self::Exact(Box::new(fraction)),
            };
        }
        match expr {
            Expr::Unary(UnaryOp::Not, a) => Self::Not(Box::new(Self::truth_of(a, domains))),
            Expr::Unary(UnaryOp::Abs, a) => Self::Abs(new(a)),
            Expr::Unary(op, a) => Self::Round(*op, Box::new(fraction(a))),
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or | BinaryOp::Implies), a, b) => {
                let operands = (Self::truth_of(a, domains), Self::truth_of(b, domains));
                Self::Binary(*op, Box::new(operands))
            }
            Expr::Binary(op, a, b) if op.is_boolean() => {
                if a.is_integral() && b.is_integral() {
                    Self::Binary(*op, Box::new((Self::new(a, domains), Self::new(b, domains))))
                } else {
                    Self::CompareFractions(*op, Box::new((fraction(a), fraction(b))))
                }
            }
            Expr::Binary(op, a, b) => {
                Self::Binary(*op, Box::new((Self::new(a, domains), Self::new(b, domains))))
            }
            Expr::Ite(c, a, b) => Self::Ite(Box::new([
                Self::truth_of(c, domains),
                Self::new(a, domains),
                Self::new(b, domains),
            ])),
            Expr::Cell { cells, index } => {
                Self::Cell(cells.iter().map(|c| Self::new(c, domains)).collect(), new(index))
            }
            Expr::Constant(_) | Expr::Var(_) | Expr::Transient(_) => Self::Reference,
        }
    }

    /// The truth value of an expression: not 0 where it is true.
    pub(crate) fn truth_of(expr: &Expr, domains: &IntBox) -> Self {
        if expr.is_integral() {
            Self::new(expr, domains)
        } else {
            Self::Round(UnaryOp::Sign, Box::new(FractionExpr::new(expr, domains)))
        }
    }

    /// A linear expression, or a comparison of two.
    fn linear(expr: &Expr, domains: &IntBox) -> Option<Self> {
        let fitting = |expr: &Expr| {
            let linear = LinearExpr::from_expr(expr)?;
            fits_i64(&linear.terms, linear.constant, domains).then_some(linear)
        };
        match expr {
            Expr::Var(v) => Some(Self::Variable(v.index())),
            Expr::Binary(
                op @ (BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le),
                a,
                b,
            ) => {
                let difference =
                    fitting(&Expr::binary(BinaryOp::Sub, (**a).clone(), (**b).clone()))?;
                let (terms, constant) = (terms_of(&difference.terms), difference.constant);
                Some(Self::Compare { op: *op, terms, constant })
            }
            _ => {
                let linear = fitting(expr)?;
                Some(match linear.terms[..] {
                    [] => Self::Constant(linear.constant),
                    _ => Self::Sum { terms: terms_of(&linear.terms), constant: linear.constant },
                })
            }
        }
    }

    /// The value; `None` where it is not settled here: there may be none, or the numbers are too
    /// large.
    pub(crate) fn value(&self, point: &[i64]) -> Option<i64> {
        match self {
            Self::Constant(value) => Some(*value),
            Self::Variable(v) => point.get(*v).copied(),
            Self::Sum { terms, constant } => Some(Term::sum(terms, point) + constant),
            Self::Compare { op, terms, constant } => {
                compare(*op, Term::sum(terms, point) + constant, 0)
            }
            Self::Round(op, a) => a.value(point)?.rounded(*op),
            Self::CompareFractions(op, operands) => {
                let (a, b) = (operands.0.value(point)?, operands.1.value(point)?);
                a.compare(*op, b).map(i64::from)
            }
            Self::Exact(a) => a.value(point)?.to_integer(),
            Self::Not(a) => Some(i64::from(a.value(point)? == 0)),
            Self::Abs(a) => a.value(point)?.checked_abs(),
            Self::Binary(op, operands) => binary(*op, &operands.0, &operands.1, point),
            Self::Ite(parts) => {
                let [condition, then, otherwise] = &**parts;
                if condition.value(point)? != 0 {
                    then.value(point)
                } else {
                    otherwise.value(point)
                }
            }
            Self::Cell(cells, index) => {
                cells.get(usize::try_from(index.value(point)?).ok()?)?.value(point)
            }
            Self::Reference => None,
        }
    }
}

fn binary(op: BinaryOp, a: &IntegerExpr, b: &IntegerExpr, point: &[i64]) -> Option<i64> {
    // One operand may decide, also where the other one has no value.
    let decided = |left: Option<bool>, by: bool| match left {
        Some(left) if left == by => Some(i64::from(by)),
        left => match b.value(point).map(|b| b != 0) {
            Some(right) if right == by => Some(i64::from(by)),
            right => left.and(right).map(i64::from),
        },
    };
    match op {
        BinaryOp::And => return decided(a.value(point).map(|a| a != 0), false),
        BinaryOp::Or => return decided(a.value(point).map(|a| a != 0), true),
        BinaryOp::Implies => return decided(a.value(point).map(|a| a == 0), true),
        _ => {}
    }
    let (a, b) = (a.value(point)?, b.value(point)?);
    match op {
        BinaryOp::Add => a.checked_add(b),
        BinaryOp::Sub => a.checked_sub(b),
        BinaryOp::Mul => a.checked_mul(b),
        BinaryOp::Mod if a == 0 && b == 0 => Some(0),
        BinaryOp::Mod => a.checked_rem_euclid(b),
        BinaryOp::Min => Some(a.min(b)),
        BinaryOp::Max => Some(a.max(b)),
        _ => compare(op, a, b),
    }
}

fn compare(op: BinaryOp, a: i64, b: i64) -> Option<i64> {
    match op {
        BinaryOp::Eq => Some(i64::from(a == b)),
        BinaryOp::Ne => Some(i64::from(a != b)),
        BinaryOp::Lt => Some(i64::from(a < b)),
        BinaryOp::Le => Some(i64::from(a <= b)),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
