//! Checking bounds of the greatest or the least probability of reaching the unsafe states, given as
//! values by state. Of the greatest:
//!
//! **Upper**: u is one if no step that is allowed leads to more: Σ p u(s') ≤ u(s) for every choice in s,
//! with u = 1 in the target and in states that are not listed. **Lower**: l is one if in every state
//! with l > 0 some choice has Σ p l(s') ≥ l(s), and these choices leave the states with l > 0 for
//! ever, to the target or otherwise, with positive probability from each of them. Choices are taken
//! backwards from there, so that no scheduler has to be given. All sums are exact.
//!
//! Of the least, with the worst of free choices: **upper**: some choice in s has Σ p u(s') ≤ u(s), or
//! there is none. **Lower**: every choice in a state with l > 0 has Σ p l(s') ≥ l(s), there is one, and no
//! choices keep a run in states with l > 0 for ever.

mod least;
mod moves;
mod paths;
mod pieces;

use std::collections::{BTreeMap, BTreeSet};

use policert_engine_api::{
    Budget, Direction, EngineError, OverStarts, Question, ValuedPieces, ValuedState,
};
use policert_model::{Condition, ModelSemantics, ModellingError, OPERATOR_LIMIT, Operator, State};
use policert_numeric::Rational;
use policert_policy::Policy;
use thiserror::Error;

use crate::box_steps::BoxSteps;
use crate::invariant::ChoicesInBoxes;
use crate::scores::{Evaluations, Scorer};
use moves::{Move, Taken};
use pieces::{Bounded, BoundedCover, check_starts, is_start};

pub use paths::{WitnessPath, WitnessStep};

/// Says what the bounds are about.
#[derive(Clone, Copy, Debug)]
pub struct ProbabilityClaim<'a> {
    /// Model, start states and target: its unsafe states.
    pub question: &'a Question<'a>,
    /// The condition that has to hold until the target is reached.
    pub stay: &'a Condition,
    /// The policy; all actions are allowed without.
    pub policy: Option<&'a Policy>,
    /// The probability over all schedulers that is bounded.
    pub direction: Direction,
    /// True if the claim is about never reaching the target: 1 less the probability of reaching it.
    pub complement: bool,
    /// The function that makes one number of the probabilities from the start states.
    pub over: OverStarts,
}

/// Bounds that were checked.
#[derive(Clone, PartialEq, Debug)]
pub struct CertifiedProbability {
    /// The number that was asked for is at least this.
    pub lower: Rational,
    /// The number that was asked for is at most this.
    pub upper: Rational,
    /// Number of start states.
    pub starts: u64,
    /// By listed state: the operator that the scheduler takes, for the lower bounds of a greatest
    /// probability, for the upper bounds of a least one.
    pub taken: Vec<Option<policert_model::OperatorKey>>,
    /// The most probable paths of that scheduler from a start state to the target.
    pub paths: Vec<WitnessPath>,
}

