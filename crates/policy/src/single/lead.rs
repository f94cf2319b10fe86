//! The narrowest lead of a best score: how close single precision comes to another choice.

use super::SingleErrors;

/// The narrowest lead of a best score over the next one among the states that were looked at, in terms of the bound
/// of the rounding errors of both over all states.
#[derive(Clone, PartialEq, Debug)]
pub struct NarrowestLead {
    /// The inputs of the policy in the state.
    pub inputs: Vec<i64>,
    /// The lead in real arithmetic, but for the rounding of double precision.
    pub lead: f64,
    /// With a greater lead than this the label is chosen by every evaluation.
    pub bound: f64,
}

impl NarrowestLead {
    /// Keeps the narrower one of a lead that is known and that of a state with these scores.
    pub(crate) fn note(
        known: &mut Option<Self>,
        scores: impl Iterator<Item = (usize, f64)>,
        errors: &SingleErrors,
        inputs: &[i64],
    ) {
        let (mut best, mut next) = (None, None);
        for (output, score) in scores {
            match best {
                Some((_, greatest)) if score <= greatest => {
                    if next.is_none_or(|(_, second)| score > second) {
                        next = Some((output, score));
                    }
                }
                Some(_) | None => (best, next) = (Some((output, score)), best),
            }
        }
        let (Some((first, greatest)), Some((second, score))) = (best, next) else { return };
        let (lead, bound) = (greatest - score, errors.together(first, second));
        let is_narrower = |known: &Self| lead * known.bound < known.lead * bound;
        if bound > 0.0 && bound.is_finite() && known.as_ref().is_none_or(is_narrower) {
            *known = Some(Self { inputs: inputs.to_vec(), lead, bound });
        }
    }
}
