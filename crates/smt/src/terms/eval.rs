//! The meaning of terms and formulas at a point, in exact arithmetic.

use policert_numeric::Rational;

use super::{Formula, Term};

impl Term {
    /// The value where symbol `i` has the value `values[i]`; `None` where a divisor is 0 or a
    /// symbol has no value.
    #[must_use]
    pub fn eval(&self, values: &[Rational]) -> Option<Rational> {
        Some(match self {
            Self::Constant(value) => value.clone(),
            Self::Symbol(symbol) => values.get(symbol.index())?.clone(),
            Self::Sum(parts) => {
                let mut sum = Rational::ZERO;
                for part in parts {
                    sum += &part.eval(values)?;
                }
                sum
            }
            Self::Scaled(factor, term) => factor * &term.eval(values)?,
            Self::Product(a, b) => a.eval(values)? * b.eval(values)?,
            Self::Quotient(a, b) => a.eval(values)?.checked_div(&b.eval(values)?)?,
            Self::Modulus(a, b) => a.eval(values)?.modulus(&b.eval(values)?)?,
            Self::Floor(a) => a.eval(values)?.floor(),
            Self::Abs(a) => a.eval(values)?.abs(),
            Self::Min(a, b) => a.eval(values)?.min(b.eval(values)?),
            Self::Max(a, b) => a.eval(values)?.max(b.eval(values)?),
            Self::Ite(condition, then, otherwise) => {
                if condition.eval(values)? {
                    then.eval(values)?
                } else {
                    otherwise.eval(values)?
                }
            }
        })
    }
}

impl Formula {
    /// The truth value where symbol `i` has the value `values[i]`; `None` where a part that
    /// matters has no value (see [`Term::eval`]). A part that decides a conjunction or
    /// disjunction decides it wherever it stands.
    #[must_use]
    pub fn eval(&self, values: &[Rational]) -> Option<bool> {
        match self {
            Self::Constant(value) => Some(*value),
            Self::Le(a, b) => Some(a.eval(values)? <= b.eval(values)?),
            Self::Lt(a, b) => Some(a.eval(values)? < b.eval(values)?),
            Self::Eq(a, b) => Some(a.eval(values)? == b.eval(values)?),
            Self::Not(a) => a.eval(values).map(|value| !value),
            Self::And(parts) => decided_by(parts, values, false),
            Self::Or(parts) => decided_by(parts, values, true),
            Self::Iff(a, b) => Some(a.eval(values)? == b.eval(values)?),
        }
    }
}

fn decided_by(parts: &[Formula], values: &[Rational], deciding: bool) -> Option<bool> {
    let mut all_known = true;
    for part in parts {
        match part.eval(values) {
            Some(value) if value == deciding => return Some(deciding),
            Some(_) => {}
            None => all_known = false,
        }
    }
    all_known.then_some(!deciding)
}
