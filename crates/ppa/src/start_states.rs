//! Abstract start states S₀|𝒫, by the same backtracking search as the targets of an expansion
//! (PPA 2022, Section 7).

use std::collections::BTreeSet;

use policert_engine_api::{Budget, EngineError, Question, StartStates};
use policert_model::{Condition, Truth};
use policert_numeric::{IntBox, IntInterval};

use crate::queries::Queries;
use crate::region::Region;
use crate::{AbstractState, PredId, PredicateSet};

/// The abstract start states, sorted.
///
/// # Errors
/// A stop of the budget, or a construct that cannot be decided.
pub fn abstract_start_states<'a>(
    question: &Question<'a>,
    predicates: &PredicateSet,
    queries: &mut Queries<'a>,
    budget: &mut Budget,
) -> Result<BTreeSet<AbstractState>, EngineError> {
    let mut found = BTreeSet::new();
    for source in question.start_states() {
        match source {
            StartStates::List(states) => {
                for state in states {
                    budget.poll()?;
                    if predicates.domains().contains(state) {
                        found.insert(predicates.project(state));
                    }
                }
            }
            StartStates::Region(condition, sides) => {
                let parts: Vec<Condition> = condition.conjuncts().to_vec();
                let mut search =
                    StartSearch { predicates, queries, budget, found: &mut found };
                search.enumerate(&parts, &sides)?;
            }
        }
    }
    Ok(found)
}

struct StartSearch<'s, 'a> {
    predicates: &'s PredicateSet,
    queries: &'s mut Queries<'a>,
    budget: &'s mut Budget,
    found: &'s mut BTreeSet<AbstractState>,
}

impl StartSearch<'_, '_> {
    fn enumerate(&mut self, condition: &[Condition], sides: &IntBox) -> Result<(), EngineError> {
        let states = Region::new(sides.clone(), condition);
        if states.is_empty() || condition.contains(&Condition::False) {
            return Ok(());
        }
        self.locations(&states, 0)
    }

    /// Fixes the locations one by one, then goes on to the predicates.
    fn locations(&mut self, states: &Region<'_>, k: usize) -> Result<(), EngineError> {
        let Some(&location) = self.predicates.layout().locations().get(k) else {
            let open: Vec<PredId> = self.predicates.ids().collect();
            let blank = self.predicates.layout().blank();
            return self.predicates(states, blank, &open);
        };
        let side = states.sides[location.index()];
        for value in side.lo..=side.hi {
            let mut part = states.clone();
            part.sides[location.index()] = IntInterval::point(value);
            let part = Region::new(part.sides, part.conditions);
            if !part.is_empty() {
                self.locations(&part, k + 1)?;
            }
        }
        Ok(())
    }

    fn predicates(
        &mut self,
        states: &Region<'_>,
        mut found: AbstractState,
        open: &[PredId],
    ) -> Result<(), EngineError> {
        self.budget.poll()?;
        let mut left = Vec::with_capacity(open.len());
        for &p in open {
            match self.predicates.literal(p, true).truth(&states.sides) {
                Truth::True => found.set(p, true),
                Truth::False => found.set(p, false),
                Truth::Maybe => left.push(p),
            }
        }
        if !self.queries.is_inhabited(states, self.budget)? {
            return Ok(());
        }
        let Some((&p, rest)) = left.split_first() else {
            for (k, location) in self.predicates.layout().locations().iter().enumerate() {
                let value = states.sides[location.index()].lo;
                self.predicates.layout().set_location(&mut found, k, value);
            }
            self.found.insert(found);
            return Ok(());
        };
        for value in [true, false] {
            let part = states.restrict([self.predicates.literal(p, value)]);
            if part.is_empty() {
                continue;
            }
            let mut next = found.clone();
            next.set(p, value);
            self.predicates(&part, next, rest)?;
        }
        Ok(())
    }
}
