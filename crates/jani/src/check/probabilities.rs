//! Probabilities of destinations: exact, and a distribution where they are constant.

use policert_numeric::Rational;

use super::{Checker, Type};
use crate::{
    ast::Edge,
    diagnostic::Code,
    lower::{Reading, Trouble, expression::ExprLowerer},
};

/// The probability of a destination.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum DestinationProbability {
    /// The same in every state; 0 for a destination that is none.
    Constant(Rational),
    /// Depends on the state.
    Depends,
}

impl Checker<'_> {
    /// Checks the probabilities of an edge, and scales them where they miss 1 by rounding.
    pub(super) fn probabilities(
        &mut self,
        automaton: usize,
        edge: &Edge,
    ) -> Vec<DestinationProbability> {
        let mut all = Vec::with_capacity(edge.destinations.len());
        let mut known = true;
        for destination in &edge.destinations {
            let Some(expr) = &destination.probability else {
                all.push(DestinationProbability::Constant(Rational::ONE));
                continue;
            };
            if !self.types(Some(automaton)).expect(expr, &Type::Real) {
                known = false;
                continue;
            }
            let value =
                ExprLowerer::new(&self.checked, Reading::Constant, Some(automaton)).value(expr);
            match value {
                Ok(super::Value::Scalar(p)) => {
                    if p.signum() < 0 || p > Rational::ONE {
                        let message = format!("a probability is between 0 and 1, not {p}");
                        self.invalid(Code::Probability, expr.at, message);
                        known = false;
                    }
                    all.push(DestinationProbability::Constant(p));
                }
                Ok(super::Value::Array(_)) => known = false,
                Err(Trouble::NotConstant(..)) => all.push(DestinationProbability::Depends),
                Err(trouble) => {
                    self.trouble(trouble);
                    known = false;
                }
            }
        }
        if known && !all.is_empty() {
            self.distribution(edge, &mut all);
        }
        all
    }

    /// Constant probabilities must sum to 1, up to rounding.
    fn distribution(&mut self, edge: &Edge, all: &mut [DestinationProbability]) {
        let mut sum = Rational::ZERO;
        for probability in all.iter() {
            match probability {
                DestinationProbability::Constant(p) => sum += p,
                DestinationProbability::Depends => return,
            }
        }
        if sum == Rational::ONE {
            return;
        }
        let tolerance = Rational::new(1, 1_000_000_000).unwrap_or(Rational::ZERO);
        if (&sum - &Rational::ONE).abs() > tolerance {
            let message = format!("the probabilities of this edge sum to {sum}, not to 1");
            self.invalid(Code::Probability, edge.at, message);
            return;
        }
        for probability in all {
            if let DestinationProbability::Constant(p) = probability
                && let Some(scaled) = p.checked_div(&sum)
            {
                *p = scaled;
            }
        }
        let message = "probabilities that miss 1 by rounding are scaled to sum to 1";
        self.diagnostics.note(Code::Probability, edge.at, message);
    }
}
