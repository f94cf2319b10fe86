//! Compiled conditions: bounds, linear constraints, and anything else as an expression.

use std::sync::Arc;

use policert_model::{Condition, Expr, LinearConstraint};
use policert_numeric::{IntBox, IntInterval};

use super::expression::IntegerExpr;
use super::term::{Term, fits_i64, terms_of};

/// A truth value, or none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kleene {
    False,
    True,
    /// No truth value.
    Undefined,
}

impl From<bool> for Kleene {
    fn from(value: bool) -> Self {
        if value { Self::True } else { Self::False }
    }
}

/// A condition in the form in which it is evaluated.
#[derive(Clone, Debug)]
pub(crate) enum CompiledCondition {
    Constant(bool),
    /// A variable lies in an interval.
    Bound {
        variable: usize,
        side: IntInterval,
    },
    /// `Σ terms ≤ upper`; no partial sum leaves `i64` inside the domains.
    Sum {
        terms: Box<[Term]>,
        upper: i64,
    },
    /// The same, where a sum may leave `i64`.
    Wide(LinearConstraint),
    /// An expression, whose value `compiled` mostly has.
    General {
        compiled: IntegerExpr,
        expr: Arc<Expr>,
        positive: bool,
    },
    All(Box<[CompiledCondition]>),
    Any(Box<[CompiledCondition]>),
}

impl CompiledCondition {
    /// Compiles a condition on points of `domains`.
    pub(crate) fn new(condition: &Condition, domains: &IntBox) -> Self {
        match condition {
            Condition::True => Self::Constant(true),
            Condition::False => Self::Constant(false),
            Condition::Linear(constraint) => {
                if let Some((variable, side)) = constraint.as_bound() {
                    return Self::Bound { variable: variable.index(), side };
                }
                if fits_i64(&constraint.terms, 0, domains) {
                    Self::Sum { terms: terms_of(&constraint.terms), upper: constraint.upper }
                } else {
                    Self::Wide(constraint.clone())
                }
            }
            Condition::General { expr, positive } => {
                let compiled = IntegerExpr::truth_of(expr, domains);
                Self::General { compiled, expr: Arc::clone(expr), positive: *positive }
            }
            Condition::And(parts) => {
                let parts = parts.iter().map(|part| Self::new(part, domains));
                Self::All(cheapest_first(merge_bounds(parts)))
            }
            Condition::Or(parts) => {
                let parts = parts.iter().map(|part| Self::new(part, domains)).collect();
                Self::Any(cheapest_first(parts))
            }
        }
    }

    /// Its truth at a point of the domains.
    #[inline]
    pub(crate) fn truth(&self, point: &[i64]) -> Kleene {
        match self {
            Self::Constant(value) => Kleene::from(*value),
            Self::Bound { variable, side } => Kleene::from(side.contains(point[*variable])),
            Self::Sum { terms, upper } => Kleene::from(Term::sum(terms, point) <= *upper),
            Self::Wide(constraint) => Kleene::from(constraint.holds(point)),
            Self::General { compiled, expr, positive } => {
                let truth = match compiled.value(point) {
                    Some(value) => Ok(value != 0),
                    None => expr.holds(point),
                };
                truth.map_or(Kleene::Undefined, |value| Kleene::from(value == *positive))
            }
            Self::All(parts) => decided(parts, point, Kleene::False, Kleene::True),
            Self::Any(parts) => decided(parts, point, Kleene::True, Kleene::False),
        }
    }

    /// Roughly how long it takes.
    fn cost(&self) -> usize {
        match self {
            Self::Constant(_) => 0,
            Self::Bound { .. } => 1,
            Self::Sum { terms, .. } => 1 + terms.len(),
            Self::Wide(constraint) => 1 + 4 * constraint.terms.len(),
            Self::General { .. } => 100,
            Self::All(parts) | Self::Any(parts) => 1 + parts.iter().map(Self::cost).sum::<usize>(),
        }
    }
}

#[inline]
fn decided(
    parts: &[CompiledCondition],
    point: &[i64],
    decides: Kleene,
    otherwise: Kleene,
) -> Kleene {
    let mut result = otherwise;
    for part in parts {
        let truth = part.truth(point);
        if truth == decides {
            return decides;
        }
        if truth == Kleene::Undefined {
            result = Kleene::Undefined;
        }
    }
    result
}

/// The conjuncts, with the bounds of each variable as one.
fn merge_bounds(parts: impl Iterator<Item = CompiledCondition>) -> Vec<CompiledCondition> {
    let mut merged: Vec<CompiledCondition> = Vec::new();
    for part in parts {
        if let CompiledCondition::Bound { variable, side } = part {
            let earlier = merged.iter_mut().find_map(|m| match m {
                CompiledCondition::Bound { variable: v, side } if *v == variable => Some(side),
                _ => None,
            });
            if let Some(earlier) = earlier {
                *earlier = earlier.intersect(side);
                continue;
            }
        }
        merged.push(part);
    }
    merged
}

/// The truth of a conjunction or disjunction does not depend on the order.
fn cheapest_first(mut parts: Vec<CompiledCondition>) -> Box<[CompiledCondition]> {
    parts.sort_by_key(CompiledCondition::cost);
    parts.into_boxed_slice()
}
