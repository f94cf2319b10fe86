//! Stage *bound* on a leaf of a decision map: which outputs lose everywhere in it.

use std::time::Instant;

use policert_engine_api::{Budget, StopReason};
use policert_model::Truth;
use policert_numeric::IntBox;
use smallvec::{SmallVec, smallvec};

use crate::asked::Asked;
use crate::bound::{Compared, ScoreDifference};
use crate::decision_map::{Lead, MapNode, NodeProgress, Sharing};
use crate::frame::RegionFrame;
use crate::inputs::Inputs;
use crate::joint::is_contradictory;
use crate::output_set::OutputSet;
use crate::prepared::{Axes, ScoreBounds};
use crate::statistics::Stage;
use crate::tighten::Restriction;

/// Bounds the score differences over a leaf and notes which outputs lose. Whether the bounds contradict
/// the conditions of the query. `region` has the constants of the map's whole region.
pub(crate) fn bound(
    asked: &mut Asked<'_, '_>,
    leaf: &mut MapNode,
    region: &RegionFrame,
    sharing: Sharing,
    restriction: &Restriction<'_>,
) -> Result<bool, StopReason> {
    let started = Instant::now();
    asked.budget.poll()?;
    let inputs = Inputs::new(&asked.prepared.axes.reads, &leaf.sides);
    let ScoreBounds::Network(network) = &mut asked.prepared.function else { return Ok(false) };
    let own = (!region.serves(&inputs.lo, &inputs.hi)).then(|| network.frame(&inputs));
    let frame = own.as_ref().unwrap_or(region);
    let outputs = asked.prepared.applicable.len();
    let mut winners = OutputSet::none(outputs);
    for choice in &leaf.choices {
        choice.outputs().iter().for_each(|&output| winners.insert(output));
    }
    let wanted = |output: usize| {
        output == asked.output
            || (sharing == Sharing::AllOutputs
                && !winners.contains(output)
                && !leaf.refuted.contains(output))
    };
    let targets: Vec<usize> = (0..outputs).filter(|&output| wanted(output)).collect();
    let pairs: Vec<(usize, usize)> = winners
        .iter()
        .flat_map(|winner| targets.iter().map(move |&target| (winner, target)))
        .filter(|(winner, target)| winner != target)
        .collect();
    let competes = |other: &usize| leaf.truths.get(*other).is_none_or(|t| *t != Truth::False);
    let others = (0..outputs).filter(|&other| other != asked.output && !winners.contains(other));
    let others: Vec<(usize, usize)> =
        others.filter(competes).map(|other| (other, asked.output)).collect();
    let mut compared: Vec<(usize, usize)> = pairs.iter().chain(&others).copied().collect();
    let certain = |other: usize| leaf.truths.get(other).is_none_or(|t| *t == Truth::True);
    compared.sort_by_key(|&(greater, _)| !certain(greater));
    let certain = compared.iter().filter(|&&(greater, _)| certain(greater)).count();
    let compared = Compared { pairs: &compared, certain };
    asked.prepared.statistics.bounds += 1;
    network.bounder.enter(frame, (&inputs.lo, &inputs.hi), compared, asked.budget)?;
    let mut rivals = Vec::new();
    differences(asked, leaf, frame, &pairs, &mut rivals)?;
    if !leaf.refuted.contains(asked.output) {
        differences(asked, leaf, frame, &others, &mut rivals)?;
    }
    if !leaf.refuted.contains(asked.output) {
        mixture(asked, leaf, frame, rivals)?;
    }
    let refuted = leaf.refuted.contains(asked.output);
    let contradictory = !refuted && is_contradictory(asked, leaf, frame, restriction)?;
    if let ScoreBounds::Network(network) = &asked.prepared.function {
        asked.prepared.statistics.forms = network.bounder.forms_done;
    }
    leaf.progress = NodeProgress::Bounded;
    asked.finish(Stage::Bound, started);
    Ok(contradictory)
}

/// Looks whether some of the closest rivals beat the output between them: where a mixture of
/// their scores is greater, one of them is.
fn mixture(
    asked: &mut Asked<'_, '_>,
    leaf: &mut MapNode,
    frame: &RegionFrame,
    mut rivals: Vec<(usize, f64)>,
) -> Result<(), StopReason> {
    let competes = |rival: usize| leaf.truths.get(rival).is_none_or(|t| *t == Truth::True);
    rivals.retain(|&(rival, lower)| competes(rival) && lower > f64::NEG_INFINITY);
    rivals.sort_by(|a, b| b.1.total_cmp(&a.1));
    let rivals: SmallVec<[usize; 3]> = rivals.iter().take(3).map(|r| r.0).collect();
    let ScoreBounds::Network(network) = &mut asked.prepared.function else { return Ok(()) };
    // One of the rivals leads by as much.
    let lead = network.bounder.mixture(frame, &rivals, asked.output, asked.budget)?;
    let policy = asked.prepared.policy;
    let refutes = |&rival: &usize| policy.requires(asked.output, rival).is_excluded_by(lead);
    if !rivals.is_empty() && rivals.iter().all(refutes) {
        leaf.refuted.insert(asked.output);
    }
    Ok(())
}

