//! What a policy may choose in a state in single precision, and what it chooses by the plain evaluation.

use policert_numeric::Rational;

use super::SinglePrecision;
use crate::choice::{Choice, FIRST_BITS};
use crate::policy::NetworkFunction;
use crate::semantics::{PolicySemantics, ScoreComparison, Ties};

/// The choice among the `competing` outputs. Those are possible that some evaluation may choose as far as
/// the bounds of its errors in this state tell, and those certain that the plain evaluation does.
pub(crate) fn rounded_choice(
    function: &NetworkFunction,
    single: &SinglePrecision,
    semantics: &PolicySemantics,
    inputs: &[i64],
    competing: &[usize],
) -> Choice {
    let errors = single.errors_at(inputs);
    let scores = function.exact_scores(inputs, FIRST_BITS);
    let is_beaten_by = |output: usize, rival: usize, comparison: ScoreComparison| {
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
    let mut possible = near;
    possible.retain(|&o| !rivals(o).any(|r| is_beaten_by(o, r, semantics.requires(o, r))));
    let is_exact = |&output: &usize| errors.radii()[output] <= 0.0;
    if possible.is_empty() || competing.iter().all(is_exact) {
        return Choice::of(possible);
    }
    let plain = plain_choice(&single.plain_scores(inputs), semantics, competing);
    let mut certain = plain.outputs().to_vec();
    certain.retain(|output| possible.contains(output));
    match semantics.ties {
        // Perhaps nothing is chosen.
        Ties::Strict => Choice::Undecided { certain: certain.into(), possible: possible.into() },
        Ties::First | Ties::Any => Choice::between(certain, possible),
    }
}

/// The choice by scores in single precision; nothing is certain where one is not finite.
fn plain_choice(scores: &[f32], semantics: &PolicySemantics, competing: &[usize]) -> Choice {
    if !competing.iter().all(|&output| scores[output].is_finite()) {
        return Choice::Nothing;
    }
    let best = competing.iter().map(|&output| scores[output]).fold(f32::NEG_INFINITY, f32::max);
    let leaders: Vec<usize> =
        competing.iter().copied().filter(|&output| scores[output] >= best).collect();
    Choice::among_best(&leaders, semantics)
}
