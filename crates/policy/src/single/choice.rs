//! What a policy may choose in a state in single precision, and what it chooses by the plain evaluation.

use policert_numeric::Rational;
use policert_numeric::round::sub_down;

use super::SingleErrors;
use crate::choice::Choice;
use crate::sampling::Scores;
use crate::semantics::{PolicySemantics, ScoreComparison, Ties};

/// The choice among the `competing` outputs by their exact scores, and bounds of the errors in this state.
/// Those are possible that some evaluation may choose as far as the bounds tell, and those certain that the
/// plain evaluation does.
pub(crate) fn rounded_choice(
    scores: &Scores<'_>,
    errors: &SingleErrors,
    plain_scores: impl FnOnce() -> Vec<f64>,
    semantics: &PolicySemantics,
    competing: &[usize],
) -> Choice {
    let leads_by_nothing =
        |one: usize, other: usize| scores.least_lead(one, other).is_some_and(|lead| lead.is_zero());
    // Equal scores stay equal, whatever is made of them.
    let stay_equal = |one: usize, other: usize| {
        errors.is_exact(one)
            && errors.is_exact(other)
            && leads_by_nothing(one, other)
            && leads_by_nothing(other, one)
    };
    let is_beaten_by = |output: usize, rival: usize, comparison: ScoreComparison| {
        if stay_equal(output, rival) {
            return comparison.is_excluded_by(0.0);
        }
        // Infinite errors exclude nothing.
        let slack = Rational::from_f64(errors.together(output, rival));
        let lead = scores.least_lead(rival, output).zip(slack).map(|(lead, slack)| lead - slack);
        lead.is_some_and(|lead| comparison.is_excluded_by(lead))
    };
    let rivals = |output: usize| competing.iter().copied().filter(move |&rival| rival != output);
    // Those that may share the best score.
    let near: Vec<usize> = competing
        .iter()
        .copied()
        .filter(|&o| !rivals(o).any(|r| is_beaten_by(o, r, ScoreComparison::GreaterEqual)))
        .collect();
    if let [_] = near[..] {
        return Choice::of(near);
    }
    let mut possible = near.clone();
    possible.retain(|&o| !rivals(o).any(|r| is_beaten_by(o, r, semantics.requires(o, r))));
    let are_known = competing.iter().all(|&output| errors.is_exact(output))
        && (errors.merged() <= 0.0 || near.iter().all(|&output| stay_equal(near[0], output)));
    if possible.is_empty() || are_known {
        return Choice::of(possible);
    }
    let plain = plain_choice(&plain_scores(), errors.merged(), semantics, competing);
    let mut certain = plain.outputs().to_vec();
    certain.retain(|output| possible.contains(output));
    match semantics.ties {
        // Perhaps nothing is chosen.
        Ties::Strict => Choice::Undecided { certain: certain.into(), possible: possible.into() },
        Ties::First | Ties::Any => Choice::between(certain, possible),
    }
}

/// The choice by computed scores. Nothing is certain where one is not finite, or where one is below the best
/// one by less than `merged`.
fn plain_choice(
    scores: &[f64],
    merged: f64,
    semantics: &PolicySemantics,
    competing: &[usize],
) -> Choice {
    if !competing.iter().all(|&output| scores[output].is_finite()) {
        return Choice::Nothing;
    }
    let best = competing.iter().map(|&output| scores[output]).fold(f64::NEG_INFINITY, f64::max);
    let (leaders, others): (Vec<usize>, Vec<usize>) =
        competing.iter().copied().partition(|&output| scores[output] >= best);
    if others.iter().any(|&output| sub_down(best, scores[output]) < merged) {
        return Choice::Nothing;
    }
    Choice::among_best(&leaders, semantics)
}
