//! One outcome of a compiled operator, drawn at random, without allocation.

use policert_model::{DomainRule, ModelSemantics, ModellingError, Operator, Probability};

use super::{CompiledDestination, CompiledOperator};
use crate::compiled::Kleene;
use crate::random::Random;

/// The result of a drawn outcome.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Drawn {
    /// The values after it were written; the number of the outcome.
    Outcome(usize),
    /// That outcome is no transition: it leaves a domain, or does not exist.
    Dropped(usize),
}

/// Cumulative probabilities of the outcomes of an operator, the last one 1; empty where they
/// depend on the state.
pub(crate) fn cumulative(operator: &Operator) -> Box<[f64]> {
    let mut sum = 0.0;
    let sums = operator.destinations.iter().map(|destination| match &destination.probability {
        Probability::Constant(p) => {
            sum += p.to_f64();
            Some(sum)
        }
        Probability::Expr(_) => None,
    });
    let mut sums: Vec<f64> = sums.collect::<Option<_>>().unwrap_or_default();
    if let Some(last) = sums.last_mut() {
        *last = 1.0;
    }
    sums.into_boxed_slice()
}

/// The position of the first sum above a number in [0, 1).
fn position(sums: &[f64], number: f64) -> usize {
    sums.iter().position(|&sum| number < sum).unwrap_or(sums.len().saturating_sub(1))
}

impl CompiledOperator {
    /// Draws an outcome by its probability, and the values of free choices uniformly among those
    /// that are transitions; writes the state after it to `next`. `point` holds the state and is
    /// left as it was.
    ///
    /// # Errors
    /// A modelling error.
    pub(crate) fn draw(
        &self,
        operator: &Operator,
        cumulative: &[f64],
        semantics: ModelSemantics<'_>,
        point: &mut Vec<i64>,
        next: &mut [i64],
        random: &mut Random,
    ) -> Result<Drawn, ModellingError> {
        let number = random.unit();
        if let (Some(destinations), false) = (&self.destinations, cumulative.is_empty()) {
            let chosen = position(cumulative, number);
            let variables = point.len();
            let settled = destinations[chosen].draw(semantics.rule, point, next, random);
            point.truncate(variables);
            if let Some(is_transition) = settled {
                return Ok(match is_transition {
                    true => Drawn::Outcome(chosen),
                    false => Drawn::Dropped(chosen),
                });
            }
            return by_reference(operator, semantics, chosen, point, next, random);
        }
        let chosen = match cumulative {
            [] => position(&sums_at(operator, point), number),
            sums => position(sums, number),
        };
        by_reference(operator, semantics, chosen, point, next, random)
    }
}

/// Cumulative probabilities in a state; those without value count as 0, and the reference says
/// what is wrong.
fn sums_at(operator: &Operator, state: &[i64]) -> Vec<f64> {
    let mut sum = 0.0;
    let sums = operator.destinations.iter().map(|destination| {
        sum += match &destination.probability {
            Probability::Constant(p) => p.to_f64(),
            Probability::Expr(p) => p.eval(state).map_or(0.0, |p| p.to_f64()),
        };
        sum
    });
    sums.collect()
}

#[cold]
fn by_reference(
    operator: &Operator,
    semantics: ModelSemantics<'_>,
    chosen: usize,
    state: &[i64],
    next: &mut [i64],
    random: &mut Random,
) -> Result<Drawn, ModellingError> {
    let mut successors = semantics.successors(operator, state)?.list;
    successors.retain(|successor| successor.destination == chosen);
    match successors.get(random.below(successors.len())) {
        Some(successor) => {
            next.copy_from_slice(&successor.state);
            Ok(Drawn::Outcome(chosen))
        }
        None => Ok(Drawn::Dropped(chosen)),
    }
}

impl CompiledDestination {
    /// Returns whether the outcome is a transition, whose values are written; `None` where only the
    /// reference knows.
    #[inline]
    fn draw(
        &self,
        rule: DomainRule,
        point: &mut Vec<i64>,
        next: &mut [i64],
        random: &mut Random,
    ) -> Option<bool> {
        let drop = rule == DomainRule::Drop;
        let variables = point.len();
        for choice in &self.choices {
            let mut lower = choice.lower.value(point)?;
            let mut upper = choice.upper.value(point)?;
            if let Some(domain) = choice.kept_in.filter(|_| drop) {
                (lower, upper) = (lower.max(domain.lo), upper.min(domain.hi));
            }
            if lower > upper {
                return None;
            }
            let count = usize::try_from(lower.abs_diff(upper)).ok()?.checked_add(1)?;
            point.push(lower.checked_add(i64::try_from(random.below(count)).ok()?)?);
        }
        if self.conflict.truth(point) == Kleene::True {
            return None;
        }
        // Another value of a free choice may be a transition: the reference knows all of them.
        let dropped = (drop && self.choices.is_empty()).then_some(false);
        if self.defined.truth(point) != Kleene::True {
            return dropped;
        }
        next.copy_from_slice(&point[..variables]);
        for update in &self.updates {
            let value = update.value.value(point)?;
            if !update.domain.contains(value) {
                return dropped;
            }
            next[update.variable] = value;
        }
        Some(true)
    }
}