/// Says why values are no bounds.
#[derive(Clone, PartialEq, Debug, Error)]
#[non_exhaustive]
pub enum ProbabilityError {
    /// A state that the model does not have, or that is listed twice.
    #[error("not a state of the model, or listed twice: {0}")]
    NoState(String),
    /// Values that are no bounds of a probability.
    #[error("the bounds of a state are no probabilities in order: {0}")]
    NoBounds(String),
    /// A step that leads to more than an upper bound.
    #[error("{operator} leads from {state} to more than its upper bound")]
    Upper { operator: String, state: String },
    /// A piece that leaves the domains of the variables, or whose bound is none of a probability.
    #[error("piece {0} leaves the domains of the variables, or its bound is no probability")]
    NoPiece(usize),
    /// A state of the target in a piece with a bound below 1.
    #[error("a piece with a bound below 1 contains a state of the target: {0}")]
    Target(String),
    /// A start state in no piece with a bound as low as the one that is claimed.
    #[error("a start state lies in no piece with a bound as low as the one that is claimed: {0}")]
    Start(String),
    /// A state with a lower bound that no scheduler reaches in this way.
    #[error("the lower bound of a state is not reached: {0}")]
    Lower(String),
    /// A modelling error.
    #[error(transparent)]
    Modelling(#[from] ModellingError),
    /// It was not decided.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl ProbabilityError {
    /// Returns whether it is a stop of the budget, which says nothing about the values.
    #[must_use]
    pub fn is_stop(&self) -> bool {
        matches!(self, Self::Engine(EngineError::Stop(_)))
    }
}

/// Checks that `values` are bounds of the greatest probability, and finds up to `most_paths` probable
/// paths.
///
/// # Errors
/// The fault of the claim, or a stop of the budget.
pub fn check_probability(
    claim: &ProbabilityClaim<'_>,
    values: &[ValuedState],
    most_paths: usize,
    budget: &mut Budget,
) -> Result<CertifiedProbability, ProbabilityError> {
    let operators = claim.question.model.operators(OPERATOR_LIMIT).map_err(EngineError::from)?;
    let check = Check::new(claim, values, None, &operators)?;
    let taken = match claim.direction {
        Direction::Max => check.steps(budget)?,
        Direction::Min => check.least_steps(budget)?,
    };
    let (mut known, mut bounds) = (BTreeSet::new(), [Vec::new(), Vec::new()]);
    let mut best: Option<(Rational, State)> = None;
    claim.question.for_each_start_state(budget, &mut |state| {
        if !known.insert(state.to_vec()) {
            return Ok(());
        }
        let [lo, hi] = check.bounds_of(&check.place(state));
        let (lo, hi) = match claim.complement {
            true => (&Rational::ONE - &hi, &Rational::ONE - &lo),
            false => (lo, hi),
        };
        // The start state that the number is about.
        let is_better = best.as_ref().is_none_or(|(value, _)| match claim.over {
            OverStarts::Greatest | OverStarts::Sum | OverStarts::Average => lo > *value,
            OverStarts::Least => hi < *value,
        });
        if is_better {
            let value = if claim.over == OverStarts::Least { &hi } else { &lo };
            best = Some((value.clone(), state.to_vec()));
        }
        bounds[0].push(lo);
        bounds[1].push(hi);
        Ok(())
    })?;
    let [lower, upper] = [&bounds[0], &bounds[1]].map(|values| claim.over.of(values));
    let starts = known.len() as u64;
    let best = best.map(|(_, start)| start);
    check.certified([lower, upper], best.as_ref(), starts, &taken, most_paths, budget)
}

/// Checks upper bounds by piece of the greatest probability, and lower bounds by state. `choices` refutes
/// labels in boxes. The number of start states is not found out, it is 0 in what is certified.
///
/// # Errors
/// The fault of the claim, or a stop of the budget.
pub fn check_pieces(
    claim: &ProbabilityClaim<'_>,
    values: &[ValuedState],
    claimed: &ValuedPieces,
    most_paths: usize,
    choices: &mut dyn ChoicesInBoxes,
    budget: &mut Budget,
) -> Result<CertifiedProbability, ProbabilityError> {
    let bounded = Bounded::new(claim, claimed)?;
    let question = claim.question;
    let operators = question.model.operators(OPERATOR_LIMIT).map_err(EngineError::from)?;
    let check = Check::new(claim, values, Some(&bounded), &operators)?;
    let steps = BoxSteps::new(question, claim.policy, &operators);
    let taken = check.steps(budget)?;
    check.check_pieces(&steps, &bounded, choices, budget)?;
    check_starts(&steps, &bounded, &claimed.start, budget)?;
    let mut best: Option<(Rational, &State)> = None;
    for value in values.iter().filter(|value| is_start(question, &value.state)) {
        let [lo, _] = check.bounds_of(&check.place(&value.state));
        if best.as_ref().is_none_or(|(most, _)| lo > *most) {
            best = Some((lo, &value.state));
        }
    }
    let lower = best.as_ref().map_or(Rational::ZERO, |(lo, _)| lo.clone());
    let best = best.map(|(_, start)| start);
    let bounds = [lower, claimed.start.clone()];
    check.certified(bounds, best, 0, &taken, most_paths, budget)
}

struct Check<'a> {
    claim: &'a ProbabilityClaim<'a>,
    semantics: ModelSemantics<'a>,
    scorer: Option<Scorer<'a>>,
    operators: &'a [Operator],
    values: &'a [ValuedState],
    exact: Vec<[Rational; 2]>,
    places: BTreeMap<&'a [i64], usize>,
    pieces: Option<BoundedCover<'a>>,
}

