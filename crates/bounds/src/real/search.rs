//! Branch and bound over parts of a region, the most promising one first.
//!
//! Two searches take turns where neither way to split is the better one from the start
//! ([`Strategy`]); the one that ends first has the answer. The second one gets a small share of
//! the work, and begins anew with what the first one has left wherever that is little.

use std::iter::zip;
use std::sync::Arc;

use policert_engine_api::{Budget, StopReason};
use policert_numeric::Rational;
use policert_numeric::simplex::Feasibility;

use super::ascent::{Ascended, Multipliers};
use super::polytope::Polytope;
use super::problem::{Constraint, RealProblem};
use super::queue::{Queue, RealPart, Strategy};
use super::record::{PartTree, QueueNumber, RecordedStep};
use super::sample::Draws;
use super::split::{MANY_VARIABLES, Split};
use super::trim::trim;
use super::{RealAnswer, RealOracle, UndecidedReason};
use crate::frame::RegionFrame;
use crate::planes::{self, Joint, PlaneRow};

/// The result of the work on a part.
enum PartResult {
    Refuted,
    Satisfied(Vec<Rational>),
    /// The remaining part, its split, and its distance from satisfying the inequalities.
    Split(RealPart, Split, f64),
    /// Planes cut off most of it.
    Trimmed(RealPart, f64),
    /// Too small to be split.
    Stuck,
}

/// What all planes of a part leave.
struct Meeting {
    rows: Vec<PlaneRow>,
    /// Likely points.
    likely: [Vec<f64>; 2],
    /// How far the whole is from satisfying the inequalities.
    distance: f64,
    /// By slot how much each function is relaxed, where that is known.
    gaps: Option<Vec<f64>>,
}

/// The search for one question.
#[derive(Debug)]
pub(super) struct RealSearch {
    pub problem: RealProblem,
    /// The remaining parts, once or twice.
    queues: Vec<Queue>,
    /// True if there was a second queue.
    forked: bool,
    pub constraints: Vec<Constraint>,
    pub frame: Arc<RegionFrame>,
    /// The whole box.
    pub whole: RealPart,
    /// Magnitudes of the variables.
    pub sizes: Vec<f64>,
    /// For each variable how much the planes depend on its side.
    pub influence: Vec<f64>,
    /// For each slot how much the planes of the scores depend on it.
    pub effects: Vec<f64>,
    pub draws: Draws,
    /// Parts that were not refuted.
    pub looked_at: u64,
    /// Sizes of the constraints.
    pub scales: Vec<f64>,
    /// True if multipliers are improved in each part: worth its time where few parts can be cut
    /// small.
    ascends: bool,
    /// True if points are looked at as soon as the bounds of the whole leave it open.
    pub looks_first: bool,
    /// Exact work of the part at hand, in linear forms.
    exact_work: u64,
    /// The position of the question among those that were asked together.
    disjunct: usize,
    /// The parts, where a proof is to be made of them.
    tree: Option<PartTree>,
    /// The multipliers that refuted the part at hand.
    refuting: Option<Arc<Multipliers>>,
    /// The number of queues so far.
    queues_made: QueueNumber,
}

/// The first so many parts, and then every such one, are searched by descent.
const DESCENTS: u64 = 4;
const BETWEEN_DESCENTS: u64 = 4;
/// With so many undecided parts the question is given up.
const MANY_STUCK: usize = 64;
/// If at most this many functions bend in the whole region, no sides are cut.
const SMALL_NETWORK: usize = 20;
/// The second search does one part in so many of the work.
const SHARE: u64 = 12;
/// It begins anew where it can look so often at all that is left before the next time.
const OFTEN: usize = 16;
/// With at most so many open functions the simplex method follows an ascent.
const FEW_OPEN: usize = 6;
/// A part is not split where planes leave at most this share of it.
const TRIMMED: f64 = 0.25;
/// So often, one after the other.
const MANY_TRIMS: u32 = 8;
/// The work of a part besides its forms, and the number of steps of the simplex method that count
/// as a form.
const WORK_OF_PART: u64 = 4;
const STEPS_OF_FORM: u64 = 8;

