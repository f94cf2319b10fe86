//! The work of a search on one leaf of a decision map: judging points, and what is known there.

use std::time::Instant;

use policert_engine_api::StopReason;
use policert_model::{Condition, State, Truth};
use policert_numeric::{IntBox, IntInterval};
use policert_policy::{Choice, Ties};

use crate::enumerate::points;
use crate::guess::candidates;
use crate::output_set::OutputSet;
use crate::search::{Search, Visit};
use crate::split::{Cut, halve};
use crate::statistics::Stage;
use crate::tighten::{Restriction, Satisfied, satisfy};

/// Steps of the search for a point that satisfies the conditions, to be judged as a guess.
const GUESS_STEPS: usize = 24;

impl<'q> Search<'_, '_, 'q> {
    /// A witness among the points of a leaf at which the choice is known.
    pub(crate) fn known_witness(
        &mut self,
        node: usize,
        restriction: &Restriction<'q>,
    ) -> Result<Option<State>, StopReason> {
        for index in 0..self.map.nodes[node].known() {
            let leaf = &self.map.nodes[node];
            if leaf.choices[index].contains(self.output) == Some(true) {
                let (point, choice) = (leaf.point(index), leaf.choices[index].clone());
                if let Some(witness) = self.witness_at(&point, &choice, restriction)? {
                    return Ok(Some(witness));
                }
            }
        }
        Ok(None)
    }

    /// The witness at a point with this choice, if there is one.
    fn witness_at(
        &mut self,
        point: &[i64],
        choice: &Choice,
        restriction: &Restriction<'q>,
    ) -> Result<Option<State>, StopReason> {
        if choice.contains(self.output) != Some(true) || !self.reaches(point, restriction) {
            return Ok(None);
        }
        let witness = self.completed(point, restriction)?;
        if witness.is_some() {
            self.oracle.memory.keep(self.output, Box::from(point));
        }
        Ok(witness)
    }

    /// A witness among those of earlier queries.
    pub(crate) fn remembered_witness(
        &mut self,
        restriction: &Restriction<'q>,
    ) -> Result<Option<State>, StopReason> {
        let inside: Vec<Box<[i64]>> = self
            .oracle
            .memory
            .of(self.output)
            .filter(|point| self.reaches(point, restriction))
            .map(Box::from)
            .collect();
        for point in inside {
            if let Some(witness) = self.completed(&point, restriction)? {
                return Ok(Some(witness));
            }
        }
        Ok(None)
    }

    /// The witness at a point, if the output is chosen there.
    pub(crate) fn witness_if_chosen(
        &mut self,
        point: &[i64],
        whole: &Restriction<'q>,
    ) -> Result<Option<State>, StopReason> {
        let filtered = self.oracle.is_filtered();
        let truths = vec![Truth::Maybe; if filtered { self.oracle.applicable.len() } else { 0 }];
        let mut choices = Vec::new();
        self.oracle.judge(point, &truths, &mut choices);
        match choices.first() {
            Some(choice) => self.witness_at(point, choice, whole),
            None => Ok(None),
        }
    }

    /// Whether a point, given by its coordinates along the axes, lies in the box of a query.
    fn reaches(&self, point: &[i64], restriction: &Restriction<'q>) -> bool {
        let axes = &self.oracle.axes.variables;
        axes.iter().zip(point).all(|(&v, &x)| restriction.sides[v].contains(x))
    }

    /// A point along the axes with values for all other dimensions such that the conditions hold.
    fn completed(
        &mut self,
        point: &[i64],
        restriction: &Restriction<'q>,
    ) -> Result<Option<State>, StopReason> {
        let axes = &self.oracle.axes.variables;
        if self.closed {
            let mut state = restriction.representative();
            for (&variable, &value) in axes.iter().zip(point) {
                state[variable] = value;
            }
            return Ok(restriction.holds(&state).then_some(state));
        }
        let mut part = restriction.clone();
        for (&variable, &value) in axes.iter().zip(point) {
            part.sides[variable] = IntInterval::point(value);
        }
        let Some(part) = part.tightened() else { return Ok(None) };
        Ok(match satisfy(&part, usize::MAX, self.budget)? {
            Satisfied::By(state) => Some(state),
            Satisfied::No | Satisfied::Unknown => None,
        })
    }

    /// Whether the output loses in the part that the query needs, against one that is applicable
    /// there if not in the whole leaf.
    pub(crate) fn beaten_here(&self, node: usize, restriction: &Restriction<'q>) -> bool {
        let leaf = &self.map.nodes[node];
        leaf.beaten_by.get(self.output).is_some_and(|winners| {
            winners.iter().any(|winner| {
                let condition: &Condition = &self.oracle.applicable[winner];
                condition.truth(&restriction.sides) == Truth::True
            })
        })
    }

    /// Whether the output is chosen wherever it is applicable: all others are refuted, and ties
    /// do not leave the choice empty.
    pub(crate) fn chosen_everywhere(&self, node: usize) -> bool {
        let outputs = self.oracle.applicable.len();
        self.map.nodes[node].refuted.len() == outputs - 1
            && self.oracle.policy().semantics().ties != Ties::Strict
    }

    pub(crate) fn cut(&mut self, node: usize, cut: Cut) {
        self.oracle.statistics.splits += 1;
        self.map.cut(self.oracle, node, cut);
    }

    /// Judges points of a leaf.
    fn judge(&mut self, node: usize, points: &[i64]) -> Vec<Choice> {
        let mut choices = Vec::new();
        self.oracle.judge(points, &self.map.nodes[node].truths, &mut choices);
        choices
    }