/// Says where a state stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    Target,
    /// The condition that had to hold does not, or the state is terminal.
    Failed,
    Listed(usize),
    /// In a piece, by its position among them.
    Within(usize),
    Elsewhere,
}

impl<'a> Check<'a> {
    fn new(
        claim: &'a ProbabilityClaim<'a>,
        values: &'a [ValuedState],
        pieces: Option<&'a Bounded>,
        operators: &'a [Operator],
    ) -> Result<Self, ProbabilityError> {
        if claim.policy.is_some_and(|policy| policy.semantics().at_least.is_some()) {
            let message = "bounds of a probability under a policy that draws probable labels only";
            return Err(EngineError::Unsupported(message.to_owned()).into());
        }
        let model = claim.question.model;
        let domains = model.domains();
        let pieces = pieces.map(Bounded::cover);
        let mut places = BTreeMap::new();
        let mut exact = Vec::with_capacity(values.len());
        for (at, value) in values.iter().enumerate() {
            let fits = value.state.len() == domains.dimensions() && domains.contains(&value.state);
            if !fits || places.insert(&value.state[..], at).is_some() {
                return Err(ProbabilityError::NoState(format!("{:?}", value.state)));
            }
            let [lo, hi] = value.bounds.map(Rational::from_f64);
            let of_piece = pieces.as_ref().map(|pieces| pieces.of_state(&value.state));
            let hi = hi.filter(|hi| *hi <= Rational::ONE);
            let hi = hi.map(|hi| of_piece.map_or(hi.clone(), |bound| bound.min(hi)));
            match (lo, hi) {
                (Some(lo), Some(hi)) if lo.signum() >= 0 && lo <= hi => {
                    exact.push([lo, hi]);
                }
                _ => return Err(ProbabilityError::NoBounds(model.display_state(&value.state))),
            }
        }
        let semantics = ModelSemantics { model, rule: claim.question.domain_rule };
        let scorer = claim.policy.map(|policy| Scorer::new(policy, Evaluations::All));
        Ok(Self { claim, semantics, scorer, operators, values, exact, places, pieces })
    }

    fn place(&self, state: &[i64]) -> Place {
        let question = self.claim.question;
        if question.is_unsafe(state) {
            Place::Target
        } else if self.claim.stay.holds(state) != Ok(true) || question.is_terminal(state) {
            Place::Failed
        } else {
            let within = || self.pieces.as_ref().and_then(|pieces| pieces.piece_of(state));
            match self.places.get(state) {
                Some(&at) => Place::Listed(at),
                None => within().map_or(Place::Elsewhere, Place::Within),
            }
        }
    }

    fn bounds_of(&self, place: &Place) -> [Rational; 2] {
        match place {
            Place::Target => [Rational::ONE, Rational::ONE],
            Place::Failed => [Rational::ZERO, Rational::ZERO],
            Place::Listed(at) => self.exact[*at].clone(),
            Place::Within(piece) => [Rational::ZERO, self.bound_of_piece(*piece)],
            Place::Elsewhere => [Rational::ZERO, Rational::ONE],
        }
    }

