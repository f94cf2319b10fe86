//! The relaxed question about a tree ensemble, by branch and bound over products of leaves.
//!
//! Boxes are cut at the thresholds of the trees, the most promising box first, as in Veritas (Devos
//! et al. 2021): its promise is what the bounds of the scores leave at most, which never grows below
//! a cut. The variables range over the reals between the integers at the ends of a box; inputs
//! between a threshold and the next integer belong to no box. Where each tree has one leaf left, the
//! scores are constant, and the linear conditions alone decide, exactly. A point of the box is tried
//! each time, so that the search may end early.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use policert_engine_api::{Answer, Budget, StopReason};
use policert_model::{Condition, Truth};
use policert_numeric::simplex::{Feasibility, SimplexRow, feasible_point};
use policert_numeric::{IntBox, LinearInequality, Rational};

use crate::normal_form::NormalForm;
use crate::prepared::{PreparedPolicy, ScoreBounds};

/// The search for an answer.
#[derive(Debug)]
pub(crate) struct TreeSearch {
    output: usize,
    /// What a state satisfies, the output's applicability included.
    conditions: Vec<Condition>,
    waiting: BinaryHeap<Waiting>,
    order: u64,
    /// True if a part was left open.
    undecided: bool,
}

/// A box that waits.
#[derive(Debug)]
struct Waiting {
    sides: IntBox,
    promise: f64,
    order: u64,
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Waiting {}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Waiting {
    /// What promises most is the greatest, the latest among equals.
    fn cmp(&self, other: &Self) -> Ordering {
        self.promise.total_cmp(&other.promise).then(self.order.cmp(&other.order))
    }
}

/// What the bounds over a box leave open.
struct Contest {
    /// Rivals that are absent wherever the output is chosen.
    absent: Vec<usize>,
    /// How far the output is from losing, at most.
    promise: f64,
    /// Where the box is cut; `None` if all scores that matter are constant.
    cut: Option<(usize, i64)>,
}

impl TreeSearch {
    pub fn new(sides: IntBox, conditions: Vec<Condition>, output: usize) -> Self {
        let first = Waiting { sides, promise: f64::INFINITY, order: 0 };
        let waiting = BinaryHeap::from([first]);
        Self { output, conditions, waiting, order: 0, undecided: false }
    }

    /// Looks at about so many boxes more; an answer ends it.
    ///
    /// # Errors
    /// A stop of the budget.
    pub fn advance(
        &mut self,
        prepared: &mut PreparedPolicy<'_>,
        boxes: u64,
        budget: &mut Budget,
    ) -> Result<Option<Answer<Vec<Rational>>>, StopReason> {
        for _ in 0..boxes {
            let Some(Waiting { sides, .. }) = self.waiting.pop() else {
                let open = self.undecided;
                return Ok(Some(if open { Answer::Possible(None) } else { Answer::Refuted }));
            };
            budget.poll_clock()?;
            budget.check_states(self.waiting.len())?;
            prepared.statistics.boxes += 1;
            if let Some(point) = self.look_at(prepared, sides, budget)? {
                return Ok(Some(Answer::Possible(Some(point))));
            }
        }
        Ok(None)
    }

    /// Refutes a box, cuts it, or finds a point in it.
    fn look_at(
        &mut self,
        prepared: &mut PreparedPolicy<'_>,
        sides: IntBox,
        budget: &mut Budget,
    ) -> Result<Option<Vec<Rational>>, StopReason> {
        if sides.is_empty() {
            return Ok(None);
        }
        let Some(Contest { absent, promise, cut }) = contest(prepared, &sides, self.output) else {
            return Ok(None);
        };
        let mut form = NormalForm::constant(true);
        for condition in &self.conditions {
            form.add(&NormalForm::of(condition, &sides));
        }
        for rival in absent {
            form.add(&NormalForm::absence(&prepared.applicable[rival], &sides));
        }
        let mut point = None;
        for disjunct in &form.disjuncts {
            match satisfying(&sides, disjunct, budget)? {
                Linear::Infeasible => {}
                found => {
                    point = Some(found);
                    break;
                }
            }
        }
        let Some(point) = point else { return Ok(None) };
        let point = if let Linear::Point(point) = point { Some(point) } else { None };
        if let Some(point) = &point
            && self.is_state(prepared, point)
        {
            return Ok(Some(point.clone()));
        }
        match cut {
            Some((input, at)) => {
                let variable = prepared.policy.inputs()[input].index();
                for sides in sides.cut(variable, at) {
                    self.order += 1;
                    self.waiting.push(Waiting { sides, promise, order: self.order });
                }
                Ok(None)
            }
            // In single precision, what the bounds of the errors leave open need not be chosen.
            None if form.is_partial || prepared.policy.single().is_some() => {
                self.undecided = true;
                Ok(None)
            }
            None => {
                self.undecided |= point.is_none();
                Ok(point)
            }
        }
    }

