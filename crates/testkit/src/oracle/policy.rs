//! What a policy chooses in a state, by the definition of its semantics.

use policert_model::LabelId;
use policert_policy::{Filter, Network, Semantics, Ties};

use super::scores::{Score, scores};
use crate::PolicyParts;

/// The scores of two labels cannot be told apart: tanh or sigmoid inside a network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Undecided;

/// The labels that the policy chooses in `state`, where `applicable` are those of its labels that
/// are applicable.
///
/// # Errors
/// [`Undecided`].
pub fn chosen_labels(
    policy: &PolicyParts,
    semantics: Semantics,
    state: &[i64],
    applicable: &[LabelId],
) -> Result<Vec<LabelId>, Undecided> {
    let inputs: Vec<i64> = policy.inputs.iter().map(|v| state[v.index()]).collect();
    // tanh at the end keeps the order of the scores.
    let ranking: Network = policy.network.without_final_squashing();
    let scores = scores(&ranking, &inputs);
    let competing: Vec<usize> = (0..policy.outputs.len())
        .filter(|&i| match semantics.filter {
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
    Ok(match semantics.ties {
        Ties::First => best.into_iter().take(1).collect(),
        Ties::Any => best,
        Ties::Strict if best.len() == 1 => best,
        Ties::Strict => Vec::new(),
    })
}

/// Whether `a` ≥ `b`. The same interval that is no point decides nothing.
fn at_least(a: &Score, b: &Score) -> Result<bool, Undecided> {
    if std::ptr::eq(a, b) || a.lo >= b.hi {
        Ok(true)
    } else if a.hi < b.lo {
        Ok(false)
    } else {
        Err(Undecided)
    }
}
