//! Numbers of states, such as potentials, for rewards.

use policert_model::Expr;
use policert_numeric::IntBox;

use crate::compiled::FractionExpr;

/// A number or truth value over states, compiled.
#[derive(Clone, Debug)]
pub struct StateNumber {
    compiled: FractionExpr,
    expr: Expr,
}

impl StateNumber {
    /// Compiles an expression on states in `domains`.
    #[must_use]
    pub fn new(expr: &Expr, domains: &IntBox) -> Self {
        Self { compiled: FractionExpr::new(expr, domains), expr: expr.clone() }
    }

    /// Its value in a state, rounded; `None` where it has none.
    #[must_use]
    pub fn value(&self, state: &[i64]) -> Option<f64> {
        match self.compiled.value(state) {
            Some(fraction) => Some(fraction.to_f64()),
            None => self.expr.eval(state).ok().map(|value| value.to_f64()),
        }
    }
}
