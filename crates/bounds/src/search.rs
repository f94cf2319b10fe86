//! The search that answers one query on a decision map: down the tree, stage by stage.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::time::Instant;

use policert_engine_api::{Answer, Budget, StopReason};
use policert_model::State;
use policert_numeric::{IntInterval, Rational};

use crate::asked::Asked;
use crate::decision_map::{DecisionMap, NodeProgress};
use crate::enumerate::count_up_to;
use crate::leaf::{
    LeafVisit, beaten_here, best_cut, chosen_everywhere, climb, enumerate, guess, undecided_points,
};
use crate::prepared::{PreparedPolicy, ScoreBounds};
use crate::query::SelectionQuery;
use crate::refute::bound;
use crate::refute_trees::bound_trees;
use crate::relaxed::RelaxedSearch;
use crate::split::{Cut, trim};
use crate::statistics::Stage;
use crate::tighten::{Restriction, Satisfied, satisfy};
use crate::witness::{known_witness, remembered_witness, witness_if_chosen};

/// After how many boxes that bounds leave open to look for a witness by coordinate ascent. Where
/// queries are given up it takes longer than what it may save.
const CLIMBS: [u64; 8] = [1, 4, 16, 64, 256, 1024, 4096, 16384];
/// After how many such boxes the question is asked over the reals, where functions are split at
/// their bends: better with many free inputs.
const RELAXED: [u64; 5] = [256, 1024, 4096, 16_384, 65_536];

/// The limits of a search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SearchLimits {
    /// Boxes of at most so many points are enumerated.
    pub points: usize,
    /// After how many boxes that bounds leave open a query is given up.
    pub boxes: Option<u64>,
}

/// One query on its way through a map.
pub(crate) struct QuerySearch<'s, 'p, 'q> {
    map: &'s mut DecisionMap,
    asked: Asked<'s, 'p>,
    limits: SearchLimits,
    /// Boxes that bounds left open so far.
    open_boxes: u64,
    /// True if a point was found at which the choice cannot be decided.
    undecided: bool,
    /// The number of open boxes at which the question was asked over the reals last.
    asked_at: u64,
    /// The search over the reals, once it was begun.
    relaxed: Option<RelaxedSearch>,
    /// The parts that wait, the most promising first.
    waiting: BinaryHeap<QueryPart<'q>>,
    /// Parts that were put there so far.
    parts: u64,
}

impl QuerySearch<'_, '_, '_> {
    /// Decides whether the policy chooses an output where a restriction holds, which is inside the
    /// region of the map.
    pub fn decide<'q>(
        map: &mut DecisionMap,
        prepared: &mut PreparedPolicy<'_>,
        limits: SearchLimits,
        output: usize,
        restriction: Restriction<'q>,
        budget: &mut Budget,
    ) -> Result<Answer<State>, StopReason> {
        let axes = &prepared.axes.variables;
        let mut closed = true;
        for condition in &restriction.open {
            condition.for_each_var(&mut |v| closed &= axes.binary_search(&v.index()).is_ok());
        }
        let mut search = QuerySearch {
            map,
            asked: Asked { prepared, budget, output, closed, stage: Stage::Recall },
            limits,
            open_boxes: 0,
            undecided: false,
            asked_at: 0,
            relaxed: None,
            waiting: BinaryHeap::new(),
            parts: 0,
        };
        let found = search.search(restriction)?;
        let (stage, undecided) = (search.asked.stage, search.undecided);
        let statistics = &mut prepared.statistics;
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

/// A part of a box of the map that waits for its turn.
struct QueryPart<'q> {
    /// The distance of the output from losing there, as far as the bounds so far tell.
    promise: f64,
    /// Parts that promise the same: the latest first.
    number: u64,
    node: usize,
    restriction: Restriction<'q>,
}

impl Ord for QueryPart<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.promise.total_cmp(&other.promise).then(self.number.cmp(&other.number))
    }
}

impl PartialOrd for QueryPart<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for QueryPart<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for QueryPart<'_> {}

