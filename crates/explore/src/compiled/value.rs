//! Compiled values: constants, offsets, linear sums, and anything else as an expression.

use policert_model::{Expr, LinearExpr, UpdateValue};
use policert_numeric::{IntBox, IntInterval};

use super::expression::IntegerExpr;
use super::term::{Term, fits_i64, terms_of};

/// A value in the form in which it is evaluated.
#[derive(Clone, Debug)]
pub(crate) enum CompiledValue {
    Constant(i64),
    /// `variable + add`, inside `i64`.
    Offset {
        variable: usize,
        add: i64,
    },
    /// `Σ terms + constant`; no partial sum leaves `i64` inside the domains.
    Sum {
        terms: Box<[Term]>,
        constant: i64,
    },
    /// The same, where a sum may leave `i64`.
    Wide(LinearExpr),
    /// An expression, whose value `compiled` mostly has.
    General {
        compiled: IntegerExpr,
        expr: Expr,
    },
}

impl CompiledValue {
    /// Compiles the value of an update at points of `domains`.
    pub(crate) fn new(value: &UpdateValue, domains: &IntBox) -> Self {
        match value {
            UpdateValue::Linear(linear) => Self::linear(linear, domains),
            UpdateValue::General(expr) => {
                Self::General { compiled: IntegerExpr::new(expr, domains), expr: expr.clone() }
            }
        }
    }

    /// Compiles a linear value at points of `domains`.
    pub(crate) fn linear(linear: &LinearExpr, domains: &IntBox) -> Self {
        match linear.terms[..] {
            [] => Self::Constant(linear.constant),
            _ if !fits_i64(&linear.terms, linear.constant, domains) => Self::Wide(linear.clone()),
            [(variable, 1)] => Self::Offset { variable: variable.index(), add: linear.constant },
            _ => Self::Sum { terms: terms_of(&linear.terms), constant: linear.constant },
        }
    }

    /// The value, if it is an integer inside `i64`; `None` also where it has none.
    #[inline]
    pub(crate) fn value(&self, point: &[i64]) -> Option<i64> {
        match self {
            Self::Constant(value) => Some(*value),
            Self::Offset { variable, add } => Some(point[*variable] + add),
            Self::Sum { terms, constant } => Some(Term::sum(terms, point) + constant),
            Self::Wide(linear) => linear.eval(point),
            Self::General { compiled, expr } => match compiled.value(point) {
                Some(value) => Some(value),
                None => expr.eval(point).ok()?.to_i64(),
            },
        }
    }

    /// A superset of the values at points of `domains`.
    pub(crate) fn range(linear: &LinearExpr, domains: &IntBox) -> IntInterval {
        let (lo, hi) = linear.range(domains);
        let end = |end: Option<i128>| end.and_then(|v| i64::try_from(v).ok());
        match (end(lo), end(hi)) {
            (Some(lo), Some(hi)) => IntInterval::new(lo, hi),
            _ => IntInterval::ALL,
        }
    }
}
