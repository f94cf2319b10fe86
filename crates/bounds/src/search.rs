//! The search that answers one query on a decision map: down the tree, stage by stage.

use std::time::Instant;

use policert_engine_api::{Answer, Budget, StopReason};
use policert_model::{Condition, State};
use policert_numeric::IntInterval;
use policert_policy::{Choice, Ties};

use crate::decision_map::{DecisionMap, Node, Progress, Sharing};
use crate::enumerate::{count_up_to, points};
use crate::guess::candidates;
use crate::oracle::Oracle;
use crate::query::SelectionQuery;
use crate::split::{Cut, halve, trim};
use crate::statistics::Stage;
use crate::tighten::{Restriction, Satisfied, satisfy};

/// Steps of the search for a point that satisfies the conditions, to be judged as a guess.
const GUESS_STEPS: usize = 24;

/// One query on its way through a map.
pub(crate) struct Search<'s, 'p, 'q> {
    pub map: &'s mut DecisionMap,
    pub oracle: &'s mut Oracle<'p>,
    pub budget: &'s mut Budget,
    pub output: usize,
    /// Whether the conditions are about the axes only.
    closed: bool,
    /// Whether a point was found at which the choice cannot be decided.
    undecided: bool,
    /// The most expensive stage so far.
    stage: Stage,
    stack: Vec<(usize, Restriction<'q>)>,
}

impl Search<'_, '_, '_> {
    /// Decides a query.
    pub fn run(
        map: &mut DecisionMap,
        oracle: &mut Oracle<'_>,
        query: &SelectionQuery<'_>,
        budget: &mut Budget,
    ) -> Result<Answer<State>, StopReason> {
        oracle.statistics.queries += 1;
        let started = Instant::now();
        budget.poll()?;
        if query.output >= oracle.applicable.len() {
            // There is no such output.
            oracle.statistics.stage_mut(Stage::Tighten).refuted += 1;
            return Ok(Answer::Refuted);
        }
        let applicable = std::sync::Arc::clone(&oracle.applicable);
        let conditions =
            query.conditions.iter().copied().chain(std::iter::once(&applicable[query.output]));
        let sides = query.sides(oracle.axes.least_dimensions);
        let restriction = Restriction::new(sides, conditions);
        let tighten = oracle.statistics.stage_mut(Stage::Tighten);
        tighten.time += started.elapsed();
        let Some(restriction) = restriction else {
            tighten.refuted += 1;
            return Ok(Answer::Refuted);
        };
        let needed = oracle.axes.project(&restriction.sides);
        if map.nodes.is_empty() {
            map.nodes.push(Node::root(oracle, needed));
        } else if !map.nodes[0].sides.includes(&needed) {
            let mut own = DecisionMap::of_sides(oracle, Some(needed), Sharing::OneOutput);
            return Search::on(&mut own, oracle, budget, query.output, restriction);
        }
        Search::on(map, oracle, budget, query.output, restriction)
    }

    fn on<'q>(
        map: &mut DecisionMap,
        oracle: &mut Oracle<'_>,
        budget: &mut Budget,
        output: usize,
        restriction: Restriction<'q>,
    ) -> Result<Answer<State>, StopReason> {
        let axes = &oracle.axes.variables;
        let mut closed = true;
        for condition in &restriction.open {
            condition.for_each_var(&mut |v| closed &= axes.binary_search(&v.index()).is_ok());
        }
        let mut search = Search {
            map,
            oracle,
            budget,
            output,
            closed,
            undecided: false,
            stage: Stage::Recall,
            stack: vec![(0, restriction)],
        };
        let found = search.search()?;
        let (stage, undecided) = (search.stage, search.undecided);
        let statistics = &mut oracle.statistics;
        Ok(match found {
            Some(witness) => {
                statistics.stage_mut(stage).possible += 1;
                Answer::Possible(Some(witness))
            }
            None if undecided => {
                statistics.undecided += 1;
                Answer::Possible(None)
            }
            None => {
                statistics.stage_mut(stage).refuted += 1;
                Answer::Refuted
            }
        })
    }
}

/// What guessing found.
enum Guess {
    /// No point satisfies the conditions.
    Nothing,
    Witness(State),
    Open,
}

impl<'q> Search<'_, '_, 'q> {
    fn search(&mut self) -> Result<Option<State>, StopReason> {
        while let Some((node, restriction)) = self.stack.pop() {
            self.budget.poll_clock()?;
            self.oracle.statistics.boxes += 1;
            let Some((node, restriction)) = self.descend(node, restriction) else { continue };
            if let Some(witness) = self.visit(node, &restriction)? {
                return Ok(Some(witness));
            }
        }
        Ok(None)
    }