impl<'q> QuerySearch<'_, '_, 'q> {
    fn search(&mut self, restriction: Restriction<'q>) -> Result<Option<State>, StopReason> {
        if let Some(witness) = remembered_witness(&mut self.asked, &restriction)? {
            return Ok(Some(witness));
        }
        let whole = restriction.clone();
        self.wait(f64::INFINITY, 0, restriction);
        while let Some(part) = self.waiting.pop() {
            self.asked.budget.poll_clock()?;
            if self.limits.boxes.is_some_and(|limit| self.open_boxes >= limit) {
                self.undecided = true;
                return Ok(None);
            }
            self.asked.prepared.statistics.boxes += 1;
            let Some(QueryPart { promise, node, restriction, .. }) = self.descend(part) else {
                continue;
            };
            match self.visit(node, &restriction)? {
                LeafVisit::Witness(witness) => return Ok(Some(witness)),
                LeafVisit::Done => {}
                LeafVisit::Again => {
                    self.wait(promise, node, restriction);
                    match self.over_reals(&whole)? {
                        OverReals::Refuted => {
                            self.undecided = false;
                            let sides = self.asked.prepared.axes.project(&whole.sides);
                            if whole.open.is_empty() && self.map.nodes[0].sides == sides {
                                self.map.nodes[0].refuted.insert(self.asked.output);
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
        self.waiting.push(QueryPart { promise, number: self.parts, node, restriction });
    }

    /// Goes down to a leaf; what reaches into both sides of a cut waits. `None` if nothing is
    /// left, or something else promises more.
    fn descend(&mut self, mut part: QueryPart<'q>) -> Option<QueryPart<'q>> {
        loop {
            let node = &self.map.nodes[part.node];
            if node.refuted.contains(self.asked.output) {
                return None;
            }
            let NodeProgress::Cut(cut, low) = node.progress else {
                return Some(part);
            };
            let variable = self.asked.prepared.axes.variables[cut.axis];
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
            let (mut promises, lead) = ([part.promise; 2], node.lead(self.asked.output));
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
                if !self.map.nodes[low + i].refuted.contains(self.asked.output)
                    && let Some(restriction) = part.restriction.within(variable, half)
                {
                    self.wait(promises[i], low + i, restriction);
                }
            }
            return None;
        }
    }

    /// Works on a leaf.
    fn visit(
        &mut self,
        node: usize,
        restriction: &Restriction<'q>,
    ) -> Result<LeafVisit, StopReason> {
        let (asked, leaf) = (&mut self.asked, &mut self.map.nodes[node]);
        if let Some(witness) = known_witness(asked, leaf, restriction)? {
            return Ok(LeafVisit::Witness(witness));
        }
        if beaten_here(asked, leaf, restriction) {
            return Ok(LeafVisit::Done);
        }
        if chosen_everywhere(asked, leaf) {
            // Only the conditions matter.
            return Ok(match satisfy(restriction, usize::MAX, asked.budget)? {
                Satisfied::By(point) => LeafVisit::Witness(point),
                Satisfied::No | Satisfied::Unknown => LeafVisit::Done,
            });
        }
        let progress = leaf.progress;
        if progress == NodeProgress::Enumerated {
            self.undecided = self.undecided || undecided_points(asked, leaf, restriction)?;
            return Ok(LeafVisit::Done);
        }
        let needed = asked.prepared.axes.project(&restriction.sides);
        if let Some(cut) = trim(&leaf.sides, &needed) {
            self.cut(node, cut);
            return Ok(LeafVisit::Again);
        }
        if progress == NodeProgress::Fresh {
            if count_up_to(&leaf.sides, self.limits.points).is_some() {
                enumerate(asked, leaf);
                return Ok(LeafVisit::Again);
            }
            // Points that the parent knew will do to tell which outputs win here.
            if leaf.known() == 0
                && let Some(end) = guess(asked, leaf, restriction, &needed)?
            {
                return Ok(end);
            }
            let contradictory = self.bound(node, restriction)?;
            let (asked, leaf) = (&self.asked, &self.map.nodes[node]);
            if contradictory
                || leaf.refuted.contains(asked.output)
                || beaten_here(asked, leaf, restriction)
            {
                return Ok(LeafVisit::Done);
            }
        }
        let (asked, leaf) = (&mut self.asked, &mut self.map.nodes[node]);
        if let Some(end) = guess(asked, leaf, restriction, &needed)? {
            return Ok(end);
        }
        self.open_boxes += 1;
        if self.limits.boxes.is_none()
            && CLIMBS.contains(&self.open_boxes)
            && let Some(witness) = climb(asked, leaf, restriction, &needed)?
        {
            return Ok(LeafVisit::Witness(witness));
        }
        match best_cut(asked, leaf, &needed) {
            Some(cut) => {
                self.cut(node, cut);
                Ok(LeafVisit::Again)
            }
            None => {
                // A single point that was not enumerated: nothing more can be said.
                self.undecided = true;
                Ok(LeafVisit::Done)
            }
        }
    }

    /// Bounds the scores in a leaf; whether that contradicts the conditions.
    fn bound(&mut self, node: usize, restriction: &Restriction<'q>) -> Result<bool, StopReason> {
        let Self { map, asked, .. } = self;
        let sharing = map.sharing;
        match &asked.prepared.function {
            ScoreBounds::Network(network) => {
                let reads = &asked.prepared.axes.reads;
                let (leaf, region) = map.bounded(network, reads, node);
                bound(asked, leaf, region, sharing, restriction)
            }
            ScoreBounds::Trees(_) => {
                bound_trees(asked, &mut map.nodes[node], sharing)?;
                Ok(false)
            }
        }
    }

    fn cut(&mut self, node: usize, cut: Cut) {
        self.asked.prepared.statistics.splits += 1;
        self.map.cut(self.asked.prepared, node, cut);
    }

    /// Asks the query over the reals for a while, if its time has come.
    fn over_reals(&mut self, whole: &Restriction<'q>) -> Result<OverReals, StopReason> {
        let has_bends = match &self.asked.prepared.function {
            ScoreBounds::Network(network) => network.bounder.is_split_at_bends(),
            // They are cut at their thresholds here as there.
            ScoreBounds::Trees(_) => false,
        };
        let is_time = RELAXED.contains(&self.open_boxes) && self.open_boxes != self.asked_at;
        if !has_bends || !is_time {
            return Ok(OverReals::Open);
        }
        self.asked_at = self.open_boxes;
        let started = Instant::now();
        let asked = &mut self.asked;
        let output = asked.output;
        let query = SelectionQuery { region: &whole.sides, conditions: &whole.open, output };
        let search = match &mut self.relaxed {
            Some(search) => search,
            none => none.insert(RelaxedSearch::new(asked.prepared, &query, asked.budget)?),
        };
        let answer = search.advance(asked.prepared, self.open_boxes, asked.budget)?;
        asked.finish(Stage::Split, started);
        Ok(match answer {
            Some(Answer::Refuted) => OverReals::Refuted,
            Some(Answer::Possible(Some(point))) => {
                let axes = &asked.prepared.axes.variables;
                let rounded: Option<Vec<i64>> =
                    axes.iter().map(|&variable| nearest(&point[variable])).collect();
                match rounded {
                    Some(rounded) => {
                        let witness = witness_if_chosen(asked, &rounded, whole)?;
                        witness.map_or(OverReals::Open, OverReals::Witness)
                    }
                    None => OverReals::Open,
                }
            }
            Some(Answer::Possible(None)) | None => OverReals::Open,
        })
    }
}

/// The answer over the reals, in terms of the question over the integers.
enum OverReals {
    /// There is no witness.
    Refuted,
    Witness(State),
    Open,
}

/// The nearest integer.
fn nearest(value: &Rational) -> Option<i64> {
    let half = Rational::new(1, 2)?;
    (value + &half).floor().to_i64()
}
