//! The stages on one leaf of a decision map: judging points, what is known there, where to cut it.

use std::time::Instant;

use policert_engine_api::StopReason;
use policert_model::{Condition, State, Truth};
use policert_numeric::IntBox;
use policert_policy::Choice;

use crate::asked::Asked;
use crate::decision_map::MapNode;
use crate::enumerate::points;
use crate::guess::candidates;
use crate::output_set::OutputSet;
use crate::refute::refuted_at;
use crate::refute_trees::tree_cut;
use crate::split::{Cut, halve};
use crate::statistics::Stage;
use crate::tighten::{Restriction, Satisfied, satisfy};
use crate::witness::{completed, reaches, witness_at};

/// Steps of the search for a point that satisfies the conditions, to be judged as a guess.
const GUESS_STEPS: usize = 24;

/// The end of the work on a leaf.
pub(crate) enum LeafVisit {
    Witness(State),
    /// There is no witness in it.
    Done,
    /// More is known of it now: it was cut, or all its points were judged.
    Again,
}

/// Returns whether the output loses in the part that the query needs, against one that is
/// applicable there if not in the whole leaf.
pub(crate) fn beaten_here(
    asked: &Asked<'_, '_>,
    leaf: &MapNode,
    restriction: &Restriction<'_>,
) -> bool {
    leaf.beaten_by.get(asked.output).is_some_and(|winners| {
        winners.iter().any(|winner| {
            let condition: &Condition = &asked.prepared.applicable[winner];
            condition.truth(&restriction.sides) == Truth::True
        })
    })
}

/// Returns whether the output is chosen wherever it is applicable: all others are refuted, and the choice is
/// never empty.
pub(crate) fn chosen_everywhere(asked: &Asked<'_, '_>, leaf: &MapNode) -> bool {
    let outputs = asked.prepared.applicable.len();
    leaf.refuted.len() == outputs - 1 && asked.prepared.policy.always_chooses()
}

/// Judges points of a leaf.
fn judge(asked: &mut Asked<'_, '_>, leaf: &MapNode, points: &[i64]) -> Vec<Choice> {
    let mut choices = Vec::new();
    asked.prepared.judge(points, &leaf.truths, &mut choices);
    choices
}

/// Judges all points of a leaf.
pub(crate) fn enumerate(asked: &mut Asked<'_, '_>, leaf: &mut MapNode) {
    let started = Instant::now();
    let mut all = Vec::new();
    points(&leaf.sides, &mut all);
    let choices = judge(asked, leaf, &all);
    let always = asked.prepared.policy.always_chooses();
    leaf.learn_all(choices, always);
    asked.finish(Stage::Enumerate, started);
}