    /// Goes down to a leaf; parts that reach into the other side of a cut wait. `None` if the
    /// output is refuted.
    fn descend(
        &mut self,
        mut node: usize,
        mut restriction: Restriction<'q>,
    ) -> Option<(usize, Restriction<'q>)> {
        loop {
            if self.map.nodes[node].refuted.contains(self.output) {
                return None;
            }
            let Progress::Cut(cut, low) = self.map.nodes[node].progress else {
                return Some((node, restriction));
            };
            let variable = self.oracle.axes.variables[cut.axis];
            let side = restriction.sides[variable];
            if side.hi <= cut.at {
                node = low;
            } else if side.lo > cut.at {
                node = low + 1;
            } else {
                let below = IntInterval::new(IntInterval::UNBOUNDED_BELOW, cut.at);
                let above = IntInterval::new(cut.at + 1, IntInterval::UNBOUNDED_ABOVE);
                let lead = self.map.nodes[node].lead(self.output);
                let slope = lead.map_or(0.0, |lead| lead.slopes[cut.axis]);
                // The slope of how far the output is from being chosen: the better half first.
                let (first, second) = if slope < 0.0 {
                    ((low + 1, above), (low, below))
                } else {
                    ((low, below), (low + 1, above))
                };
                if !self.map.nodes[second.0].refuted.contains(self.output) {
                    let part = restriction.within(variable, second.1);
                    self.stack.extend(part.map(|part| (second.0, part)));
                }
                node = first.0;
                restriction = restriction.within(variable, first.1)?;
            }
        }
    }

    /// Works on a leaf.
    fn visit(
        &mut self,
        node: usize,
        restriction: &Restriction<'q>,
    ) -> Result<Option<State>, StopReason> {
        if let Some(witness) = self.known_witness(node, restriction, 0)? {
            return Ok(Some(witness));
        }
        if self.beaten_here(node, restriction) {
            return Ok(None);
        }
        if self.chosen_everywhere(node) {
            // Only the conditions matter.
            return Ok(match satisfy(restriction, usize::MAX, self.budget)? {
                Satisfied::By(point) => Some(point),
                Satisfied::No | Satisfied::Unknown => None,
            });
        }
        let progress = self.map.nodes[node].progress;
        if progress == Progress::Enumerated {
            return self.undecided_points(node, restriction).map(|()| None);
        }
        let needed = self.oracle.axes.project(&restriction.sides);
        if let Some(cut) = trim(&self.map.nodes[node].sides, &needed) {
            self.cut(node, cut);
            self.stack.push((node, restriction.clone()));
            return Ok(None);
        }
        if progress == Progress::Fresh {
            if count_up_to(&self.map.nodes[node].sides, self.oracle.config.enumerated_points)
                .is_some()
            {
                self.enumerate(node);
                let witness = self.known_witness(node, restriction, 0)?;
                if witness.is_none() {
                    self.undecided_points(node, restriction)?;
                }
                return Ok(witness);
            }
            // Points that the parent knew will do to tell which outputs win here.
            if self.map.nodes[node].known() == 0 {
                match self.guess(node, restriction)? {
                    Guess::Nothing => return Ok(None),
                    Guess::Witness(witness) => return Ok(Some(witness)),
                    Guess::Open => {}
                }
            }
            self.bound(node)?;
            if self.map.nodes[node].refuted.contains(self.output)
                || self.beaten_here(node, restriction)
            {
                return Ok(None);
            }
        }
        match self.guess(node, restriction)? {
            Guess::Nothing => return Ok(None),
            Guess::Witness(witness) => return Ok(Some(witness)),
            Guess::Open => {}
        }
        self.halve(node, restriction);
        self.stack.push((node, restriction.clone()));
        Ok(None)
    }

    /// A witness among the points of a leaf at which the choice is known, from the `from`-th on.
    fn known_witness(
        &mut self,
        node: usize,
        restriction: &Restriction<'q>,
        from: usize,
    ) -> Result<Option<State>, StopReason> {
        for index in from..self.map.nodes[node].known() {
            let leaf = &self.map.nodes[node];
            if leaf.choices[index].contains(self.output) != Some(true) {
                continue;
            }
            if let Some(witness) = self.completed(node, index, restriction)? {
                let leaf = &self.map.nodes[node];
                self.oracle.memory.keep(self.output, leaf.point(index));
                return Ok(Some(witness));
            }
        }
        Ok(None)
    }

