//! The search that answers one query on a decision map: down the tree, stage by stage.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::time::Instant;

use policert_engine_api::{Answer, Budget, StopReason};
use policert_model::State;
use policert_numeric::IntInterval;

use crate::decision_map::{DecisionMap, Node, Progress, Sharing};
use crate::enumerate::count_up_to;
use crate::joint::OverReals;
use crate::oracle::Oracle;
use crate::query::SelectionQuery;
use crate::relaxed::RelaxedSearch;
use crate::split::trim;
use crate::statistics::Stage;
use crate::tighten::{Restriction, Satisfied, satisfy};

/// After how many boxes that bounds leave open to look for a witness by coordinate ascent. Where
/// queries are given up it takes longer than what it may save.
const CLIMBS: [u64; 8] = [1, 4, 16, 64, 256, 1024, 4096, 16384];

/// One query on its way through a map.
pub(crate) struct Search<'s, 'p, 'q> {
    pub map: &'s mut DecisionMap,
    pub oracle: &'s mut Oracle<'p>,
    pub budget: &'s mut Budget,
    pub output: usize,
    /// Outputs that the last bound compared with this one, with the lower bounds of their lead.
    pub rivals: Vec<(usize, f64)>,
    /// Whether the conditions are about the axes only.
    pub closed: bool,
    /// Boxes that bounds left open so far.
    pub open_boxes: u64,
    /// Whether a point was found at which the choice cannot be decided.
    pub undecided: bool,
    /// The most expensive stage so far.
    pub stage: Stage,
    /// The number of open boxes at which the question was asked over the reals last.
    pub asked_at: u64,
    /// The search over the reals, once it was begun.
    pub relaxed: Option<RelaxedSearch>,
    /// What waits, the most promising first.
    waiting: BinaryHeap<Part<'q>>,
    /// Parts that were put there so far.
    parts: u64,
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
        if oracle.refutations.around(query.output, &needed).is_some() {
            oracle.statistics.stage_mut(Stage::Recall).refuted += 1;
            return Ok(Answer::Refuted);
        }
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
            rivals: Vec::new(),
            closed,
            open_boxes: 0,
            undecided: false,
            stage: Stage::Recall,
            asked_at: 0,
            relaxed: None,
            waiting: BinaryHeap::new(),
            parts: 0,
        };
        let found = search.search(restriction)?;
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

/// A part of a box of the map that waits for its turn.
struct Part<'q> {
    /// How far the output is from losing there, as far as the bounds so far tell.
    promise: f64,
    /// Parts that promise the same: the latest first.
    number: u64,
    node: usize,
    restriction: Restriction<'q>,
}

impl Ord for Part<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.promise.total_cmp(&other.promise).then(self.number.cmp(&other.number))
    }
}

impl PartialOrd for Part<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Part<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Part<'_> {}

impl<'q> Search<'_, '_, 'q> {
    fn search(&mut self, restriction: Restriction<'q>) -> Result<Option<State>, StopReason> {
        if let Some(witness) = self.remembered_witness(&restriction)? {
            return Ok(Some(witness));
        }
        let whole = restriction.clone();
        self.wait(f64::INFINITY, 0, restriction);
        while let Some(part) = self.waiting.pop() {
            self.budget.poll_clock()?;
            if self.oracle.box_limit.is_some_and(|limit| self.open_boxes >= limit) {
                self.undecided = true;
                return Ok(None);
            }
            self.oracle.statistics.boxes += 1;
            let Some(Part { promise, node, restriction, .. }) = self.descend(part) else {
                continue;
            };
            match self.visit(node, &restriction)? {
                Visit::Witness(witness) => return Ok(Some(witness)),
                Visit::Done => {}
                Visit::Again => {
                    self.wait(promise, node, restriction);
                    match self.over_reals(&whole)? {
                        OverReals::Refuted => {
                            self.undecided = false;
                            let sides = self.oracle.axes.project(&whole.sides);
                            if whole.open.is_empty() && self.map.nodes[0].sides == sides {
                                self.map.nodes[0].refuted.insert(self.output);
                            }
                            return Ok(None);
                        }
                        OverReals::Witness(witness) => return Ok(Some(witness)),
                        OverReals::Open => {}
                    }
                }
            }
        }
        Ok(None)
    }

    fn wait(&mut self, promise: f64, node: usize, restriction: Restriction<'q>) {
        self.parts += 1;
        self.waiting.push(Part { promise, number: self.parts, node, restriction });
    }

    /// Goes down to a leaf; what reaches into both sides of a cut waits. `None` if nothing is
    /// left, or something else promises more.
    fn descend(&mut self, mut part: Part<'q>) -> Option<Part<'q>> {
        loop {
            let node = &self.map.nodes[part.node];
            if node.refuted.contains(self.output) {
                return None;
            }
            let Progress::Cut(cut, low) = node.progress else {
                return Some(part);
            };
            let variable = self.oracle.axes.variables[cut.axis];
            let side = part.restriction.sides[variable];
            if side.hi <= cut.at {
                part.node = low;
                continue;
            }
            if side.lo > cut.at {
                part.node = low + 1;
                continue;
            }
            // The plane of the lead is least at one end of the side; the other half starts this
            // much higher.
            let (mut promises, lead) = ([part.promise; 2], node.lead(self.output));
            if let Some(lead) = lead {
                let slope = lead.slope(cut.axis);
                #[expect(clippy::cast_precision_loss, reason = "a heuristic")]
                let lost = if slope < 0.0 {
                    slope * side.hi.abs_diff(cut.at) as f64
                } else {
                    -slope * (cut.at.abs_diff(side.lo) as f64 + 1.0)
                };
                let best = part.promise.min(-lead.lower);
                promises = if slope < 0.0 { [best + lost, best] } else { [best, best + lost] };
            }
            let halves = [
                IntInterval::new(IntInterval::UNBOUNDED_BELOW, cut.at),
                IntInterval::new(cut.at + 1, IntInterval::UNBOUNDED_ABOVE),
            ];
            for (i, half) in halves.into_iter().enumerate().rev() {
                if !self.map.nodes[low + i].refuted.contains(self.output)
                    && let Some(restriction) = part.restriction.within(variable, half)
                {
                    self.wait(promises[i], low + i, restriction);
                }
            }
            return None;
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
            let contradictory = self.bound(node, restriction)?;
            if contradictory
                || self.map.nodes[node].refuted.contains(self.output)
                || self.beaten_here(node, restriction)
            {
                return Ok(Visit::Done);
            }
        }
        if let Some(end) = self.guess(node, restriction, &needed)? {
            return Ok(end);
        }
        self.open_boxes += 1;
        if self.oracle.box_limit.is_none()
            && CLIMBS.contains(&self.open_boxes)
            && let Some(witness) = self.climb(node, restriction, &needed)?
        {
            return Ok(Visit::Witness(witness));
        }
        Ok(self.halve(node, &needed))
    }
}