    pub(crate) fn enumerate(&mut self, node: usize) {
        let started = Instant::now();
        let mut all = Vec::new();
        points(&self.map.nodes[node].sides, &mut all);
        let choices = self.judge(node, &all);
        let ties = self.oracle.policy().semantics().ties;
        self.map.nodes[node].learn_all(choices, ties);
        self.finish(Stage::Enumerate, started);
    }

    /// Whether undecided points of an enumerated leaf matter.
    pub(crate) fn undecided_points(
        &mut self,
        node: usize,
        restriction: &Restriction<'q>,
    ) -> Result<(), StopReason> {
        for index in 0..self.map.nodes[node].known() {
            let leaf = &self.map.nodes[node];
            if self.undecided || leaf.choices[index] != Choice::Undecided {
                continue;
            }
            let point = leaf.point(index);
            if !self.reaches(&point, restriction) {
                continue;
            }
            self.undecided =
                self.completed(&point, restriction)?.is_some() && !self.refuted_at(&point)?;
        }
        Ok(())
    }

    /// Judges likely points; the end of the work on the leaf if that ends it.
    pub(crate) fn guess(
        &mut self,
        node: usize,
        restriction: &Restriction<'q>,
        needed: &IntBox,
    ) -> Result<Option<Visit>, StopReason> {
        let started = Instant::now();
        let mut points = Vec::new();
        if !restriction.open.is_empty() {
            match satisfy(restriction, GUESS_STEPS, self.budget)? {
                Satisfied::No => {
                    self.finish(Stage::Guess, started);
                    return Ok(Some(Visit::Done));
                }
                Satisfied::By(state) => {
                    points.extend(self.oracle.axes.variables.iter().map(|&v| state[v]));
                }
                Satisfied::Unknown => {}
            }
        }
        let leaf = &self.map.nodes[node];
        candidates(needed, &leaf.leads, &self.oracle.memory, self.output, &mut points);
        let choices = self.judge(node, &points);
        self.finish(Stage::Guess, started);
        let mut witness = None;
        for (point, choice) in points.chunks_exact(needed.dimensions()).zip(&choices) {
            if witness.is_none() {
                witness = self.witness_at(point, choice, restriction)?;
            }
        }
        self.map.nodes[node].learn(&points, choices);
        Ok(witness.map(Visit::Witness))
    }

    /// Looks for a witness by coordinate ascent from where the plane of the bounds is least.
    pub(crate) fn climb(
        &mut self,
        node: usize,
        restriction: &Restriction<'q>,
        needed: &IntBox,
    ) -> Result<Option<State>, StopReason> {
        if !self.closed {
            return Ok(None);
        }
        let started = Instant::now();
        let leaf = &self.map.nodes[node];
        let mut start = Vec::new();
        candidates(needed, &leaf.leads, &self.oracle.memory, self.output, &mut start);
        start.truncate(needed.dimensions());
        let competes =
            |other: usize| leaf.truths.get(other).is_none_or(|truth| *truth != Truth::False);
        let others = (0..leaf.outputs).filter(|&other| other != self.output && competes(other));
        let rivals: Vec<usize> = others.collect();
        let mut state = restriction.representative();
        let axes = self.oracle.axes.variables.clone();
        let mut allowed = |point: &[i64]| {
            for (&variable, &value) in axes.iter().zip(point) {
                state[variable] = value;
            }
            restriction.holds(&state)
        };
        let found = self.oracle.climb(needed, &start, self.output, &rivals, &mut allowed);
        let mut witness = None;
        if let Some(point) = found {
            let choices = self.judge(node, &point);
            if let Some(choice) = choices.first() {
                witness = self.witness_at(&point, choice, restriction)?;
            }
            self.map.nodes[node].learn(&point, choices);
        }
        self.finish(Stage::Guess, started);
        Ok(witness)
    }

    /// Cuts a leaf where that helps most.
    pub(crate) fn halve(&mut self, node: usize, needed: &IntBox) -> Visit {
        let started = Instant::now();
        let is_beaten = |winners: &OutputSet| !winners.is_empty();
        let beaten_by = self.map.nodes[node].beaten_by.get(self.output);
        // Where only applicability is open, thresholds of trees do not help.
        let trees = if beaten_by.is_some_and(is_beaten) { None } else { self.tree_cut(node) };
        let leaf = &self.map.nodes[node];
        let contested = self.contested_axes(node);
        let lead = leaf.lead(self.output);
        let influence = |axis: usize| lead.map_or(0.0, |lead| lead.influence(axis));
        let cut = trees
            .or_else(|| halve(&leaf.sides, needed, |axis| contested[axis], influence))
            .or_else(|| halve(&leaf.sides, needed, |_| true, influence));
        self.finish(Stage::Split, started);
        let Some(cut) = cut else {
            // A single point that was not enumerated: nothing more can be said.
            self.undecided = true;
            return Visit::Done;
        };
        self.cut(node, cut);
        Visit::Again
    }

    /// The axes among which to choose a cut: those that decide whether an output is applicable
    /// that would refute this one, else all that the network reads.
    pub(crate) fn contested_axes(&self, node: usize) -> Vec<bool> {
        let axes = &self.oracle.axes;
        let mut contested = vec![false; axes.variables.len()];
        if let Some(winners) = self.map.nodes[node].beaten_by.get(self.output) {
            for winner in winners.iter() {
                self.oracle.applicable[winner].for_each_var(&mut |v| {
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

    /// Books the time of a stage.
    pub(crate) fn finish(&mut self, stage: Stage, started: Instant) {
        self.stage = self.stage.max(stage);
        self.oracle.statistics.stage_mut(stage).time += started.elapsed();
    }
}
