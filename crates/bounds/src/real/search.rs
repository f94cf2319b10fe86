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
use crate::planes::{self, Joint, PlaneRow};
use crate::symbolic::{Form, Term};

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
    problem: Problem,
    waiting: BinaryHeap<Waiting>,
    order: u64,
    /// Parts that are too small to be split.
    stuck: usize,
    pub constraints: Vec<Constraint>,
    frame: Frame,
    /// The whole box.
    pub whole: Part,
    /// Magnitudes of the variables.
    sizes: Vec<f64>,
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

/// So many functions are looked at one by one.
const FEW_FUNCTIONS: usize = 32;

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
        let open = self.open_functions(oracle);
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

    /// The planes of all inequalities and bends over the part that was entered last, and how far
    /// the farthest of them is from being satisfied; `None` if one is satisfied nowhere.
    fn rows(&mut self, oracle: &mut RealOracle, part: &Part) -> Option<(Vec<PlaneRow>, f64)> {
        let Self { constraints, frame, sizes, influence, effects, .. } = self;
        let RealOracle { bounder, reads, .. } = oracle;
        let program = bounder.program();
        let output = program.output;
        let mut groups: Vec<(usize, Vec<Form>)> = Vec::new();
        for bend in &part.bends {
            let node = program.node_of(bend.slot);
            let element = bend.slot - program.nodes[node].at;
            let factor = if bend.above { -1.0 } else { 1.0 };
            let form: Form = [Term { element, factor }].into_iter().collect();
            match groups.iter_mut().find(|(other, _)| *other == node) {
                Some((_, forms)) => forms.push(form),
                None => groups.push((node, vec![form])),
            }
        }
        let mut rows = Vec::with_capacity(constraints.len() + part.bends.len());
        let (mut refuted, mut distance) = (false, f64::NEG_INFINITY);
        let mut push = |row: PlaneRow, lower: f64| {
            distance = distance.max(planes::margin(lower, row.upper));
            rows.push(row);
        };
        let forms: Vec<Form> = constraints
            .iter()
            .filter(|constraint| !constraint.scores.is_empty())
            .map(|constraint| constraint.scores.clone())
            .collect();
        let mut own = constraints.iter().filter(|constraint| !constraint.scores.is_empty());
        let relaxed = bounder.relaxed();
        bounder.planes(frame, output, &forms, &mut |_, lower, plane| {
            let Some(constraint) = own.next() else { return };
            let mut slopes = vec![0.0; sizes.len()];
            for (input, &variable) in reads.iter().enumerate() {
                slopes[variable] += plane.slope(input);
            }
            let mut by_input = vec![0.0; reads.len()];
            plane.add_influence(&mut by_input);
            for (&variable, by) in zip(&*reads, by_input) {
                influence[variable] += by;
            }
            for &(node, element, slot) in &relaxed {
                effects[slot] += plane.effect(node, element).abs();
            }
            let is_plain = constraint.slopes.iter().all(|&slope| slope == 0.0);
            if is_plain && is_beyond(lower, constraint) {
                refuted = true;
            }
            let loss = planes::add_slopes(&mut slopes, &constraint.slopes, sizes);
            let upper =
                planes::upper_side(constraint.upper, planes::margin(plane.constant(), loss));
            push(PlaneRow { slopes, upper }, if is_plain { lower } else { f64::NEG_INFINITY });
        });
        if refuted {
            return None;
        }
        for constraint in constraints.iter().filter(|constraint| constraint.scores.is_empty()) {
            let row = PlaneRow { slopes: constraint.slopes.clone(), upper: constraint.upper };
            push(row, f64::NEG_INFINITY);
        }
        for (node, forms) in groups {
            let at = bounder.program().nodes[node].at;
            bounder.planes(frame, node, &forms, &mut |form, _, plane| {
                let term = forms[form][0];
                let bend = part.bends.iter().find(|bend| {
                    bend.slot == at + term.element && bend.above == (term.factor < 0.0)
                });
                let Some(bend) = bend else { return };
                let mut slopes = vec![0.0; sizes.len()];
                for (input, &variable) in reads.iter().enumerate() {
                    slopes[variable] += plane.slope(input);
                }
                let upper = planes::upper_side(term.factor * bend.at, plane.constant());
                push(PlaneRow { slopes, upper }, f64::NEG_INFINITY);
            });
        }
        if rows.iter().any(|row| row.is_refuted(&part.lo, &part.hi)) {
            return None;
        }
        Some((rows, distance))
    }

    /// One of the points that satisfies everything, exactly.
    fn check(&self, oracle: &mut RealOracle, points: &[f64]) -> Option<Vec<Rational>> {
        let excesses = self.excesses(oracle, points);
        for (point, excess) in zip(points.chunks_exact(self.whole.lo.len()), excesses) {
            if excess <= 0.0 {
                let exactly: Option<Vec<Rational>> =
                    point.iter().map(|&x| Rational::from_f64(x)).collect();
                if let Some(point) = exactly.filter(|point| self.satisfies(oracle, point)) {
                    return Some(point);
                }
            }
        }
        None
    }

    /// Whether a point satisfies everything, for certain.
    fn satisfies(&self, oracle: &mut RealOracle, point: &[Rational]) -> bool {
        oracle.statistics.checks += 1;
        let within = zip(zip(&self.problem.lo, &self.problem.hi), point)
            .all(|((lo, hi), x)| lo <= x && x <= hi);
        if !within {
            return false;
        }
        let inputs: Vec<Rational> =
            oracle.reads.iter().map(|&variable| point[variable].clone()).collect();
        if let Some(exact) = &oracle.exact {
            let mut values = point.to_vec();
            values.extend(exact.scores_at(&inputs));
            return self.problem.exact.iter().all(|inequality| inequality.holds(&values));
        }
        // Bounds of the scores at the point, by the worst value for each inequality.
        let lo = inputs.iter().map(|x| x.to_f64_interval().0).collect();
        let hi = inputs.iter().map(|x| x.to_f64_interval().1).collect();
        let bounds = Frame::scores(oracle.bounder.program(), lo, hi);
        self.problem.exact.iter().all(|inequality| {
            let mut values = point.to_vec();
            values.extend(bounds.iter().map(|_| Rational::ZERO));
            for (variable, coefficient) in &inequality.terms {
                if let Some(element) = variable.checked_sub(self.problem.dimensions) {
                    let (below, above) = bounds[element];
                    let worst = if coefficient.signum() > 0 { above } else { below };
                    let Some(worst) = Rational::from_f64(worst) else { return false };
                    values[*variable] = worst;
                }
            }
            inequality.holds(&values)
        })
    }

    /// The elements of functions that are not linear in the part that was entered last and that
    /// the inequalities depend on: node, element, slot. Those that they do not depend on are left
    /// out where it matters, that is where they are few.
    fn open_functions(&self, oracle: &RealOracle) -> Vec<(usize, usize, usize)> {
        let mut relaxed = oracle.bounder.relaxed();
        if relaxed.len() <= FEW_FUNCTIONS {
            let scores = self.constraints.iter().flat_map(|constraint| &constraint.scores);
            let relevant = oracle.bounder.relevant(scores.map(|term| term.element));
            relaxed.retain(|&(.., slot)| relevant[slot]);
        }
        relaxed
    }
}

/// Whether a lower bound of the left side contradicts an inequality over scores alone.
fn is_beyond(lower: f64, constraint: &Constraint) -> bool {
    if constraint.strict { lower >= constraint.upper } else { lower > constraint.upper }
}
