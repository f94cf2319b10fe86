//! Abstract state expansion (PPA 2022, Algorithm 1): its lines, the same for all abstract domains.
//!
//! | paper | here |
//! |---|---|
//! | lines 2 and 3 | [`Expansion::selected`] |
//! | lines 5 to 7 | [`Expansion::applicable`] |
//! | lines 10 to 23 | [`enumerate_states`] |
//! | lines 12 to 14 | [`Expansion::leads`] |
//! | dom(s'_𝒫) ≠ 𝒫 | [`Targets::open`] |
//! | entailment_by(p, b) | the truth of a literal's weakest precondition over the box of source states |
//!
//! The loops over labels and operators (lines 1 to 9) are those of each domain:
//!
//! | abstract states | file |
//! |---|---|
//! | truth values of given predicates: Algorithm 1 itself | `given.rs` |
//! | leaves of a tree of predicates, expanded as far as a search needs it | `cegar/successors.rs` |
//! | leaves, with distributions over all outcomes | `prob/expansion.rs` |
//!
//! Deviations:
//! - D1: an operator has several outcomes; lines 8 and 9 run for each.
//! - D2: operators of the environment (silent, or with a label that the policy does not output)
//!   have no policy tests.
//! - D3: s'_𝒫 starts from s_𝒫: predicates none of whose variables are updated keep their truth
//!   value. Only the others are undecided.
//! - D4: entailment by a predicate is not a precomputed table. The box of source states is
//!   tightened by the weakest precondition of each literal that the search commits to, and the
//!   literals left are evaluated over it; a partial state that no source state leads to is cut.
//! - D5: a target that is known already, by another operator, is not tested again: transitions
//!   are counted once per pair of states.
//! - D6: a label is passed over before line 2 if the box of s_𝒫 shows that no operator of it applies.
//! - D7: a source state in which the policy is known to choose the label answers all tests about
//!   regions that hold it.

use std::ops::Deref;
use std::sync::Arc;

use policert_engine_api::{Answer, Budget, EngineError};
use policert_model::{Condition, State, Truth};
use policert_symbolic::LabelGroup;

use crate::abstraction::Abstraction;
use crate::queries::Queries;
use crate::region::Region;

/// Holds what expansions work with.
#[derive(Debug)]
pub(crate) struct Expansion<'a, 's, 'q> {
    /// 𝒫 and 𝒪.
    pub abstraction: &'a Abstraction<'a>,
    /// The tests.
    pub queries: &'q mut Queries<'s>,
    pub budget: &'q mut Budget,
}

/// Source states in which the policy is known to choose a label.
#[derive(Default, Debug)]
pub(crate) struct Chosen(pub Vec<Arc<[i64]>>);

impl Chosen {
    /// One that belongs to a region.
    fn find(&self, region: &Region<'_>) -> Option<&Arc<[i64]>> {
        self.0.iter().find(|state| is_in(region, state))
    }

    /// Keeps the witness of a test; false if that refuted the label.
    fn learn(&mut self, answer: Answer<State>) -> bool {
        match answer {
            Answer::Refuted => false,
            Answer::Possible(witness) => {
                self.0.extend(witness.map(Arc::from));
                true
            }
        }
    }
}

/// Returns whether a state, with as many free choices as the region has, belongs to a region.
pub(crate) fn is_in(region: &Region<'_>, state: &[i64]) -> bool {
    region.sides.dimensions() == state.len()
        && region.sides.contains(state)
        && region.conditions.iter().all(|condition| condition.holds(state) == Ok(true))
}

impl<'a> Expansion<'a, '_, '_> {
    /// Lines 2 and 3: the operators of a label that may apply in some of the states; none if the
    /// policy chooses the label nowhere in them.
    ///
    /// # Errors
    /// A stop of the budget, or a construct that cannot be decided.
    pub fn selected(
        &mut self,
        states: &Region<'_>,
        group: &LabelGroup,
        chosen: &mut Chosen,
    ) -> Result<Vec<usize>, EngineError> {
        let Self { abstraction, queries, budget } = self;
        let mut possible = abstraction.possible(group, states);
        let Some(first) = possible.next() else { return Ok(Vec::new()) };
        if let Some(output) = group.output
            && chosen.0.is_empty()
            && (queries.is_select_pi_relaxed(states, output, budget)?.refuted() // l.2
                || !chosen.learn(queries.is_select_pi(states, output, budget)?))
        {
            return Ok(Vec::new()); // l.3
        }
        Ok(std::iter::once(first).chain(possible).collect())
    }

