//! Divisions by something that is not constant: where the divisor can be 0, the expression may have
//! no value.

use policert_model::{AssignedValue, BinaryOp, Condition, Edge, Expr, Model, Probability, Target};

/// Number of divisions and moduli by something that is not constant, in the edges of a model.
#[must_use]
pub fn divisions_by_variables(model: &Model) -> usize {
    model.instances.iter().flat_map(|instance| &instance.edges).map(in_edge).sum()
}

fn in_edge(edge: &Edge) -> usize {
    let mut count = in_condition(&edge.guard);
    for destination in &edge.destinations {
        if let Probability::Expr(probability) = &destination.probability {
            count += in_expr(probability);
        }
        for assignment in &destination.assignments {
            count += match &assignment.target {
                Target::Var(_) | Target::Transient(_) => 0,
                Target::Cell { index, .. } | Target::TransientCell { index, .. } => in_expr(index),
            };
            count += match &assignment.value {
                AssignedValue::Expr(value) => in_expr(value),
                AssignedValue::Between(bounds) => bounds.iter().map(in_expr).sum(),
            };
        }
    }
    count
}

fn in_condition(condition: &Condition) -> usize {
    match condition {
        // Linear constraints divide by constants only.
        Condition::True | Condition::False | Condition::Linear(_) => 0,
        Condition::General { expr, .. } => in_expr(expr),
        Condition::And(parts) | Condition::Or(parts) => parts.iter().map(in_condition).sum(),
    }
}

fn in_expr(expr: &Expr) -> usize {
    match expr {
        Expr::Constant(_) | Expr::Var(_) | Expr::Transient(_) => 0,
        Expr::Unary(_, a) => in_expr(a),
        Expr::Binary(op, a, b) => {
            let divides = matches!(op, BinaryOp::Div | BinaryOp::Mod);
            usize::from(divides && b.as_constant().is_none()) + in_expr(a) + in_expr(b)
        }
        Expr::Ite(c, a, b) => in_expr(c) + in_expr(a) + in_expr(b),
        Expr::Cell { cells, index } => cells.iter().map(in_expr).sum::<usize>() + in_expr(index),
    }
}

#[cfg(test)]
mod tests {
    use policert_model::VarId;

    use super::*;

    #[test]
    fn constant_divisors_do_not_count() {
        let x = || Expr::Var(VarId(0));
        let half = Expr::binary(BinaryOp::Div, x(), Expr::int(2));
        assert_eq!(in_expr(&half), 0);
        let ratio = Expr::binary(BinaryOp::Div, half, x());
        let rest = Expr::binary(BinaryOp::Mod, Expr::int(7), Expr::Var(VarId(1)));
        assert_eq!(in_expr(&Expr::binary(BinaryOp::Add, ratio, rest)), 2);
    }
}