impl RealSearch {
    /// `other` is the search for another question about the same network, maybe over the same box.
    pub fn new(
        oracle: &RealOracle,
        problem: RealProblem,
        disjunct: usize,
        other: Option<&Self>,
    ) -> Result<Self, UndecidedReason> {
        let (lo, hi) = problem.sides();
        let finite = |(lo, hi): (&f64, &f64)| lo.is_finite() && hi.is_finite();
        if let Some(variable) = zip(&lo, &hi).position(|side| !finite(side)) {
            return Err(UndecidedReason::Unbounded { variable });
        }
        let inputs = |sides: &[f64]| oracle.reads.iter().map(|&v| sides[v]).collect();
        let program = oracle.bounder.program();
        let frame = match other {
            Some(other) if other.whole.lo == lo && other.whole.hi == hi => Arc::clone(&other.frame),
            _ => Arc::new(RegionFrame::new(program, inputs(&lo), inputs(&hi))),
        };
        let sizes: Vec<f64> = zip(&lo, &hi).map(|(lo, hi)| lo.abs().max(hi.abs())).collect();
        let constraints = problem.constraints(&frame.magnitude[program.range(program.output)]);
        let scores = &frame.magnitude[program.range(program.output)];
        let scales = constraints.iter().map(|constraint| constraint.size(scores, &sizes)).collect();
        let ascends = oracle.reads.len() > MANY_VARIABLES;
        let strategy = if ascends { Strategy::Bends } else { Strategy::Sides };
        let influence = vec![0.0; lo.len()];
        let whole = RealPart::of(lo, hi);
        Ok(Self {
            problem,
            queues: vec![Queue::of(whole.clone(), strategy, 0)],
            forked: false,
            constraints,
            frame,
            sizes,
            influence,
            effects: vec![0.0; program.slots],
            draws: Draws::new(),
            looked_at: 0,
            scales,
            ascends,
            looks_first: false,
            exact_work: 0,
            disjunct,
            tree: oracle.records.is_some().then(PartTree::new),
            refuting: None,
            queues_made: 1,
            whole,
        })
    }

    /// Looks at some parts more; an answer ends the search.
    pub fn advance(
        &mut self,
        oracle: &mut RealOracle,
        parts: usize,
        budget: &mut Budget,
    ) -> Result<Option<RealAnswer>, StopReason> {
        for _ in 0..parts {
            let at = self.turn();
            let Some(queue) = self.queues.get_mut(at) else {
                return Ok(Some(RealAnswer::Undecided(UndecidedReason::NotPiecewiseLinear)));
            };
            if queue.stuck == MANY_STUCK {
                self.queues.remove(at);
                continue;
            }
            let number = queue.number;
            let (part, strategy) = match queue.pop() {
                Some(part) => (part, queue.strategy),
                None if queue.stuck == 0 => {
                    let steps =
                        self.tree.take().map(|tree| self.recorded_steps(oracle, &tree, number));
                    oracle.record(self.disjunct, steps);
                    return Ok(Some(RealAnswer::Unsat));
                }
                None => {
                    self.queues.remove(at);
                    continue;
                }
            };
            budget.poll()?;
            budget.check_states(self.queues.iter().map(Queue::len).sum())?;
            oracle.statistics.parts += 1;
            let forms = oracle.bounder.forms_done;
            self.exact_work = 0;
            self.refuting = None;
            let looked_at = self.tree.is_some().then(|| part.clone());
            let outcome = self.look_at(oracle, part, strategy, number, budget)?;
            self.queues[at].work +=
                WORK_OF_PART + oracle.bounder.forms_done - forms + self.exact_work;
            match outcome {
                PartResult::Refuted => {
                    if let (Some(tree), Some(part)) = (&mut self.tree, &looked_at) {
                        let known = self.refuting.take().map(|multipliers| (multipliers, part));
                        tree.refute(part.number, number, known);
                    }
                }
                PartResult::Satisfied(point) => return Ok(Some(RealAnswer::Sat(point))),
                PartResult::Stuck => self.queues[at].stuck += 1,
                PartResult::Trimmed(mut part, distance) => {
                    part.trims += 1;
                    self.queues[at].push(part, promise(oracle, distance));
                }
                PartResult::Split(mut part, split, distance) => {
                    part.trims = 0;
                    let distance = promise(oracle, distance);
                    match split {
                        Split::Side { .. } => oracle.statistics.bisections += 1,
                        Split::Bend { .. } => oracle.statistics.bends += 1,
                    }
                    let numbers =
                        self.tree.as_mut().map(|tree| tree.split(part.number, number, split));
                    let parts = zip(split.parts(oracle, part), numbers.unwrap_or_default());
                    for (mut part, number) in parts.filter(|(part, _)| !part.is_empty()) {
                        part.number = number;
                        self.queues[at].push(part, distance);
                    }
                }
            }
            if at == 0 {
                self.begin_anew();
            }
        }
        Ok(None)
    }

