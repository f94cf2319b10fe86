//! What inequalities with a single variable say.

use policert_numeric::{LinearInequality, Rational};

/// The greatest lower and the least upper bound of each of the first variables.
pub(super) fn sides(
    inequalities: &[LinearInequality],
    variables: usize,
) -> (Vec<Option<Rational>>, Vec<Option<Rational>>) {
    let (mut lo, mut hi) = (vec![None; variables], vec![None; variables]);
    for inequality in inequalities {
        let Some((variable, bound, is_upper)) = bound(inequality) else { continue };
        if variable >= variables {
            continue;
        }
        let side: &mut Option<Rational> =
            if is_upper { &mut hi[variable] } else { &mut lo[variable] };
        *side = Some(match side.take() {
            Some(old) if is_upper => old.min(bound),
            Some(old) => old.max(bound),
            None => bound,
        });
    }
    (lo, hi)
}

/// Returns whether two of the inequalities bound a single variable from both sides such that no value
/// is left, or one has no variable and does not hold.
pub(super) fn contradict(inequalities: &[LinearInequality]) -> bool {
    let constant = |one: &LinearInequality| {
        let fails = if one.strict { one.upper.signum() <= 0 } else { one.upper.signum() < 0 };
        one.terms.is_empty() && fails
    };
    if inequalities.iter().any(constant) {
        return true;
    }
    let variables = inequalities.iter().flat_map(|one| &one.terms).map(|(v, _)| v + 1);
    let (lo, hi) = sides(inequalities, variables.max().unwrap_or(0));
    let is_strict = |variable: usize, at: &Rational| {
        inequalities.iter().any(|one| {
            one.strict && bound(one).is_some_and(|(v, bound, _)| v == variable && bound == *at)
        })
    };
    lo.iter().zip(&hi).enumerate().any(|(variable, sides)| match sides {
        (Some(lo), Some(hi)) => lo > hi || lo == hi && is_strict(variable, lo),
        (None, _) | (_, None) => false,
    })
}

/// The bound that an inequality is: its variable, the value, and whether it is an upper one.
fn bound(inequality: &LinearInequality) -> Option<(usize, Rational, bool)> {
    let [(variable, coefficient)] = inequality.terms.as_slice() else { return None };
    let value = inequality.upper.checked_div(coefficient)?;
    Some((*variable, value, coefficient.signum() > 0))
}
