//! The relaxed question: as the exact one, with variables that range over the reals.

use policert_engine_api::{Answer, Budget, StopReason};
use policert_model::{Condition, LinearConstraint, Truth};
use policert_numeric::{IntBox, LinearInequality, Rational};

use crate::prepared::PreparedPolicy;
use crate::query::SelectionQuery;
use crate::real::{PrepareError, RealAnswer, RealOracle, Searches};

/// The number of parts after which the question is given up where functions are smooth, since cuts
/// may decide nothing there.
const MANY_SMOOTH_PARTS: u64 = 1 << 12;

/// With more disjuncts than that a condition is left out, which makes refutations rarer.
const MANY_DISJUNCTS: usize = 256;

/// A disjunction of conjunctions, and whether something was left out.
#[derive(Debug)]
struct NormalForm {
    disjuncts: Vec<Vec<LinearInequality>>,
    is_partial: bool,
}

impl NormalForm {
    /// Adds the conjunct that one of these disjunctions of conjunctions holds.
    fn add(&mut self, other: &Self) {
        self.is_partial |= other.is_partial;
        if self.disjuncts.len().saturating_mul(other.disjuncts.len()) > MANY_DISJUNCTS {
            self.is_partial = true;
            return;
        }
        let joined = |a: &Vec<LinearInequality>| -> Vec<Vec<LinearInequality>> {
            other.disjuncts.iter().map(|b| [a.as_slice(), b.as_slice()].concat()).collect()
        };
        self.disjuncts = self.disjuncts.iter().flat_map(joined).collect();
    }

    /// Adds a disjunct.
    fn add_disjuncts(&mut self, other: Self) {
        self.is_partial |= other.is_partial;
        self.disjuncts.extend(other.disjuncts);
    }

    fn constant(value: bool) -> Self {
        let disjuncts = if value { vec![Vec::new()] } else { Vec::new() };
        Self { disjuncts, is_partial: false }
    }

    /// A condition over the points of a box. What is not linear counts as true.
    fn of(condition: &Condition, sides: &IntBox) -> Self {
        match condition.truth(sides) {
            Truth::True => return Self::constant(true),
            Truth::False => return Self::constant(false),
            Truth::Maybe => {}
        }
        match condition {
            Condition::True => Self::constant(true),
            Condition::False => Self::constant(false),
            Condition::Linear(constraint) => {
                Self { disjuncts: vec![vec![over_reals(constraint)]], is_partial: false }
            }
            Condition::General { .. } => Self { is_partial: true, ..Self::constant(true) },
            Condition::And(parts) => parts.iter().fold(Self::constant(true), |mut all, part| {
                all.add(&Self::of(part, sides));
                all
            }),
            Condition::Or(parts) => parts.iter().fold(Self::constant(false), |mut all, part| {
                all.add_disjuncts(Self::of(part, sides));
                all
            }),
        }
    }
}

fn over_reals(constraint: &LinearConstraint) -> LinearInequality {
    let terms = constraint.terms.iter().map(|&(v, c)| (v.index(), Rational::from(c)));
    LinearInequality::new(terms, Rational::from(constraint.upper), false)
}

/// The query as a disjunction of linear inequalities over the variables and the scores.
fn relaxed_form(
    prepared: &PreparedPolicy<'_>,
    query: &SelectionQuery<'_>,
    sides: &IntBox,
) -> NormalForm {
    let dimensions = sides.dimensions();
    let bounds = sides.sides().iter().enumerate().filter(|(_, side)| side.is_bounded());
    let bounds = bounds.flat_map(|(variable, side)| {
        let bound = |factor: i64, upper: i64| {
            let terms = [(variable, Rational::from(factor))];
            LinearInequality::new(terms, Rational::from(upper), false)
        };
        let lower =
            LinearInequality::new([(variable, -Rational::ONE)], -Rational::from(side.lo), false);
        [bound(1, side.hi), lower]
    });
    let mut form = NormalForm { disjuncts: vec![bounds.collect()], is_partial: false };
    for condition in query.conditions {
        form.add(&NormalForm::of(condition, sides));
    }
    let output = query.output;
    form.add(&NormalForm::of(&prepared.applicable[output], sides));
    let policy = prepared.policy;
    for other in (0..prepared.applicable.len()).filter(|&other| other != output) {
        let required = policy.requires(output, other);
        // A rival that may lead by any number says nothing.
        let Some(lead) = required.greatest_lead() else { continue };
        let terms = [(dimensions + other, Rational::ONE), (dimensions + output, -Rational::ONE)];
        let wins = LinearInequality::new(terms, lead, required.is_strict());
        let mut wins_or_is_absent = NormalForm { disjuncts: vec![vec![wins]], is_partial: false };
        // ¬(a condition holds) is more than its negation where it may have no value.
        let absent = match prepared.applicable[other].truth(sides) {
            Truth::True => NormalForm::constant(false),
            Truth::False => NormalForm::constant(true),
            Truth::Maybe if is_total(&prepared.applicable[other]) => {
                NormalForm::of(&prepared.applicable[other].negate(), sides)
            }
            Truth::Maybe => NormalForm { is_partial: true, ..NormalForm::constant(true) },
        };
        wins_or_is_absent.add_disjuncts(absent);
        form.add(&wins_or_is_absent);
    }
    form
}

