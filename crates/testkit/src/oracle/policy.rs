//! What a policy chooses in a state, by the definition of its semantics.

use policert_model::LabelId;
use policert_numeric::Rational;
use policert_policy::{Filter, Network, PolicySemantics, Ties};

use super::scores::{Score, scores, tree_scores};
use super::softmax::softmax;
use crate::PolicyParts;

/// The scores of two labels cannot be told apart: tanh or sigmoid inside a network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Undecided;

/// The labels of the policy that have the best score of those that compete, in the order of the
/// outputs; `applicable` are the labels that are applicable in `state`.
///
/// # Errors
/// [`Undecided`].
pub fn best_labels(
    policy: &PolicyParts,
    filter: Filter,
    state: &[i64],
    applicable: &[LabelId],
) -> Result<Vec<LabelId>, Undecided> {
    let inputs: Vec<i64> = policy.inputs.iter().map(|v| state[v.index()]).collect();
    // tanh at the end keeps the order of the scores.
    let scores = match &policy.trees {
        Some(trees) => tree_scores(trees, &inputs),
        None => {
            let ranking: Network = policy.network.without_final_squashing();
            scores(&ranking, &inputs)
        }
    };
    let competing: Vec<usize> = (0..policy.outputs.len())
        .filter(|&i| match filter {
            Filter::None => true,
            Filter::Applicable => applicable.contains(&policy.outputs[i]),
        })
        .collect();
    let mut best = Vec::new();
    for &i in &competing {
        let mut is_best = true;
        for &j in &competing {
            is_best &= at_least(&scores[i], &scores[j])?;
        }
        if is_best {
            best.push(policy.outputs[i]);
        }
    }
    Ok(best)
}

/// The labels that a policy draws from, with their probabilities; `applicable` are the labels that are
/// applicable in `state`. Labels below the least probability that counts are left out.
///
/// # Errors
/// [`Undecided`], for scores that are not rational.
pub fn drawn_labels(
    policy: &PolicyParts,
    semantics: PolicySemantics,
    state: &[i64],
    applicable: &[LabelId],
) -> Result<Vec<(LabelId, Rational)>, Undecided> {
    let inputs: Vec<i64> = policy.inputs.iter().map(|v| state[v.index()]).collect();
    let scores = match &policy.trees {
        Some(trees) => tree_scores(trees, &inputs),
        None => scores(&policy.network, &inputs),
    };
    let labels = policy.outputs.iter().copied().zip(scores);
    let competing: Vec<(LabelId, Score)> = labels
        .filter(|(label, _)| match semantics.filter {
            Filter::None => true,
            Filter::Applicable => applicable.contains(label),
        })
        .collect();
    let exact = competing.iter().map(|(_, score)| (score.lo == score.hi).then(|| score.lo.clone()));
    let exact: Option<Vec<Rational>> = exact.collect();
    let probabilities = softmax(&exact.ok_or(Undecided)?);
    // What the reference is wrong by is far below what tells shares apart.
    let slip = Rational::integer(2).pow(-200).unwrap_or_default();
    let least = semantics.at_least.map_or(Rational::ZERO, |share| share.value() - slip);
    let drawn = competing.iter().map(|(label, _)| *label).zip(probabilities);
    Ok(drawn.filter(|(_, p)| *p >= least).collect())
}

/// The labels that are chosen when `best` have the best score.
#[must_use]
pub fn chosen_labels(ties: Ties, best: &[LabelId]) -> Vec<LabelId> {
    match ties {
        Ties::First => best.iter().copied().take(1).collect(),
        Ties::Any => best.to_vec(),
        Ties::Strict if best.len() == 1 => best.to_vec(),
        Ties::Strict => Vec::new(),
    }
}

/// Returns whether `a` ≥ `b`. The same interval that is no point decides nothing.
fn at_least(a: &Score, b: &Score) -> Result<bool, Undecided> {
    if std::ptr::eq(a, b) || a.lo >= b.hi {
        Ok(true)
    } else if a.hi < b.lo {
        Ok(false)
    } else {
        Err(Undecided)
    }
}