/// Bounds score differences (greater, lesser) and notes what they say; those of the output's rivals are
/// added to `rivals`, with the lower bounds of their lead.
fn differences(
    asked: &mut Asked<'_, '_>,
    leaf: &mut MapNode,
    frame: &RegionFrame,
    pairs: &[(usize, usize)],
    rivals: &mut Vec<(usize, f64)>,
) -> Result<(), StopReason> {
    let policy = asked.prepared.policy;
    let (axes, output) = (&asked.prepared.axes, asked.output);
    let ScoreBounds::Network(network) = &mut asked.prepared.function else { return Ok(()) };
    let budget = &mut *asked.budget;
    network.bounder.differences(frame, pairs, budget, &mut |difference: ScoreDifference<'_>| {
        let ScoreDifference { greater, lesser, lower, .. } = difference;
        if lesser == output {
            rivals.push((greater, lower));
        }
        if policy.requires(lesser, greater).is_excluded_by(lower) {
            leaf.note_loss(lesser, greater);
        }
        if leaf.refuted.contains(lesser) {
            return;
        }
        match leaf.leads.iter_mut().find(|lead| lead.output == lesser) {
            Some(known) if known.lower >= lower => {}
            Some(known) => follow(known, &difference, axes, &leaf.sides),
            None => {
                let unknown = vec![(0.0, 0.0); axes.variables.len()];
                let mut lead = Lead { output: lesser, lower, axes: unknown };
                follow(&mut lead, &difference, axes, &leaf.sides);
                leaf.leads.push(lead);
            }
        }
    })?;
    leaf.leads.retain(|lead| !leaf.refuted.contains(lead.output));
    Ok(())
}

/// Returns whether bounds refute the output at a known point at which the choice is undecided.
pub(crate) fn refuted_at(asked: &mut Asked<'_, '_>, point: &[i64]) -> Result<bool, StopReason> {
    let mut state = vec![0; asked.prepared.axes.least_dimensions];
    for (&variable, &value) in asked.prepared.axes.variables.iter().zip(point) {
        state[variable] = value;
    }
    let point = IntBox::point(point);
    let inputs = Inputs::new(&asked.prepared.axes.reads, &point);
    let outputs = asked.prepared.applicable.len();
    let competing = |other: usize| {
        !asked.prepared.is_filtered() || asked.prepared.applicable[other].holds(&state) == Ok(true)
    };
    let pairs: Vec<(usize, usize)> = (0..outputs)
        .filter(|&other| other != asked.output && competing(other))
        .map(|other| (other, asked.output))
        .collect();
    let (policy, output) = (asked.prepared.policy, asked.output);
    let mut lost = false;
    // Choices of trees are always decided.
    let ScoreBounds::Network(network) = &mut asked.prepared.function else { return Ok(false) };
    let frame = RegionFrame::new(network.bounder.program(), inputs.lo, inputs.hi);
    let budget: &mut Budget = asked.budget;
    let compared = Compared { pairs: &pairs, certain: pairs.len() };
    network.bounder.enter(&frame, (&frame.lo, &frame.hi), compared, budget)?;
    let lost_by = &mut |d: ScoreDifference<'_>| {
        lost |= policy.requires(output, d.greater).is_excluded_by(d.lower);
    };
    network.bounder.differences(&frame, &pairs, budget, lost_by)?;
    Ok(lost)
}

/// Notes what a bound that does not refute says about where to go on.
fn follow(lead: &mut Lead, difference: &ScoreDifference<'_>, axes: &Axes, sides: &IntBox) {
    let mut slopes: Numbers = smallvec![0.0; axes.reads.len()];
    let mut influence: Numbers = smallvec![0.0; axes.reads.len()];
    difference.add_plane(&mut slopes, &mut influence);
    lead.lower = difference.lower;
    lead.axes.fill((0.0, 0.0));
    for ((&axis, slope), influence) in axes.reads.iter().zip(slopes).zip(influence) {
        #[expect(clippy::cast_precision_loss, reason = "a heuristic")]
        let width = sides[axis].lo.abs_diff(sides[axis].hi) as f64;
        lead.axes[axis].0 += slope;
        lead.axes[axis].1 += influence * width;
    }
}

/// A number for each network input.
type Numbers = SmallVec<[f64; 32]>;
