//! Truth values as conditions: Boolean operators become conjunctions and disjunctions at once,
//! however long they are, without an expression tree between.

use policert_model::Condition;

use super::{Trouble, expression::ExprLowerer, expression::chain};
use crate::ast::{BinaryOp, Expr, ExprKind, UnaryOp};

/// The condition that an expression is true.
pub(crate) fn condition(lowerer: &mut ExprLowerer<'_>, expr: &Expr) -> Result<Condition, Trouble> {
    literal(lowerer, expr, true)
}

/// The condition that an expression has the truth value `positive`.
fn literal(
    lowerer: &mut ExprLowerer<'_>,
    expr: &Expr,
    positive: bool,
) -> Result<Condition, Trouble> {
    match &expr.kind {
        ExprKind::Bool(value) => Ok(Condition::constant(*value == positive)),
        ExprKind::Unary(UnaryOp::Not, operand) => literal(lowerer, operand, !positive),
        ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), _) => {
            let parts = chain(expr).into_iter().map(|part| literal(lowerer, part, positive));
            let parts = parts.collect::<Result<Vec<_>, _>>()?;
            let all = (*op == BinaryOp::And) == positive;
            Ok(if all { Condition::and(parts) } else { Condition::or(parts) })
        }
        ExprKind::Binary(BinaryOp::Implies, operands) => {
            let [left, right] = &**operands;
            let parts = [literal(lowerer, left, !positive)?, literal(lowerer, right, positive)?];
            Ok(if positive { Condition::or(parts) } else { Condition::and(parts) })
        }
        _ => Ok(Condition::from_literal(&lowerer.scalar(expr)?.expr, positive)),
    }
}