    fn bound_of_piece(&self, piece: usize) -> Rational {
        self.pieces.as_ref().map_or(Rational::ONE, |pieces| pieces.of_piece(piece))
    }

    /// What was certified of a number: with the paths from the start state that it is about.
    fn certified(
        &self,
        [lower, upper]: [Rational; 2],
        best: Option<&State>,
        starts: u64,
        taken: &[Option<Taken>],
        most_paths: usize,
        budget: &mut Budget,
    ) -> Result<CertifiedProbability, ProbabilityError> {
        let paths = match best {
            Some(start) if most_paths > 0 && self.claim.direction == Direction::Max => {
                self.paths(start, taken, most_paths, budget)?
            }
            _ => Vec::new(),
        };
        let key = |taken: &Taken| Some(self.operators[taken.operator?].key.clone());
        let taken = taken.iter().map(|taken| taken.as_ref().and_then(key)).collect();
        Ok(CertifiedProbability { lower, upper, starts, taken, paths })
    }

    /// Checks all steps; by listed state: what its lower bound rests on.
    fn steps(&self, budget: &mut Budget) -> Result<Vec<Option<Taken>>, ProbabilityError> {
        let count = self.values.len();
        // By state: the states and steps that may lead to it, and keep their lower bound.
        let mut sources: Vec<Vec<(usize, Taken)>> = vec![Vec::new(); count];
        let mut taken: Vec<Option<Taken>> = vec![None; count];
        let mut reached = Vec::new();
        let mut needed = vec![false; count];
        for (at, value) in self.values.iter().enumerate() {
            budget.poll().map_err(EngineError::from)?;
            if !matches!(self.place(&value.state), Place::Listed(_)) {
                continue;
            }
            let [lower, upper] = &self.exact[at];
            needed[at] = !lower.is_zero();
            if !needed[at] && *upper == Rational::ONE {
                continue;
            }
            for (position, step) in self.moves(&value.state)?.into_iter().enumerate() {
                if step.mean(self, 1) > *upper {
                    return Err(self.no_upper_bound(at, step.taken(position)));
                }
                if !needed[at] || !step.is_sure || step.mean(self, 0) < *lower {
                    continue;
                }
                if let Some(leaving) = self.note(at, (position, &step), &mut sources)
                    && taken[at].is_none()
                {
                    taken[at] = Some(leaving);
                    reached.push(at);
                }
            }
        }
        while let Some(at) = reached.pop() {
            for (source, step) in &sources[at] {
                if taken[*source].is_none() {
                    taken[*source] = Some(*step);
                    reached.push(*source);
                }
            }
        }
        match (0..count).find(|&at| needed[at] && taken[at].is_none()) {
            Some(at) => {
                let state = self.claim.question.model.display_state(&self.values[at].state);
                Err(ProbabilityError::Lower(state))
            }
            None => Ok(taken),
        }
    }

    fn no_upper_bound(&self, at: usize, taken: Taken) -> ProbabilityError {
        let model = self.claim.question.model;
        let operator = taken.operator.map_or("a label that is drawn".to_owned(), |operator| {
            model.display_operator(&self.operators[operator].key)
        });
        let state = model.display_state(&self.values[at].state);
        ProbabilityError::Upper { operator, state }
    }

    /// Notes to which states with a lower bound a step leads that keeps one; and how it leaves
    /// these states, if it may.
    fn note(
        &self,
        at: usize,
        (position, step): (usize, &Move),
        sources: &mut [Vec<(usize, Taken)>],
    ) -> Option<Taken> {
        let mut leaving = step.loses().then_some(step.taken(position));
        for (taken, place) in step.ways(position, self) {
            match place {
                Place::Listed(to) if !self.exact[to][0].is_zero() => sources[to].push((at, taken)),
                _ => leaving = leaving.or(Some(taken)),
            }
        }
        leaving
    }
}
