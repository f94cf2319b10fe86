//! The relaxed question: as the exact one, with variables that range over the reals.

use policert_engine_api::{Answer, Budget, StopReason};
use policert_numeric::{IntBox, LinearInequality, Rational};

use crate::normal_form::NormalForm;
use crate::prepared::{PreparedPolicy, ScoreBounds};
use crate::query::SelectionQuery;
use crate::real::{PrepareError, RealAnswer, RealOracle, Searches};
use crate::relaxed_trees::TreeSearch;

/// The number of parts after which the question is given up where functions are smooth, since cuts
/// may decide nothing there.
const MANY_SMOOTH_PARTS: u64 = 1 << 12;

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
        wins_or_is_absent.add_disjuncts(NormalForm::absence(&prepared.applicable[other], sides));
        form.add(&wins_or_is_absent);
    }
    form
}

/// The oracle over the reals, for states of so many variables; `None` for a tree ensemble, and for a
/// policy whose choice no network tells.
fn take_real(
    prepared: &mut PreparedPolicy<'_>,
    dimensions: usize,
    budget: &mut Budget,
) -> Result<Option<RealOracle>, StopReason> {
    let mut real = match prepared.real.take() {
        Some(real) => real,
        None => {
            let policy = prepared.policy;
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

/// The search for the answer of a relaxed query, which may pause.
#[derive(Debug)]
pub(crate) enum RelaxedSearch {
    /// There is nothing to search.
    Answered(Answer<Vec<Rational>>),
    Network(NetworkSearch),
    Trees(TreeSearch),
}

/// The search where the policy is a network.
#[derive(Debug)]
pub(crate) struct NetworkSearch {
    searches: Searches,
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
        if sides.is_empty() {
            return Ok(Self::Answered(Answer::Refuted));
        }
        if let ScoreBounds::Trees(_) = prepared.function {
            let own = std::iter::once(&prepared.applicable[query.output]);
            let conditions = query.conditions.iter().copied().chain(own).cloned().collect();
            return Ok(Self::Trees(TreeSearch::new(sides, conditions, query.output)));
        }
        let form = relaxed_form(prepared, query, &sides);
        if form.disjuncts.is_empty() {
            return Ok(Self::Answered(Answer::Refuted));
        }
        let Some(mut real) = take_real(prepared, sides.dimensions(), budget)? else {
            return Ok(Self::Answered(Answer::Possible(None)));
        };
        let parts_left = (!real.is_piecewise_linear()).then_some(MANY_SMOOTH_PARTS);
        let searches = real.searches(&form.disjuncts, budget);
        prepared.real = Some(real);
        let (is_partial, dimensions) = (form.is_partial, sides.dimensions());
        let searches = searches?;
        Ok(Self::Network(NetworkSearch { searches, is_partial, dimensions, parts_left }))
    }

    /// Looks at about so many parts more; an answer ends it.
    pub fn advance(
        &mut self,
        prepared: &mut PreparedPolicy<'_>,
        parts: u64,
        budget: &mut Budget,
    ) -> Result<Option<Answer<Vec<Rational>>>, StopReason> {
        match self {
            Self::Answered(answer) => Ok(Some(answer.clone())),
            Self::Network(search) => {
                let answer = search.advance(prepared, parts, budget)?;
                if let Some(answer) = &answer {
                    *self = Self::Answered(answer.clone());
                }
                Ok(answer)
            }
            Self::Trees(search) => search.advance(prepared, parts, budget),
        }
    }
}

impl NetworkSearch {
    fn advance(
        &mut self,
        prepared: &mut PreparedPolicy<'_>,
        parts: u64,
        budget: &mut Budget,
    ) -> Result<Option<Answer<Vec<Rational>>>, StopReason> {
        let Some(mut real) = take_real(prepared, self.dimensions, budget)? else {
            return Ok(Some(Answer::Possible(None)));
        };
        let parts = self.parts_left.map_or(parts, |left| left.min(parts));
        let answer = self.searches.advance(&mut real, parts, budget);
        prepared.real = Some(real);
        let answer = answer?.map(|answer| match answer {
            RealAnswer::Unsat => Answer::Refuted,
            RealAnswer::Sat(point) if !self.is_partial => Answer::Possible(Some(point)),
            RealAnswer::Sat(_) | RealAnswer::Undecided(_) => Answer::Possible(None),
        });
        self.parts_left = self.parts_left.map(|left| left - parts);
        let given_up = self.parts_left == Some(0);
        Ok(answer.or_else(|| given_up.then_some(Answer::Possible(None))))
    }
}