    /// Lines 5 to 7: the states in which operator number `o` applies, if the policy may choose it
    /// there.
    ///
    /// # Errors
    /// A stop of the budget, or a construct that cannot be decided.
    pub fn applicable<'c>(
        &mut self,
        states: &Region<'c>,
        (o, output): (usize, Option<usize>),
        chosen: &mut Chosen,
    ) -> Result<Option<Region<'c>>, EngineError>
    where
        'a: 'c,
    {
        let Self { abstraction, queries, budget } = self;
        budget.poll()?;
        let guard = &abstraction.operators.all()[o].guard;
        let applicable = states.restrict([guard]);
        if applicable.is_empty() || queries.is_app(&applicable, budget)?.refuted() {
            return Ok(None); // l.5
        }
        let is_possible = match output {
            Some(output) if chosen.find(&applicable).is_none() => {
                !queries.is_app_pi_relaxed(&applicable, output, budget)?.refuted() // l.6
                    && chosen.learn(queries.is_app_pi(&applicable, output, budget)?) // l.7
            }
            Some(_) | None => true,
        };
        Ok(is_possible.then_some(applicable))
    }

    /// The states, and free choices, in which outcome number `d` of operator number `o` exists; `None` if
    /// there are none.
    ///
    /// # Errors
    /// A stop of the budget, or an outcome that may contradict itself: unsupported.
    pub fn outcome<'c>(
        &mut self,
        (o, output): (usize, Option<usize>),
        d: usize,
        applicable: &Region<'c>,
    ) -> Result<Option<Region<'c>>, EngineError>
    where
        'a: 'c,
    {
        self.refuse_conflict((o, output), d, applicable)?;
        let valid = self.abstraction.valid_region(applicable, o, d);
        Ok((!valid.is_empty()).then_some(valid))
    }

    /// Refuses an outcome that assigns two values at once in a state of `applicable` in which the policy
    /// chooses it: the model is wrong there, whether or not the values are in the domain.
    ///
    /// # Errors
    /// Such a state, as unsupported; a stop of the budget.
    pub fn refuse_conflict(
        &mut self,
        (o, output): (usize, Option<usize>),
        d: usize,
        applicable: &Region<'_>,
    ) -> Result<(), EngineError> {
        let Self { abstraction: Abstraction { question, operators, .. }, queries, budget } = self;
        let operator = &operators.all()[o];
        let outcome = &operator.destinations[d];
        let conflict = &outcome.conflict;
        if conflict.condition == Condition::False {
            return Ok(());
        }
        let sides = outcome.choice_sides(&applicable.sides);
        let conflicting = applicable.extend(sides).restrict([&conflict.condition]);
        if !queries.is_inhabited(&conflicting, budget)? {
            return Ok(());
        }
        if let Some(output) = output
            && queries.is_chosen(&conflicting, output, budget)?.refuted()
        {
            return Ok(());
        }
        Err(EngineError::Unsupported(format!(
            "{} may assign two values at once to {}",
            question.model.display_operator(&operator.key),
            conflict.variables.join(", ")
        )))
    }

    /// Lines 12 to 14: whether the policy leads from some state of a region to a target; a source
    /// state where one is known.
    ///
    /// # Errors
    /// A stop of the budget, or a construct that cannot be decided.
    pub fn leads(
        &mut self,
        region: &Region<'_>,
        output: Option<usize>,
        chosen: &Chosen,
    ) -> Result<Answer<Arc<[i64]>>, EngineError> {
        if let Some(state) = chosen.find(region) {
            return Ok(Answer::Possible(Some(Arc::clone(state))));
        }
        let Self { queries, budget, .. } = self;
        let mut answer = queries.t_sat(region, output.is_none(), budget)?; // l.12
        if let Some(output) = output.filter(|_| !answer.refuted()) {
            answer = queries.t_sat_pi_relaxed(region, output, budget)?; // l.13
            if !answer.refuted() {
                answer = queries.t_sat_pi(region, output, budget)?; // l.14
            }
        }
        Ok(match answer {
            Answer::Refuted => Answer::Refuted,
            Answer::Possible(witness) => Answer::Possible(witness.map(Arc::from)),
        })
    }
}

/// The targets of an outcome in an abstract domain.
pub(crate) trait Targets {
    /// Abstract states that agree in the predicates decided so far.
    type Place: Clone;
    /// The weakest preconditions of a predicate's literals: that it is false, that it is true.
    type Literals: Deref<Target = [Condition; 2]>;

    /// Opens a place: the next predicate that tells its abstract states apart; `None` if it is a
    /// single one.
    ///
    /// # Errors
    /// A construct that the domain cannot take.
    fn open(&mut self, place: &Self::Place) -> Result<Option<Self::Literals>, EngineError>;

    /// The part of an opened place in which that predicate has a truth value.
    fn part(&mut self, place: Self::Place, value: bool) -> Self::Place;

    /// Returns whether to look for targets in a place to which states of `region` may lead.
    ///
    /// # Errors
    /// A stop of the budget, or a construct that cannot be decided.
    fn enters(&mut self, place: &Self::Place, region: &Region<'_>) -> Result<bool, EngineError>;

    /// Lines 12 to 15: the tests for an abstract state to which states of `region` may lead.
    ///
    /// # Errors
    /// As [`enters`](Self::enters).
    fn reach(&mut self, place: Self::Place, region: &Region<'_>) -> Result<(), EngineError>;
}

/// Lines 10 to 23: looks for the abstract states in a place that states of `region` lead to.
///
/// # Errors
/// A stop of the budget, or a construct that cannot be decided.
pub(crate) fn enumerate_states<T: Targets>(
    targets: &mut T,
    mut place: T::Place,
    region: &Region<'_>,
) -> Result<(), EngineError> {
    while let Some(literals) = targets.open(&place)? {
        // l.16
        let value = match literals[1].truth(&region.sides) {
            Truth::True => true,
            Truth::False => false,
            Truth::Maybe => {
                for value in [true, false] {
                    // l.17, l.18, l.21
                    let part = targets.part(place.clone(), value);
                    let states = region.restrict([&literals[usize::from(value)]]);
                    if targets.enters(&part, &states)? {
                        enumerate_states(targets, part, &states)?; // l.20, l.23
                    }
                }
                return Ok(());
            }
        };
        place = targets.part(place, value); // l.19, l.22
    }
    targets.reach(place, region) // l.11
}
