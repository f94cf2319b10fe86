//! Stage *bound* for tree ensembles: which outputs lose everywhere in a leaf of a decision map.

use std::time::Instant;

use policert_engine_api::StopReason;

use crate::asked::Asked;
use crate::decision_map::{Lead, MapNode, NodeProgress, Sharing};
use crate::prepared::ScoreBounds;
use crate::split::Cut;
use crate::statistics::Stage;

/// Bounds the score differences over a leaf and notes which outputs lose.
pub(crate) fn bound_trees(
    asked: &mut Asked<'_, '_>,
    leaf: &mut MapNode,
    sharing: Sharing,
) -> Result<(), StopReason> {
    let started = Instant::now();
    asked.budget.poll()?;
    let inputs = asked.prepared.input_ranges(&leaf.sides);
    let policy = asked.prepared.policy;
    let outputs = asked.prepared.applicable.len();
    asked.prepared.statistics.bounds += 1;
    let ScoreBounds::Trees(trees) = &mut asked.prepared.function else { return Ok(()) };
    trees.enter(inputs);
    let axes = asked.prepared.axes.variables.len();
    for lesser in 0..outputs {
        let is_asked = lesser == asked.output;
        if leaf.refuted.contains(lesser) || (sharing == Sharing::OneOutput && !is_asked) {
            continue;
        }
        let mut closest: Option<i128> = None;
        for greater in (0..outputs).filter(|&greater| greater != lesser) {
            let lower = trees.lower(greater, lesser);
            if policy.requires(lesser, greater).is_excluded_by_units(lower) {
                leaf.note_loss(lesser, greater);
            }
            if is_asked && closest.is_none_or(|most| lower > most) {
                closest = Some(lower);
            }
        }
        if let Some(closest) = closest {
            let lower = trees.score(closest);
            leaf.leads.push(Lead { output: lesser, lower, axes: vec![(0.0, 0.0); axes] });
        }
    }
    leaf.leads.retain(|lead| !leaf.refuted.contains(lead.output));
    leaf.progress = NodeProgress::Bounded;
    asked.finish(Stage::Bound, started);
    Ok(())
}

/// The cut of a leaf at the threshold that helps most against the rival that is closest to beating
/// the output. `None` for networks, and where all scores are constant in the leaf.
pub(crate) fn tree_cut(asked: &mut Asked<'_, '_>, leaf: &MapNode) -> Option<Cut> {
    let inputs = asked.prepared.input_ranges(&leaf.sides);
    let outputs = asked.prepared.applicable.len();
    let output = asked.output;
    let ScoreBounds::Trees(trees) = &mut asked.prepared.function else { return None };
    trees.enter(inputs);
    // Rivals that surely compete first.
    let rank = |rival: usize| match leaf.truths.get(rival) {
        None => 2,
        Some(policert_model::Truth::True) => 2,
        Some(policert_model::Truth::Maybe) => 1,
        Some(policert_model::Truth::False) => 0,
    };
    let rivals = (0..outputs).filter(|&rival| rival != output);
    let mut rivals: Vec<(i32, i128, usize)> =
        rivals.map(|rival| (rank(rival), trees.lower(rival, output), rival)).collect();
    rivals.sort_unstable_by(|a, b| b.cmp(a));
    let cut = rivals.iter().find_map(|&(_, _, rival)| trees.cut(rival, output));
    cut.map(|(input, at)| Cut { axis: asked.prepared.axes.reads[input], at })
}