    /// A known point with values for all other dimensions such that the conditions hold.
    fn completed(
        &mut self,
        node: usize,
        index: usize,
        restriction: &Restriction<'q>,
    ) -> Result<Option<State>, StopReason> {
        let point = self.map.nodes[node].point(index);
        let axes = &self.oracle.axes.variables;
        if !axes.iter().zip(point).all(|(&v, &x)| restriction.sides[v].contains(x)) {
            return Ok(None);
        }
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
    fn beaten_here(&self, node: usize, restriction: &Restriction<'q>) -> bool {
        let leaf = &self.map.nodes[node];
        leaf.beaten_by.get(self.output).is_some_and(|winners| {
            winners.iter().any(|winner| {
                let condition: &Condition = &self.oracle.applicable[winner];
                condition.truth(&restriction.sides) == policert_model::Truth::True
            })
        })
    }

    /// Whether the output is chosen wherever it is applicable: all others are refuted, and ties
    /// do not leave the choice empty.
    fn chosen_everywhere(&self, node: usize) -> bool {
        let outputs = self.oracle.applicable.len();
        self.map.nodes[node].refuted.len() == outputs - 1
            && self.oracle.policy().semantics().ties != Ties::Strict
    }

    fn cut(&mut self, node: usize, cut: Cut) {
        self.oracle.statistics.splits += 1;
        self.map.cut(self.oracle, node, cut);
    }

    /// Judges points and adds them to a leaf.
    pub(crate) fn judge(&mut self, node: usize, points: &[i64]) {
        let mut choices = Vec::new();
        let leaf = &mut self.map.nodes[node];
        self.oracle.judge(points, &leaf.truths, &mut choices);
        leaf.points.extend_from_slice(points);
        leaf.choices.append(&mut choices);
    }

    fn enumerate(&mut self, node: usize) {
        let started = Instant::now();
        let leaf = &mut self.map.nodes[node];
        leaf.points.clear();
        leaf.choices.clear();
        leaf.progress = Progress::Enumerated;
        let mut all = Vec::new();
        points(&leaf.sides, &mut all);
        self.judge(node, &all);
        self.finish(Stage::Enumerate, started);
    }

    /// Whether undecided points of an enumerated leaf matter.
    fn undecided_points(
        &mut self,
        node: usize,
        restriction: &Restriction<'q>,
    ) -> Result<(), StopReason> {
        for index in 0..self.map.nodes[node].known() {
            if !self.undecided
                && self.map.nodes[node].choices[index] == Choice::Undecided
                && self.completed(node, index, restriction)?.is_some()
                && !self.refuted_at(node, index)
            {
                self.undecided = true;
            }
        }
        Ok(())
    }

    /// Judges likely points.
    fn guess(&mut self, node: usize, restriction: &Restriction<'q>) -> Result<Guess, StopReason> {
        let started = Instant::now();
        let mut points = Vec::new();
        if !restriction.open.is_empty() {
            match satisfy(restriction, GUESS_STEPS, self.budget)? {
                Satisfied::No => {
                    self.finish(Stage::Guess, started);
                    return Ok(Guess::Nothing);
                }
                Satisfied::By(state) => {
                    points.extend(self.oracle.axes.variables.iter().map(|&v| state[v]));
                }
                Satisfied::Unknown => {}
            }
        }
        let needed = self.oracle.axes.project(&restriction.sides);
        let leaf = &self.map.nodes[node];
        candidates(&needed, &leaf.leads, &self.oracle.memory, self.output, &mut points);
        let known = leaf.known();
        self.judge(node, &points);
        self.finish(Stage::Guess, started);
        let witness = self.known_witness(node, restriction, known)?;
        Ok(witness.map_or(Guess::Open, Guess::Witness))
    }

    fn halve(&mut self, node: usize, restriction: &Restriction<'q>) {
        let started = Instant::now();
        let needed = self.oracle.axes.project(&restriction.sides);
        let leaf = &self.map.nodes[node];
        let contested = self.contested_axes(node);
        let lead = leaf.lead(self.output);
        let influence = |axis: usize| lead.map_or(0.0, |lead| lead.influence[axis]);
        let cut = halve(&leaf.sides, &needed, |axis| contested[axis], influence)
            .or_else(|| halve(&leaf.sides, &needed, |_| true, influence));
        if let Some(cut) = cut {
            self.cut(node, cut);
        }
        self.finish(Stage::Split, started);
    }

    /// The axes among which to choose a cut: those that decide whether an output is applicable
    /// that would refute this one, else all that the network reads.
    fn contested_axes(&self, node: usize) -> Vec<bool> {
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
