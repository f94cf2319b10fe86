//! Expressions that are written: which of them may be, and how large ones are put together.

use policert_model::{BinaryOp, Expr};
use policert_numeric::Rational;

use crate::error::{ConvertError, unsupported};

/// Checks whether an expression has a value everywhere, but for array cells that do not exist, so
/// that it does not matter how others evaluate it.
pub(crate) fn check_expression(expr: &Expr) -> Result<(), ConvertError> {
    use policert_model::BinaryOp::{Div, Mod, Pow};
    match expr {
        Expr::Constant(_) | Expr::Var(_) => Ok(()),
        Expr::Transient(_) => unsupported("transient variables in a composed operator"),
        Expr::Unary(_, operand) => check_expression(operand),
        Expr::Binary(op, left, right) => {
            let constant = right.as_constant();
            match op {
                Div if constant.is_none_or(policert_numeric::Rational::is_zero) => {
                    return unsupported("a division by something that is not constant");
                }
                Mod if constant.is_none_or(|c| c.signum() <= 0) => {
                    return unsupported("a remainder by something that is no positive constant");
                }
                Pow => return unsupported("powers"),
                _ => {}
            }
            check_expression(left)?;
            check_expression(right)
        }
        Expr::Ite(condition, then, otherwise) => {
            [condition, then, otherwise].into_iter().try_for_each(|e| check_expression(e))
        }
        Expr::Cell { cells, index } => {
            check_expression(index)?;
            cells.iter().try_for_each(check_expression)
        }
    }
}

/// A tree of logarithmic depth, for readers of limited depth.
pub(crate) fn balanced(op: BinaryOp, mut terms: Vec<Expr>) -> Option<Expr> {
    match terms.len() {
        0 | 1 => terms.pop(),
        n => {
            let right = terms.split_off(n.div_ceil(2));
            Some(Expr::binary(op, balanced(op, terms)?, balanced(op, right)?))
        }
    }
}

/// A rational constant.
pub(crate) fn constant(value: &Rational) -> Expr {
    Expr::Constant(value.clone())
}
