//! Abstract state expansion (PPA 2022, Algorithm 1).
//!
//! Input: an abstract state s_𝒫. Output: its transitions in Θ^π_𝒫.
//!
//! | paper | here |
//! |---|---|
//! | s_𝒫, s'_𝒫 | `source`, `target` |
//! | dom(s'_𝒫) ≠ 𝒫 | `undecided` is not empty |
//! | entailment_by(s_𝒫, o) | [`Expansion::entailment_by_operator`] |
//! | entailment_by(p, b) | [`Expansion::entailment_by_predicate`] |
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

use policert_engine_api::{Budget, EngineError};
use policert_model::{Condition, Truth};
use policert_symbolic::LabelGroup;

use crate::AbstractState;
use crate::abstraction::Abstraction;
use crate::effects::{Affected, PredicateEffect};
use crate::queries::Queries;
use crate::region::Region;

/// Receives the transitions of a state.
pub trait Transitions {
    /// Returns whether the transition to `target` is known already.
    fn is_known(&self, target: &AbstractState) -> bool;
    /// A transition to `target`, by outcome `destination` of operator number `operator`.
    fn add(&mut self, target: &AbstractState, operator: usize, destination: usize);
}

/// Holds what the expansion of one state works with.
#[derive(Debug)]
pub struct Expansion<'a, 's, 'q> {
    /// 𝒫 and 𝒪.
    pub abstraction: &'a Abstraction<'a>,
    /// The tests.
    pub queries: &'q mut Queries<'s>,
    pub budget: &'q mut Budget,
    /// Number of outcomes seen that may leave a domain: such an outcome is no transition.
    pub may_drop: u64,
}

/// Holds what the enumeration of targets works on.
struct Enumeration<'a, 't> {
    operator: usize,
    destination: usize,
    output: Option<usize>,
    transitions: &'t mut dyn Transitions,
    undecided: Vec<&'a Affected>,
}

impl<'a> Expansion<'a, '_, '_> {
    /// Algorithm 1: adds all transitions of `source`.
    ///
    /// # Errors
    /// A stop of the budget (the state must be expanded again from scratch), or a construct
    /// that cannot be decided.
    pub fn expand(
        &mut self,
        source: &AbstractState,
        transitions: &mut dyn Transitions,
    ) -> Result<(), EngineError> {
        let abstraction = self.abstraction;
        let states = abstraction.predicates.concretisation(source);
        let states = states.restrict([abstraction.not_terminal()]);
        if states.is_empty() {
            return Ok(());
        }
        self.queries.enter(&states);
        for group in abstraction.operators.groups() {
            // l.1
            if abstraction.is_idle(group, &states) {
                continue;
            }
            if let Some(output) = group.output
                && self.queries.selects(&states, output, self.budget)?.refuted()
            {
                continue; // l.2, l.3
            }
            self.expand_label(source, &states, group, transitions)?;
        }
        Ok(())
    }

    /// Lines 4 to 9 for the operators of one label.
    fn expand_label(
        &mut self,
        source: &AbstractState,
        states: &Region<'a>,
        group: &'a LabelGroup,
        transitions: &mut dyn Transitions,
    ) -> Result<(), EngineError> {
        let abstraction = self.abstraction;
        for &o in &group.operators {
            // l.4
            let operator = &abstraction.operators.all()[o];
            let Some(applicable) = self.queries.applicable(states, operator, self.budget)? else {
                continue; // l.5
            };
            if let Some(output) = group.output
                && self.queries.selects_applicable(&applicable, output, self.budget)?.refuted()
            {
                continue; // l.6, l.7
            }
            for d in 0..operator.destinations.len() {
                self.queries.refuse_conflict(
                    abstraction.question.model,
                    (operator, d),
                    &applicable,
                    group.output,
                    self.budget,
                )?;
                self.may_drop += u64::from(abstraction.may_drop(&applicable, o, d));
                let valid = abstraction.valid_region(&applicable, o, d);
                if valid.is_empty() {
                    continue;
                }
                let mut target = source.clone();
                let undecided =
                    self.entailment_by_operator(&mut target, &valid, abstraction.effect(o, d))?; // l.8
                let mut enumeration = Enumeration {
                    operator: o,
                    destination: d,
                    output: group.output,
                    transitions: &mut *transitions,
                    undecided,
                };
                self.enumerate_states(&mut enumeration, target, &valid, 0)?; // l.9
            }
        }
        Ok(())
    }

