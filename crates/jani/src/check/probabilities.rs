//! Probabilities of destinations: exact, and a distribution where they are constant.

use policert_numeric::Rational;

use super::{Checked, Type, TypeChecker};
use crate::{
    ast::Edge,
    diagnostic::{DiagnosticCode, Diagnostics},
    lower::{Reading, Trouble, expression::ExprLowerer},
    parse::Parser,
};

/// Returns how far a sum of probabilities may be from 1 because its terms are rounded decimals:
/// official models are written with seven places.
pub(crate) fn rounding() -> Rational {
    Rational::new(1, 1_000_000).unwrap_or(Rational::ZERO)
}

/// The remark that is made where probabilities are scaled.
pub(crate) const SCALED: &str = "probabilities whose sum misses 1 by at most 10⁻⁶, as rounded decimals \
                                 do, are scaled to sum to 1";

/// The probability of a destination.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum DestinationProbability {
    /// The same in every state; 0 for a destination that is none.
    Constant(Rational),
    /// Depends on the state.
    Depends,
}

/// Checks the probabilities of an edge, and scales them where they miss 1 by rounding.
pub(crate) fn probabilities(
    checked: &Checked,
    parser: &mut Parser,
    automaton: usize,
    edge: &Edge,
) -> Vec<DestinationProbability> {
    let Parser { diagnostics, names, .. } = parser;
    let mut all = Vec::with_capacity(edge.destinations.len());
    let mut known = true;
    for destination in &edge.destinations {
        let Some(expr) = &destination.probability else {
            all.push(DestinationProbability::Constant(Rational::ONE));
            continue;
        };
        let mut types = TypeChecker::new(checked, diagnostics, names, Some(automaton));
        if !types.expect(expr, &Type::Real) {
            known = false;
            continue;
        }
        let value = ExprLowerer::new(checked, Reading::Constant, Some(automaton)).value(expr);
        match value {
            Ok(super::Value::Scalar(p)) => {
                if p.signum() < 0 || &p - &Rational::ONE > rounding() {
                    let message = format!("a probability is between 0 and 1, not {p}");
                    diagnostics.invalid(DiagnosticCode::Probability, expr.at, message);
                    known = false;
                }
                all.push(DestinationProbability::Constant(p));
            }
            Ok(super::Value::Array(_)) => known = false,
            Err(Trouble::NotConstant(..)) => all.push(DestinationProbability::Depends),
            Err(trouble) => {
                trouble.report(names, diagnostics);
                known = false;
            }
        }
    }
    if known && !all.is_empty() {
        distribution(checked, diagnostics, edge, &mut all);
    }
    all
}

/// Constant probabilities must sum to 1, up to rounding.
fn distribution(
    checked: &Checked,
    diagnostics: &mut Diagnostics,
    edge: &Edge,
    all: &mut [DestinationProbability],
) {
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
    let message = format!("the probabilities of this edge sum to {sum}, not to 1");
    if (&sum - &Rational::ONE).abs() > rounding() {
        diagnostics.invalid(DiagnosticCode::Probability, edge.at, message);
        return;
    }
    if checked.exact_probabilities {
        let help = "--probabilities rounded scales sums that miss 1 by at most 10⁻⁶";
        diagnostics.invalid_with_help(DiagnosticCode::Probability, edge.at, message, help);
        return;
    }
    for probability in all {
        if let DestinationProbability::Constant(p) = probability
            && let Some(scaled) = p.checked_div(&sum)
        {
            *p = scaled;
        }
    }
    diagnostics.note(DiagnosticCode::Probability, edge.at, SCALED);
}