    /// Returns whether a point is a state that satisfies everything and in which the policy chooses
    /// the output.
    fn is_state(&self, prepared: &mut PreparedPolicy<'_>, point: &[Rational]) -> bool {
        let state: Option<Vec<i64>> = point.iter().map(Rational::to_i64).collect();
        state.is_some_and(|state| {
            self.conditions.iter().all(|condition| condition.holds(&state) == Ok(true))
                && prepared.chooses(&state, self.output) == Some(true)
        })
    }
}

/// What the bounds of the scores over a box say; `None` if the output loses everywhere.
fn contest(prepared: &mut PreparedPolicy<'_>, sides: &IntBox, output: usize) -> Option<Contest> {
    let inputs = prepared.input_ranges(&prepared.axes.project(sides));
    let ScoreBounds::Trees(trees) = &mut prepared.function else { return None };
    trees.enter(inputs);
    let (mut absent, mut open) = (Vec::new(), Vec::new());
    for rival in (0..prepared.applicable.len()).filter(|&rival| rival != output) {
        let lower = trees.lower(rival, output);
        let competes = prepared.applicable[rival].truth(sides);
        let excludes = prepared.policy.requires(output, rival).is_excluded_by_units(lower);
        match (competes, excludes) {
            (Truth::True, true) => return None,
            (Truth::Maybe, true) => absent.push(rival),
            (Truth::True | Truth::Maybe, false) => open.push((lower, competes, rival)),
            (Truth::False, _) => {}
        }
    }
    open.sort_by_key(|&(lower, ..)| std::cmp::Reverse(lower));
    let closest = open.iter().find(|(_, competes, _)| *competes == Truth::True);
    let promise = closest.map_or(f64::INFINITY, |&(lower, ..)| -trees.score(lower));
    let cut = open.iter().find_map(|&(.., rival)| trees.cut(rival, output));
    Some(Contest { absent, promise, cut })
}

/// What linear inequalities say over a box.
enum Linear {
    Infeasible,
    Point(Vec<Rational>),
    /// A side without end is part of them.
    Open,
}

fn satisfying(
    sides: &IntBox,
    inequalities: &[LinearInequality],
    budget: &mut Budget,
) -> Result<Linear, StopReason> {
    if inequalities.is_empty() {
        let corner = sides.sides().iter().map(|side| Rational::from(side.nearest_to_zero()));
        return Ok(Linear::Point(corner.collect()));
    }
    if !sides.is_bounded() {
        return Ok(Linear::Open);
    }
    let rows: Vec<SimplexRow<Rational>> = inequalities
        .iter()
        .map(|inequality| {
            let mut coefficients = vec![Rational::ZERO; sides.dimensions()];
            for (variable, coefficient) in &inequality.terms {
                coefficients[*variable] = &coefficients[*variable] + coefficient;
            }
            SimplexRow { coefficients, upper: inequality.upper.clone(), strict: inequality.strict }
        })
        .collect();
    let lo: Vec<Rational> = sides.sides().iter().map(|side| Rational::from(side.lo)).collect();
    let hi: Vec<Rational> = sides.sides().iter().map(|side| Rational::from(side.hi)).collect();
    let mut stopped = Ok(());
    let found = feasible_point(&lo, &hi, &rows, || {
        stopped = budget.poll();
        stopped.is_ok()
    });
    stopped?;
    Ok(match found {
        Feasibility::Infeasible(_) => Linear::Infeasible,
        Feasibility::Feasible(point) => Linear::Point(point),
        Feasibility::Open => Linear::Open,
    })
}
