//! One step of Bellman's operator on bounds.

use crate::{Direction, Mdp};

/// The bounds of a block after one step.
#[inline]
pub(crate) fn backup(mdp: &Mdp, direction: Direction, block: u32, values: &[[f64; 2]]) -> [f64; 2] {
    let mut means = mdp.choices_of(block).map(|choice| mdp.mean(choice, values));
    let Some(mut best) = means.next() else { return [0.0, 0.0] };
    for [lo, hi] in means {
        best = match direction {
            Direction::Max => [best[0].max(lo), best[1].max(hi)],
            Direction::Min => [best[0].min(lo), best[1].min(hi)],
        };
    }
    best
}