    /// The steps of a queue that is finished.
    fn recorded_steps(
        &self,
        oracle: &RealOracle,
        tree: &PartTree,
        queue: QueueNumber,
    ) -> Vec<RecordedStep> {
        tree.steps(queue, oracle.bounder.program(), &self.problem, &self.scales)
    }

    /// Whose turn it is.
    fn turn(&self) -> usize {
        match self.queues.as_slice() {
            [first, second] if second.work * (SHARE - 1) < first.work => 1,
            _ => 0,
        }
    }

    /// From time to time the second search goes on with what the first one has left.
    fn begin_anew(&mut self) {
        let [first, second] = self.queues.as_mut_slice() else { return };
        let is_time = first.taken.is_power_of_two() && first.taken.trailing_zeros() % 2 == 0;
        let left = u64::try_from(first.len() * OFTEN).unwrap_or(u64::MAX);
        if is_time && first.taken > second.taken && left <= first.taken {
            *second = first.with_strategy(Strategy::Bends, self.queues_made);
            self.queues_made += 1;
            second.work = first.work / (SHARE - 1);
        }
    }

    fn look_at(
        &mut self,
        oracle: &mut RealOracle,
        mut part: RealPart,
        strategy: Strategy,
        queue: QueueNumber,
        budget: &mut Budget,
    ) -> Result<PartResult, StopReason> {
        let inputs = |sides: &[f64]| -> Vec<f64> {
            oracle.reads.iter().map(|&variable| sides[variable]).collect()
        };
        let (lo, hi) = (inputs(&part.lo), inputs(&part.hi));
        if !oracle.bounder.enter_part(&self.frame, &lo, &hi, &part.bends, budget)? {
            oracle.statistics.by_plane += 1;
            return Ok(PartResult::Refuted);
        }
        self.influence.fill(0.0);
        self.effects.fill(0.0);
        let bends = !self.ascends;
        let Some((rows, distance)) = self.rows(oracle, &part, bends, budget)? else {
            oracle.statistics.by_plane += 1;
            return Ok(PartResult::Refuted);
        };
        let Some(Meeting { rows, likely, distance, gaps }) =
            self.meet(oracle, &mut part, rows, distance, budget)?
        else {
            oracle.statistics.jointly += 1;
            return Ok(PartResult::Refuted);
        };
        if let Some(point) = self.check(oracle, &likely.concat(), budget)? {
            return Ok(PartResult::Satisfied(point));
        }
        self.looked_at += 1;
        if self.looked_at < DESCENTS || self.looked_at.is_multiple_of(BETWEEN_DESCENTS) {
            let [start, _] = likely;
            let end = self.descend(oracle, &start, budget)?;
            if let Some(point) = self.check(oracle, &end, budget)? {
                return Ok(PartResult::Satisfied(point));
            }
        }
        if self.looks_first
            && self.looked_at == 1
            && let Some(point) = self.first_look(oracle, budget)?
        {
            return Ok(PartResult::Satisfied(point));
        }
        if let Some(point) = self.sample(oracle, budget)? {
            return Ok(PartResult::Satisfied(point));
        }
        let open = self.open_functions(oracle, &part);
        if oracle.has_pieces() && open.is_empty() {
            return self.decide_exactly(oracle, &part, budget);
        }
        let before = self.tree.is_some().then(|| (part.lo.clone(), part.hi.clone()));
        let Some(share) = trim(&mut part, &rows) else {
            oracle.statistics.jointly += 1;
            return Ok(PartResult::Refuted);
        };
        if let (Some(tree), Some((lo, hi))) = (&mut self.tree, before)
            && (lo, hi) != (part.lo.clone(), part.hi.clone())
        {
            part.number = tree.trim(part.number, queue, &part);
        }
        if share <= TRIMMED && part.trims < MANY_TRIMS {
            return Ok(PartResult::Trimmed(part, distance));
        }
        let bending = self.bending(oracle, &open);
        let strategy = self.fork(&part, strategy, bending);
        Ok(match self.split(oracle, &part, &open, gaps.as_deref(), strategy) {
            Some(split) => PartResult::Split(part, split, distance),
            None => PartResult::Stuck,
        })
    }

