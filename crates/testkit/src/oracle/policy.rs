//! What a policy chooses in a state, by the definition of its semantics.

use policert_model::LabelId;
use policert_policy::{Filter, Network, Ties};

use super::scores::{Score, scores, tree_scores};
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