    /// Sets in `target` what the operator entails, and returns the predicates left open (l.8).
    fn entailment_by_operator(
        &mut self,
        target: &mut AbstractState,
        states: &Region<'a>,
        effect: &'a PredicateEffect,
    ) -> Result<Vec<&'a Affected>, EngineError> {
        for &(k, location) in &effect.locations {
            self.abstraction.predicates.layout().set_location(target, k, location);
        }
        let mut open = Vec::new();
        for affected in &effect.affected {
            match affected.literals[1].truth(&states.sides) {
                Truth::True => target.set(affected.predicate, true),
                Truth::False => target.set(affected.predicate, false),
                Truth::Maybe => open.push(affected),
            }
        }
        // Each predicate left open doubles the work below, so ask exactly where boxes are not
        // exact.
        let exact = open.len() > 1 && !states.is_box()
            || open.iter().filter(|a| !is_bound(&a.literals[1])).count() > 1;
        if !exact {
            return Ok(open);
        }
        let mut left = Vec::with_capacity(open.len());
        for affected in open {
            let mut possible = [false; 2];
            for value in [false, true] {
                let region = states.restrict([&affected.literals[usize::from(value)]]);
                possible[usize::from(value)] = self.queries.is_inhabited(&region, self.budget)?;
            }
            match possible {
                [true, true] => left.push(affected),
                [_, value] => target.set(affected.predicate, value),
            }
        }
        Ok(left)
    }

    /// Lines 10 to 23. `decided` counts the predicates of `enumeration.undecided` that are set
    /// in `target`; `states` are the source states that lead to what is set so far.
    fn enumerate_states(
        &mut self,
        enumeration: &mut Enumeration<'a, '_>,
        mut target: AbstractState,
        states: &Region<'a>,
        mut decided: usize,
    ) -> Result<(), EngineError> {
        self.budget.poll()?;
        decided = Self::entailment_by_predicate(enumeration, &mut target, states, decided); // l.19, l.22
        let Some(&p) = enumeration.undecided.get(decided) else {
            return self.test_transition(enumeration, &target, states); // l.11
        };
        for value in [true, false] {
            // l.17, l.18, l.21
            let part = states.restrict([&p.literals[usize::from(value)]]);
            if part.is_empty() {
                continue;
            }
            if decided + 1 < enumeration.undecided.len()
                && !self.queries.is_inhabited(&part, self.budget)?
            {
                continue;
            }
            let mut next = target.clone();
            next.set(p.predicate, value);
            let order = enumeration.undecided.clone();
            self.enumerate_states(enumeration, next, &part, decided + 1)?; // l.20, l.23
            enumeration.undecided = order;
        }
        Ok(())
    }

    /// Sets the open predicates that the source states decide, moving them to the front of the
    /// open ones; returns the new number of decided ones.
    fn entailment_by_predicate(
        enumeration: &mut Enumeration<'a, '_>,
        target: &mut AbstractState,
        states: &Region<'a>,
        mut decided: usize,
    ) -> usize {
        let first = decided;
        for i in first..enumeration.undecided.len() {
            let affected = enumeration.undecided[i];
            let value = match affected.literals[1].truth(&states.sides) {
                Truth::True => true,
                Truth::False => false,
                Truth::Maybe => continue,
            };
            target.set(affected.predicate, value);
            enumeration.undecided.swap(decided, i);
            decided += 1;
        }
        decided
    }

    /// Lines 12 to 15: the transition tests on a complete target.
    fn test_transition(
        &mut self,
        enumeration: &mut Enumeration<'a, '_>,
        target: &AbstractState,
        states: &Region<'a>,
    ) -> Result<(), EngineError> {
        if enumeration.transitions.is_known(target) {
            return Ok(());
        }
        if self.queries.leads(states, enumeration.output, self.budget)?.refuted() {
            return Ok(()); // l.12, l.13, l.14
        }
        enumeration.transitions.add(target, enumeration.operator, enumeration.destination); // l.15
        Ok(())
    }
}

/// Returns whether a literal bounds a single variable: then boxes are exact.
fn is_bound(literal: &Condition) -> bool {
    matches!(literal, Condition::Linear(c) if c.terms.len() == 1)
}