    /// What all planes of the part that was entered last say together; `None` if they contradict
    /// each other. Keeps multipliers that were improved with the part.
    fn meet(
        &mut self,
        oracle: &mut RealOracle,
        part: &mut RealPart,
        mut rows: Vec<PlaneRow>,
        distance: f64,
        budget: &mut Budget,
    ) -> Result<Option<Meeting>, StopReason> {
        let centre: Vec<f64> =
            zip(&part.lo, &part.hi).map(|(lo, hi)| lo / 2.0 + hi / 2.0).collect();
        if self.ascends {
            let Ascended { bound, multipliers, point, gaps } = self.ascend(oracle, part, budget)?;
            if let Some(row) = self.mixed_row(oracle, part, &multipliers, budget)? {
                if row.is_refuted(&part.lo, &part.hi) {
                    self.refuting = Some(Arc::new(multipliers));
                    return Ok(None);
                }
                rows.push(row);
            }
            part.multipliers = Some(Arc::new(multipliers));
            let mut meeting =
                Meeting { rows, likely: [point, centre], distance: bound, gaps: Some(gaps) };
            if oracle.bounder.relaxed().len() <= FEW_OPEN {
                // The best multipliers, where there is hardly a slope to choose.
                let Some((more, _)) = self.rows(oracle, part, true, budget)? else {
                    return Ok(None);
                };
                meeting.rows.extend(more);
                match planes::joint(&part.lo, &part.hi, &meeting.rows, budget)? {
                    Joint::Contradictory => return Ok(None),
                    Joint::Point(point) => meeting.likely[0] = point,
                    Joint::Unclear => {}
                }
            }
            return Ok(Some(meeting));
        }
        let likely = match planes::joint(&part.lo, &part.hi, &rows, budget)? {
            Joint::Contradictory => return Ok(None),
            Joint::Point(point) => [point, centre],
            Joint::Unclear => [centre.clone(), centre],
        };
        Ok(Some(Meeting { rows, likely, distance, gaps: None }))
    }

    /// Decides a part in which no function that matters bends.
    fn decide_exactly(
        &mut self,
        oracle: &mut RealOracle,
        part: &RealPart,
        budget: &mut Budget,
    ) -> Result<PartResult, StopReason> {
        let Some(exact) = oracle.exact() else { return Ok(PartResult::Stuck) };
        let polytope = Polytope {
            exact,
            bounder: &oracle.bounder,
            reads: &oracle.reads,
            lo: &self.problem.lo,
            hi: &self.problem.hi,
            inequalities: &self.problem.exact,
        };
        if !polytope.has_small_steps() {
            return Ok(PartResult::Stuck);
        }
        let (mut stopped, mut steps) = (Ok(()), 0);
        let found = polytope.decide(part, || {
            steps += 1;
            stopped = budget.poll();
            stopped.is_ok()
        });
        stopped?;
        oracle.statistics.polytopes += 1;
        self.exact_work += steps / STEPS_OF_FORM;
        Ok(match found {
            Feasibility::Infeasible(_) => PartResult::Refuted,
            Feasibility::Feasible(point) if self.satisfies(oracle, &point) => {
                PartResult::Satisfied(point)
            }
            Feasibility::Feasible(_) | Feasibility::Open => PartResult::Stuck,
        })
    }

    /// The strategy for a part in which `bending` functions bend. If it is all that is left and its
    /// sides would be cut, they are not cut if few functions bend; else a second search starts from
    /// here. Where smooth functions are open, too, sides are cut once no function bends.
    fn fork(&mut self, part: &RealPart, strategy: Strategy, bending: usize) -> Strategy {
        let [first] = self.queues.as_mut_slice() else { return strategy };
        let is_all = first.len() == 0 && first.stuck == 0;
        if self.forked || !is_all || bending == 0 || strategy == Strategy::Bends {
            return strategy;
        }
        self.forked = true;
        if bending <= SMALL_NETWORK {
            first.strategy = Strategy::Bends;
            return Strategy::Bends;
        }
        let mut second = Queue::of(part.clone(), Strategy::Bends, self.queues_made);
        self.queues_made += 1;
        second.work = first.work / (SHARE - 1);
        self.queues.push(second);
        strategy
    }
}

/// The priority of a waiting part. Where parts may end undecided it is better to see that soon:
/// depth first.
fn promise(oracle: &RealOracle, distance: f64) -> f64 {
    if oracle.has_pieces() { distance } else { 0.0 }
}