/// The oracle over the reals, for states of so many variables.
fn take_real(
    prepared: &mut PreparedPolicy<'_>,
    dimensions: usize,
    budget: &mut Budget,
) -> Result<Option<RealOracle>, StopReason> {
    let mut real = match prepared.real.take() {
        Some(real) => real,
        None => {
            let policy = prepared.policy;
            // Tree ensembles over the reals are left undecided.
            let Some(network) = policy.ranking() else { return Ok(None) };
            let reads = policy.inputs().iter().map(|v| v.index()).collect();
            match RealOracle::new(network, reads, dimensions, budget) {
                Ok(real) => real,
                Err(PrepareError::Stopped(reason)) => return Err(reason),
                Err(PrepareError::Network(_)) => return Ok(None),
            }
        }
    };
    real.set_dimensions(dimensions);
    Ok(Some(real))
}

/// Returns whether a condition has a truth value everywhere.
fn is_total(condition: &Condition) -> bool {
    match condition {
        Condition::True | Condition::False | Condition::Linear(_) => true,
        Condition::General { expr, .. } => expr.is_total(),
        Condition::And(parts) | Condition::Or(parts) => parts.iter().all(is_total),
    }
}

/// The search for the answer of a relaxed query, which may pause.
#[derive(Debug)]
pub(crate) struct RelaxedSearch {
    /// The answer where there is nothing to search.
    answer: Option<Answer<Vec<Rational>>>,
    searches: Option<Searches>,
    is_partial: bool,
    dimensions: usize,
    /// After so many parts the question is given up, if at all.
    parts_left: Option<u64>,
}

impl RelaxedSearch {
    /// The search for the answer of a relaxed query.
    pub fn new(
        prepared: &mut PreparedPolicy<'_>,
        query: &SelectionQuery<'_>,
        budget: &mut Budget,
    ) -> Result<Self, StopReason> {
        let sides = query.sides(prepared.axes.least_dimensions);
        let form = match sides.is_empty() {
            true => NormalForm::constant(false),
            false => relaxed_form(prepared, query, &sides),
        };
        let mut parts_left = None;
        let searches = match take_real(prepared, sides.dimensions(), budget)? {
            Some(mut real) => {
                parts_left = (!real.is_piecewise_linear()).then_some(MANY_SMOOTH_PARTS);
                let searches = real.searches(&form.disjuncts, budget);
                prepared.real = Some(real);
                Some(searches?)
            }
            None => None,
        };
        let answer = form.disjuncts.is_empty().then_some(Answer::Refuted);
        let (is_partial, dimensions) = (form.is_partial, sides.dimensions());
        Ok(Self { answer, searches, is_partial, dimensions, parts_left })
    }

    /// Looks at about so many parts more; an answer ends it.
    pub fn advance(
        &mut self,
        prepared: &mut PreparedPolicy<'_>,
        parts: u64,
        budget: &mut Budget,
    ) -> Result<Option<Answer<Vec<Rational>>>, StopReason> {
        if let Some(answer) = &self.answer {
            return Ok(Some(answer.clone()));
        }
        let (Some(searches), Some(mut real)) =
            (&mut self.searches, take_real(prepared, self.dimensions, budget)?)
        else {
            return Ok(Some(Answer::Possible(None)));
        };
        let parts = self.parts_left.map_or(parts, |left| left.min(parts));
        let answer = searches.advance(&mut real, parts, budget);
        prepared.real = Some(real);
        let answer = answer?.map(|answer| match answer {
            RealAnswer::Unsat => Answer::Refuted,
            RealAnswer::Sat(point) if !self.is_partial => Answer::Possible(Some(point)),
            RealAnswer::Sat(_) | RealAnswer::Undecided(_) => Answer::Possible(None),
        });
        if answer.is_none() {
            self.parts_left = self.parts_left.map(|left| left - parts);
            if self.parts_left == Some(0) {
                self.answer = Some(Answer::Possible(None));
            }
        }
        Ok(answer.or_else(|| self.answer.clone()))
    }
}
