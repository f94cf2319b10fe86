//! Compiled values: constants, offsets, linear sums, and anything else as an expression.

use policert_model::{Expr, LinearExpr, UpdateValue, VarId};
use policert_numeric::{IntBox, IntInterval};

use super::expression::IntegerExpr;

/// `coefficient · variable`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Term {
    variable: usize,
    coefficient: i64,
}

impl Term {
    /// The sum of the terms, which does not leave `i64`.
    #[inline]
    pub(crate) fn sum(terms: &[Self], point: &[i64]) -> i64 {
        terms.iter().map(|t| t.coefficient * point[t.variable]).sum()
    }
}

pub(crate) fn terms_of(terms: &[(VarId, i64)]) -> Box<[Term]> {
    terms
        .iter()
        .map(|&(variable, coefficient)| Term { variable: variable.index(), coefficient })
        .collect()
}

/// Whether no partial sum of the terms and the constant leaves `i64`, in whatever order.
pub(crate) fn fits_i64(terms: &[(VarId, i64)], constant: i64, domains: &IntBox) -> bool {
    let mut size = i128::from(constant).abs();
    for &(variable, coefficient) in terms {
        let side = domains[variable.index()];
        if !side.is_bounded() {
            return false;
        }
        let greatest = i128::from(side.lo).abs().max(i128::from(side.hi).abs());
        // Below 2^126, so the addition does not overflow within any number of terms that is
        // checked right after each.
        size += greatest * i128::from(coefficient).abs();
        if size > i128::from(i64::MAX) {
            return false;
        }
    }
    true
}

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
