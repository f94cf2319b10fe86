//! Operators: the state after one of their outcomes.

use policert_model::{Destination, UpdateValue, VarId, Variable};
use policert_numeric::Rational;

use super::state::{StateFrame, within};
use crate::{Formula, SmtError, Solver, Symbol, Term};

/// The state after an outcome of an operator.
#[derive(Clone, Debug)]
pub struct SuccessorTerms {
    /// The new symbols of updated variables, the old ones of all others.
    pub frame: StateFrame,
    /// The symbols of the outcome's free choices.
    pub choices: Vec<Symbol>,
    /// (ii) and (vi): the outcome exists and leads from the source frame to this one. The guard
    /// is not part of it.
    pub constraint: Formula,
}

/// Encodes the outcome `destination` taken in `source`, a frame of exactly `variables`.
///
/// An outcome that leaves a variable's domain or touches a cell that does not exist leads
/// nowhere. So does one that the model's rules forbid (a value that is no integer); what a
/// conflict of two assignments means is not asked here.
///
/// # Errors
/// [`SmtError::Unsupported`] for powers with a large or computed exponent.
pub fn successor(
    solver: &mut dyn Solver,
    variables: &[Variable],
    source: &StateFrame,
    destination: &Destination,
) -> Result<SuccessorTerms, SmtError> {
    let mut constraint = Vec::new();
    let mut extended = source.clone();
    let mut choices = Vec::new();
    for choice in &destination.choices {
        let (lower, lower_defined) = extended.value(&choice.lower)?;
        let (upper, upper_defined) = extended.value(&choice.upper)?;
        let symbol = extended.fresh(solver);
        constraint.extend([lower_defined, upper_defined]);
        constraint.push(lower.le(Term::from(symbol)));
        constraint.push(Term::from(symbol).le(upper));
        extended = extended.extended(symbol);
        choices.push(symbol);
    }
    constraint.push(extended.condition(&destination.defined, true)?);

    let mut updated: Vec<(VarId, Symbol)> = Vec::new();
    for update in &destination.updates {
        let (value, defined) = update_value(&extended, &update.value)?;
        let symbol = extended.fresh(solver);
        constraint.push(defined);
        constraint.push(Term::from(symbol).equals(value));
        let domain = variables.get(update.variable.index()).map(|variable| variable.domain);
        let missing = || SmtError::Unsupported(format!("no variable {}", update.variable.0));
        constraint.push(within(symbol, domain.ok_or_else(missing)?));
        updated.push((update.variable, symbol));
    }
    Ok(SuccessorTerms {
        frame: source.replaced(variables.len(), &updated),
        choices,
        constraint: Formula::and(constraint),
    })
}

fn update_value(frame: &StateFrame, value: &UpdateValue) -> Result<(Term, Formula), SmtError> {
    match value {
        UpdateValue::General(expr) => frame.value(expr),
        UpdateValue::Linear(linear) => {
            let mut sum = vec![Term::int(linear.constant)];
            for &(variable, coefficient) in &linear.terms {
                let missing =
                    || SmtError::Unsupported(format!("variable {} has no term", variable.0));
                let term = frame.term(variable).ok_or_else(missing)?;
                sum.push(term.scaled(&Rational::from(coefficient)));
            }
            Ok((Term::sum(sum), Formula::Constant(true)))
        }
    }
}
