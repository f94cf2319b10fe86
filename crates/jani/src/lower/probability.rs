//! Probabilities that depend on the state. Rounded decimals may sum to a little more or less than 1;
//! such a distribution is scaled in the states where it does.

use policert_model::{BinaryOp, Expr, LinearExpr, Probability, UnaryOp};

use crate::check::rounding;

/// Denominators up to this one do not come from rounding.
const PLAIN: u64 = 1000;

/// The probabilities of the outcomes of an edge, scaled where their sum misses 1 by rounding;
/// `None` where that cannot be so: then they are right as they are.
pub(super) fn scaled(probabilities: &[Probability]) -> Option<Vec<Probability>> {
    let all: Vec<Expr> = probabilities.iter().map(Probability::to_expr).collect();
    if all.iter().all(has_plain_numbers) {
        return None;
    }
    let sum = sum(all.clone())?;
    if LinearExpr::from_expr(&sum).is_some_and(|sum| sum.terms.is_empty() && sum.constant == 1) {
        return None;
    }
    let off = Expr::binary(BinaryOp::Sub, sum.clone(), Expr::int(1));
    let size = Expr::unary(UnaryOp::Abs, off);
    let is_rounded = Expr::binary(BinaryOp::Le, size, Expr::Constant(rounding()));
    let scale = |p: Expr| {
        let share = Expr::binary(BinaryOp::Div, p.clone(), sum.clone());
        Probability::expr(Expr::ite(is_rounded.clone(), share, p))
    };
    Some(all.into_iter().map(scale).collect())
}

/// The sum as a tree of little depth.
fn sum(mut terms: Vec<Expr>) -> Option<Expr> {
    while terms.len() > 1 {
        let mut left = terms.into_iter();
        let mut joined = Vec::new();
        while let Some(a) = left.next() {
            joined.push(match left.next() {
                Some(b) => Expr::binary(BinaryOp::Add, a, b),
                None => a,
            });
        }
        terms = joined;
    }
    terms.pop()
}

/// Returns whether all numbers in an expression are integers and fractions of small denominators,
/// which nobody rounds.
fn has_plain_numbers(expr: &Expr) -> bool {
    let mut plain = true;
    expr.for_each_constant(&mut |number| {
        plain &= number.to_small_parts().is_some_and(|(_, denominator)| denominator <= PLAIN);
    });
    plain
}

#[cfg(test)]
mod tests {
    use policert_model::VarId;
    use policert_numeric::Rational;

    use super::*;

    fn by_x(then: Expr, otherwise: Expr) -> Probability {
        let is_one = Expr::binary(BinaryOp::Eq, Expr::Var(VarId(0)), Expr::int(1));
        Probability::expr(Expr::ite(is_one, then, otherwise))
    }

    fn decimal(text: &str) -> Expr {
        Expr::Constant(Rational::parse_decimal(text).expect("a decimal"))
    }

    #[test]
    fn rounded_decimals_sum_to_one_in_every_state() {
        let third = || by_x(decimal("0.3333333"), decimal("0.25"));
        let rest = by_x(decimal("0.3333333"), decimal("0.5"));
        let scaled = scaled(&[third(), third(), rest]).expect("rounded numbers");
        for x in [0, 1] {
            let values = scaled.iter().map(|p| match p {
                Probability::Expr(p) => p.eval(&[x]).expect("a value"),
                Probability::Constant(p) => p.clone(),
            });
            assert_eq!(values.sum::<Rational>(), Rational::ONE, "x = {x}");
        }
    }

    #[test]
    fn a_sum_that_is_far_from_one_stays_wrong() {
        let scaled = scaled(&[
            by_x(decimal("0.33333"), decimal("0.5")),
            by_x(decimal("0.5"), decimal("0.5")),
        ]);
        let values = scaled.expect("rounded numbers").into_iter().map(|p| match p {
            Probability::Expr(p) => p.eval(&[1]).expect("a value"),
            Probability::Constant(p) => p,
        });
        assert_ne!(values.sum::<Rational>(), Rational::ONE);
    }

    #[test]
    fn plain_fractions_are_left_alone() {
        let half = || by_x(decimal("0.25"), decimal("0.5"));
        assert_eq!(scaled(&[half(), by_x(decimal("0.75"), decimal("0.5"))]), None);
        let x = || Expr::binary(BinaryOp::Div, Expr::Var(VarId(0)), Expr::int(7_000_000));
        let rest = Expr::binary(BinaryOp::Sub, Expr::int(1), x());
        assert_eq!(scaled(&[Probability::expr(x()), Probability::expr(rest)]), None);
    }
}