/// Returns whether a leaf has a point in the query's part that satisfies its conditions and at
/// which the choice is undecided.
pub(crate) fn undecided_points(
    asked: &mut Asked<'_, '_>,
    leaf: &MapNode,
    restriction: &Restriction<'_>,
) -> Result<bool, StopReason> {
    let output = asked.output;
    let is_open = |index: &usize| leaf.choices[*index].contains(output).is_none();
    for index in (0..leaf.known()).filter(is_open) {
        let point = leaf.point(index);
        if reaches(asked, &point, restriction)
            && completed(asked, &point, restriction)?.is_some()
            && !refuted_at(asked, &point)?
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Judges likely points; the end of the work on the leaf if that ends it.
pub(crate) fn guess(
    asked: &mut Asked<'_, '_>,
    leaf: &mut MapNode,
    restriction: &Restriction<'_>,
    needed: &IntBox,
) -> Result<Option<LeafVisit>, StopReason> {
    let started = Instant::now();
    let mut points = Vec::new();
    if !restriction.open.is_empty() {
        match satisfy(restriction, GUESS_STEPS, asked.budget)? {
            Satisfied::No => {
                asked.finish(Stage::Guess, started);
                return Ok(Some(LeafVisit::Done));
            }
            Satisfied::By(state) => {
                points.extend(asked.prepared.axes.variables.iter().map(|&v| state[v]));
            }
            Satisfied::Unknown => {}
        }
    }
    candidates(needed, &leaf.leads, &asked.prepared.memory, asked.output, &mut points);
    let choices = judge(asked, leaf, &points);
    asked.finish(Stage::Guess, started);
    let mut witness = None;
    for (point, choice) in points.chunks_exact(needed.dimensions()).zip(&choices) {
        if witness.is_none() {
            witness = witness_at(asked, point, choice, restriction)?;
        }
    }
    leaf.learn(&points, choices);
    Ok(witness.map(LeafVisit::Witness))
}

/// Looks for a witness by coordinate ascent from where the plane of the bounds is least.
pub(crate) fn climb(
    asked: &mut Asked<'_, '_>,
    leaf: &mut MapNode,
    restriction: &Restriction<'_>,
    needed: &IntBox,
) -> Result<Option<State>, StopReason> {
    if !asked.closed {
        return Ok(None);
    }
    let started = Instant::now();
    let mut start = Vec::new();
    candidates(needed, &leaf.leads, &asked.prepared.memory, asked.output, &mut start);
    start.truncate(needed.dimensions());
    let competes = |other: usize| leaf.truths.get(other).is_none_or(|truth| *truth != Truth::False);
    let others = (0..leaf.outputs).filter(|&other| other != asked.output && competes(other));
    let rivals: Vec<usize> = others.collect();
    let mut state = restriction.representative();
    let axes = asked.prepared.axes.variables.clone();
    let mut allowed = |point: &[i64]| {
        for (&variable, &value) in axes.iter().zip(point) {
            state[variable] = value;
        }
        restriction.holds(&state)
    };
    let found = asked.prepared.climb(needed, &start, asked.output, &rivals, &mut allowed);
    let mut witness = None;
    if let Some(point) = found {
        let choices = judge(asked, leaf, &point);
        if let Some(choice) = choices.first() {
            witness = witness_at(asked, &point, choice, restriction)?;
        }
        leaf.learn(&point, choices);
    }
    asked.finish(Stage::Guess, started);
    Ok(witness)
}

/// The cut of a leaf that helps most; `None` if it cannot be cut.
pub(crate) fn best_cut(asked: &mut Asked<'_, '_>, leaf: &MapNode, needed: &IntBox) -> Option<Cut> {
    let started = Instant::now();
    let is_beaten = |winners: &OutputSet| !winners.is_empty();
    let beaten_by = leaf.beaten_by.get(asked.output);
    // Where only applicability is open, thresholds of trees do not help.
    let trees = if beaten_by.is_some_and(is_beaten) { None } else { tree_cut(asked, leaf) };
    let contested = contested_axes(asked, leaf);
    let lead = leaf.lead(asked.output);
    let influence = |axis: usize| lead.map_or(0.0, |lead| lead.influence(axis));
    let cut = trees
        .or_else(|| halve(&leaf.sides, needed, |axis| contested[axis], influence))
        .or_else(|| halve(&leaf.sides, needed, |_| true, influence));
    asked.finish(Stage::Split, started);
    cut
}

/// The axes among which to choose a cut: those that decide whether an output is applicable
/// that would refute this one, else all that the network reads.
fn contested_axes(asked: &Asked<'_, '_>, leaf: &MapNode) -> Vec<bool> {
    let axes = &asked.prepared.axes;
    let mut contested = vec![false; axes.variables.len()];
    if let Some(winners) = leaf.beaten_by.get(asked.output) {
        for winner in winners.iter() {
            asked.prepared.applicable[winner].for_each_var(&mut |v| {
                if let Ok(axis) = axes.variables.binary_search(&v.index()) {
                    contested[axis] = true;
                }
            });
        }
    }
    if !contested.contains(&true) {
        axes.reads.iter().for_each(|&axis| contested[axis] = true);
    }
    contested
}
