//! The search that answers one query on a decision map: down the tree, stage by stage.

use std::time::Instant;

use policert_engine_api::{Answer, Budget, StopReason};
use policert_model::State;
use policert_numeric::IntInterval;

use crate::decision_map::{DecisionMap, Node, Progress, Sharing};
use crate::enumerate::count_up_to;
use crate::oracle::Oracle;
use crate::query::SelectionQuery;
use crate::split::trim;
use crate::statistics::Stage;
use crate::tighten::{Restriction, Satisfied, satisfy};

/// One query on its way through a map.
pub(crate) struct Search<'s, 'p, 'q> {
    pub map: &'s mut DecisionMap,
    pub oracle: &'s mut Oracle<'p>,
    pub budget: &'s mut Budget,
    pub output: usize,
    /// Whether the conditions are about the axes only.
    pub closed: bool,
    /// Whether a point was found at which the choice cannot be decided.
    pub undecided: bool,
    /// The most expensive stage so far.
    pub stage: Stage,
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

/// How the work on a leaf ended.
pub(crate) enum Visit {
    Witness(State),
    /// There is no witness in it.
    Done,
    /// More is known of it now: it was cut, or all its points were judged.
    Again,
}

impl<'q> Search<'_, '_, 'q> {
    fn search(&mut self) -> Result<Option<State>, StopReason> {
        let remembered = match self.stack.last() {
            Some((_, restriction)) => self.remembered_witness(&restriction.clone())?,
            None => None,
        };
        if let Some(witness) = remembered {
            return Ok(Some(witness));
        }
        while let Some((node, restriction)) = self.stack.pop() {
            self.budget.poll_clock()?;
            self.oracle.statistics.boxes += 1;
            let Some((node, restriction)) = self.descend(node, restriction) else { continue };
            match self.visit(node, &restriction)? {
                Visit::Witness(witness) => return Ok(Some(witness)),
                Visit::Done => {}
                Visit::Again => self.stack.push((node, restriction)),
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
                let slope = lead.map_or(0.0, |lead| lead.slope(cut.axis));
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
    fn visit(&mut self, node: usize, restriction: &Restriction<'q>) -> Result<Visit, StopReason> {
        if let Some(witness) = self.known_witness(node, restriction)? {
            return Ok(Visit::Witness(witness));
        }
        if self.beaten_here(node, restriction) {
            return Ok(Visit::Done);
        }
        if self.chosen_everywhere(node) {
            // Only the conditions matter.
            return Ok(match satisfy(restriction, usize::MAX, self.budget)? {
                Satisfied::By(point) => Visit::Witness(point),
                Satisfied::No | Satisfied::Unknown => Visit::Done,
            });
        }
        let progress = self.map.nodes[node].progress;
        if progress == Progress::Enumerated {
            self.undecided_points(node, restriction)?;
            return Ok(Visit::Done);
        }
        let needed = self.oracle.axes.project(&restriction.sides);
        if let Some(cut) = trim(&self.map.nodes[node].sides, &needed) {
            self.cut(node, cut);
            return Ok(Visit::Again);
        }
        if progress == Progress::Fresh {
            let limit = self.oracle.config.enumerated_points;
            if count_up_to(&self.map.nodes[node].sides, limit).is_some() {
                self.enumerate(node);
                return Ok(Visit::Again);
            }
            // Points that the parent knew will do to tell which outputs win here.
            if self.map.nodes[node].known() == 0
                && let Some(end) = self.guess(node, restriction, &needed)?
            {
                return Ok(end);
            }
            self.bound(node)?;
            if self.map.nodes[node].refuted.contains(self.output)
                || self.beaten_here(node, restriction)
            {
                return Ok(Visit::Done);
            }
        }
        if let Some(end) = self.guess(node, restriction, &needed)? {
            return Ok(end);
        }
        self.halve(node, &needed);
        Ok(Visit::Again)
    }
}
