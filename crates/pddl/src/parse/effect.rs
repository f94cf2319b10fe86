//! Effects of actions.

use policert_numeric::Rational;
use policert_sexpr::{Fault, Sexpr};

use super::condition::tests;
use super::names::is_word;
use crate::domain::{Domain, Effect, Object};

/// What names mean where an expression stands.
pub(super) struct Scope<'a> {
    pub domain: &'a Domain,
    pub objects: &'a [Object],
    pub parameters: &'a [Object],
}

/// Reads an effect.
pub(super) fn read(expression: &Sexpr<'_>, scope: &Scope<'_>) -> Result<Effect, Fault> {
    let invalid = |message: &str| Err(Fault::invalid(expression.at, message));
    let Some(list) = expression.list() else {
        let message = format!("an effect is expected, not {}", expression.described());
        return Err(Fault::invalid(expression.at, message));
    };
    let Some((head, items)) = list.split_first() else { return Ok(Effect::All(Vec::new())) };
    match head.atom().map(str::to_ascii_lowercase).as_deref() {
        Some("and") => {
            let effects = items.iter().map(|item| read(item, scope));
            Ok(Effect::All(effects.collect::<Result<_, _>>()?))
        }
        Some("not") => match items {
            [atom] => Ok(Effect::Set(scope.atom(atom)?, false)),
            _ => invalid("`not` has one atom"),
        },
        Some("when") => match items {
            [condition, then] => {
                let effect = read(then, scope)?;
                if effect.has_cost() {
                    let message = "a cost under a condition (`when`) is not supported";
                    return Err(Fault::unsupported(then.at, message));
                }
                Ok(Effect::When(tests(condition, scope)?, Box::new(effect)))
            }
            _ => invalid("`when` has a condition and an effect"),
        },
        Some("probabilistic") => one_of(expression, items, scope),
        Some("increase") => increase(expression, items, scope),
        Some(word @ ("forall" | "decrease" | "assign" | "scale-up" | "scale-down" | "oneof"))
            if !scope.domain.predicates.iter().any(|known| known.name == word) =>
        {
            let message = format!(
                "{} is not supported; effects are atoms, negated atoms, `and`, `when`, \
                 `probabilistic`, and `increase` of the total cost",
                expression.described()
            );
            Err(Fault::unsupported(expression.at, message))
        }
        _ => Ok(Effect::Set(scope.atom(expression)?, true)),
    }
}

/// `(probabilistic P EFFECT …)`.
fn one_of(expression: &Sexpr<'_>, items: &[Sexpr<'_>], scope: &Scope<'_>) -> Result<Effect, Fault> {
    let mut outcomes = Vec::new();
    let mut sum = Rational::ZERO;
    for pair in items.chunks(2) {
        let [probability, effect] = pair else {
            return Err(Fault::invalid(pair[0].at, "an effect is expected after a probability"));
        };
        let p = number(probability)?;
        if p.signum() < 0 {
            return Err(Fault::invalid(probability.at, "a probability is not negative"));
        }
        sum = &sum + &p;
        let effect = read(effect, scope)?;
        if p.signum() > 0 {
            outcomes.push((p, effect));
        }
    }
    if sum > Rational::ONE {
        let message = format!("the probabilities sum to {sum}, more than 1");
        return Err(Fault::invalid(expression.at, message));
    }
    Ok(Effect::OneOf(outcomes))
}

/// `(increase (total-cost) AMOUNT)`.
fn increase(
    expression: &Sexpr<'_>,
    items: &[Sexpr<'_>],
    scope: &Scope<'_>,
) -> Result<Effect, Fault> {
    let [target, amount] = items else {
        return Err(Fault::invalid(expression.at, "`increase` has a function and an amount"));
    };
    let functions = &scope.domain.functions;
    let target_atom = scope.applied(target, "function", functions)?;
    if target_atom.predicate != 0 {
        let message = "only (increase (total-cost) AMOUNT) is supported: numbers do not change";
        return Err(Fault::unsupported(target.at, message));
    }
    if amount.atom().is_some() {
        let number = number(amount)?;
        return match number.signum() {
            ..0 => Err(Fault::invalid(amount.at, "a cost is not negative")),
            _ => Ok(Effect::Cost(number)),
        };
    }
    let is_arithmetic = |word: &Sexpr<'_>| ["+", "-", "*", "/"].iter().any(|op| is_word(word, op));
    if amount.list().and_then(<[_]>::first).is_some_and(is_arithmetic) {
        let message = "arithmetic is not supported; a cost is a number or the value of a function";
        return Err(Fault::unsupported(amount.at, message));
    }
    let atom = scope.applied(amount, "function", functions)?;
    if atom.predicate == 0 {
        let message = "a cost that depends on the total cost is not supported";
        return Err(Fault::unsupported(amount.at, message));
    }
    Ok(Effect::CostOf(atom))
}

/// A decimal, or a fraction `1/3`.
pub(super) fn number(expression: &Sexpr<'_>) -> Result<Rational, Fault> {
    let parsed = expression.atom().and_then(|atom| match atom.split_once('/') {
        Some((top, bottom)) => {
            Rational::parse_decimal(top)?.checked_div(&Rational::parse_decimal(bottom)?)
        }
        None => Rational::parse_decimal(atom),
    });
    parsed.ok_or_else(|| {
        let message = format!("a number is expected, not {}", expression.described());
        Fault::invalid(expression.at, message)
    })
}
