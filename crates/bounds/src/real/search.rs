//! Branch and bound over parts of a region, the most promising one first.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::iter::zip;

use policert_engine_api::{Budget, StopReason};
use policert_numeric::Rational;
use policert_numeric::simplex::Feasibility;

use super::polytope::Polytope;
use super::problem::{Constraint, Problem};
use super::split::{MANY_VARIABLES, Split};
use super::{RealAnswer, RealOracle, Undecided};
use crate::bound::Bend;
use crate::frame::Frame;
use crate::planes::{self, Joint};

/// A box of the variables, where the arguments of some functions are on one side of a bend.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub lo: Vec<f64>,
    pub hi: Vec<f64>,
    pub bends: Vec<Bend>,
}

/// A part that waits, with how far its whole is from satisfying the inequalities.
#[derive(Debug)]
struct Waiting {
    part: Part,
    distance: f64,
    order: u64,
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Waiting {}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Waiting {
    /// The nearest is the greatest, the latest among equals.
    fn cmp(&self, other: &Self) -> Ordering {
        other.distance.total_cmp(&self.distance).then(self.order.cmp(&other.order))
    }
}

/// What became of a part.
enum Outcome {
    Refuted,
    Satisfied(Vec<Rational>),
    Split(Split, f64),
    /// Too small to be split.
    Stuck,
}

/// The search for one question.
#[derive(Debug)]
pub(super) struct Search {
    pub problem: Problem,
    waiting: BinaryHeap<Waiting>,
    order: u64,
    /// Parts that are too small to be split.
    stuck: usize,
    pub constraints: Vec<Constraint>,
    pub frame: Frame,
    /// The whole box.
    pub whole: Part,
    /// Magnitudes of the variables.
    pub sizes: Vec<f64>,
    /// For each variable how much the planes depend on its side.
    pub influence: Vec<f64>,
    /// For each slot how much the planes of the scores depend on it.
    pub effects: Vec<f64>,
    /// Parts that were not refuted.
    looked_at: u64,
    /// How often planes are drawn anew where the ones before leave room.
    rounds: usize,
}

/// The first so many parts, and then every such one, are searched by descent.
const DESCENTS: u64 = 4;
const BETWEEN_DESCENTS: u64 = 4;
/// With so many undecided parts the question is given up.
const MANY_STUCK: usize = 64;

impl Search {
    pub fn new(oracle: &RealOracle, problem: Problem) -> Result<Self, Undecided> {
        let (lo, hi) = problem.sides();
        let finite = |(lo, hi): (&f64, &f64)| lo.is_finite() && hi.is_finite();
        if let Some(variable) = zip(&lo, &hi).position(|side| !finite(side)) {
            return Err(Undecided::Unbounded { variable });
        }
        let inputs = |sides: &[f64]| oracle.reads.iter().map(|&v| sides[v]).collect();
        let program = oracle.bounder.program();
        let frame = Frame::new(program, inputs(&lo), inputs(&hi));
        let sizes = zip(&lo, &hi).map(|(lo, hi)| lo.abs().max(hi.abs())).collect();
        let constraints = problem.constraints(&frame.magnitude[program.range(program.output)]);
        let influence = vec![0.0; lo.len()];
        let whole = Part { lo, hi, bends: Vec::new() };
        let first = Waiting { part: whole.clone(), distance: f64::NEG_INFINITY, order: 0 };
        Ok(Self {
            problem,
            waiting: BinaryHeap::from([first]),
            order: 0,
            stuck: 0,
            constraints,
            frame,
            sizes,
            influence,
            effects: vec![0.0; program.slots],
            looked_at: 0,
            // Worth its time where few parts can be cut small.
            rounds: usize::from(oracle.reads.len() > MANY_VARIABLES),
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
            let Some(Waiting { part, .. }) = self.waiting.pop() else {
                return Ok(Some(if self.stuck > 0 {
                    RealAnswer::Undecided(Undecided::NotPiecewiseLinear)
                } else {
                    RealAnswer::Unsat
                }));
            };
            budget.poll()?;
            budget.check_states(self.waiting.len())?;
            oracle.statistics.parts += 1;
            match self.look_at(oracle, &part, budget)? {
                Outcome::Refuted => {}
                Outcome::Satisfied(point) => return Ok(Some(RealAnswer::Sat(point))),
                Outcome::Stuck => {
                    self.stuck += 1;
                    if self.stuck == MANY_STUCK {
                        let open = Undecided::NotPiecewiseLinear;
                        return Ok(Some(RealAnswer::Undecided(open)));
                    }
                }
                Outcome::Split(split, distance) => {
                    // Where parts may end undecided it is better to see that soon: depth first.
                    let distance = if oracle.exact.is_some() { distance } else { 0.0 };
                    match split {
                        Split::Side { .. } => oracle.statistics.bisections += 1,
                        Split::Bend { .. } => oracle.statistics.bends += 1,
                    }
                    for part in split.parts(part) {
                        self.order += 1;
                        self.waiting.push(Waiting { part, distance, order: self.order });
                    }
                }
            }
        }
        Ok(None)
    }

    fn look_at(
        &mut self,
        oracle: &mut RealOracle,
        part: &Part,
        budget: &mut Budget,
    ) -> Result<Outcome, StopReason> {
        let inputs = |sides: &[f64]| -> Vec<f64> {
            oracle.reads.iter().map(|&variable| sides[variable]).collect()
        };
        let (lo, hi) = (inputs(&part.lo), inputs(&part.hi));
        if !oracle.bounder.enter_part(&self.frame, &lo, &hi, &part.bends) {
            oracle.statistics.by_plane += 1;
            return Ok(Outcome::Refuted);
        }
        self.influence.fill(0.0);
        self.effects.fill(0.0);
        let Some((mut rows, distance)) = self.rows(oracle, part) else {
            oracle.statistics.by_plane += 1;
            return Ok(Outcome::Refuted);
        };
        let centre: Vec<f64> =
            zip(&part.lo, &part.hi).map(|(lo, hi)| lo / 2.0 + hi / 2.0).collect();
        let mut rounds = 0;
        let likely = loop {
            let point = match planes::joint(&part.lo, &part.hi, &rows) {
                Joint::Contradictory => {
                    oracle.statistics.jointly += 1;
                    return Ok(Outcome::Refuted);
                }
                Joint::Point(point) => point,
                Joint::Unclear => break [centre.clone(), centre],
            };
            if rounds == self.rounds {
                break [point, centre];
            }
            rounds += 1;
            // Planes that touch the functions where the ones so far leave room.
            let at: Vec<f64> = oracle.reads.iter().map(|&variable| point[variable]).collect();
            oracle.bounder.touch(&at);
            let Some((more, _)) = self.rows(oracle, part) else {
                oracle.statistics.by_plane += 1;
                return Ok(Outcome::Refuted);
            };
            rows.extend(more);
        };
        if let Some(point) = self.check(oracle, &likely.concat()) {
            return Ok(Outcome::Satisfied(point));
        }
        self.looked_at += 1;
        if self.looked_at < DESCENTS || self.looked_at.is_multiple_of(BETWEEN_DESCENTS) {
            let [start, _] = likely;
            let end = self.descend(oracle, &start);
            if let Some(point) = self.check(oracle, &end) {
                return Ok(Outcome::Satisfied(point));
            }
        }
        let open = self.open_functions(oracle, part);
        if let (Some(exact), true) = (&oracle.exact, open.is_empty()) {
            oracle.statistics.polytopes += 1;
            let polytope = Polytope {
                exact,
                bounder: &oracle.bounder,
                reads: &oracle.reads,
                lo: &self.problem.lo,
                hi: &self.problem.hi,
                inequalities: &self.problem.exact,
            };
            let mut stopped = None;
            let found = polytope.decide(part, || match budget.poll() {
                Ok(()) => true,
                Err(reason) => {
                    stopped = Some(reason);
                    false
                }
            });
            return match (stopped, found) {
                (Some(reason), _) => Err(reason),
                (None, Feasibility::Infeasible(_)) => Ok(Outcome::Refuted),
                (None, Feasibility::Feasible(point)) if self.satisfies(oracle, &point) => {
                    Ok(Outcome::Satisfied(point))
                }
                (None, _) => Ok(Outcome::Stuck),
            };
        }
        Ok(match self.split(oracle, part, &open) {
            Some(split) => Outcome::Split(split, distance),
            None => Outcome::Stuck,
        })
    }
}
