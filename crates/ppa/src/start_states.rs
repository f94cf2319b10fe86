//! Abstract start states S₀|𝒫, by the same backtracking search as the targets of an expansion
//! (PPA 2022, Section 7).

use std::collections::BTreeMap;

use policert_engine_api::{Budget, EngineError, StartStates};
use policert_model::{Conjunction, Truth};
use policert_numeric::{IntBox, IntInterval};

use crate::abstraction::Abstraction;
use crate::inhabited::Inhabited;
use crate::queries::Queries;
use crate::{AbstractState, AbstractStateTable, PredId, PredicateSet};

/// The abstract start states.
///
/// # Errors
/// A stop of the budget, or a construct that cannot be decided.
pub fn abstract_start_states(
    abstraction: &Abstraction<'_>,
    queries: &mut Queries<'_>,
    budget: &mut Budget,
) -> Result<AbstractStateTable, EngineError> {
    let (question, predicates) = (abstraction.question, &abstraction.predicates);
    let mut found = AbstractStateTable::default();
    for source in question.start_states() {
        match source {
            StartStates::List(states) => {
                for state in states {
                    budget.poll()?;
                    abstraction.require_in_domains(state)?;
                    found.intern(&predicates.project(state));
                }
            }
            StartStates::Region(condition, sides) => {
                let mut search = StartSearch { predicates, queries, budget, found: &mut found };
                search.locations(Conjunction::from(&condition), sides, 0)?;
            }
        }
    }
    Ok(found)
}

struct StartSearch<'s, 'a> {
    predicates: &'s PredicateSet,
    queries: &'s mut Queries<'a>,
    budget: &'s mut Budget,
    found: &'s mut AbstractStateTable,
}

/// Start states on the way to an abstract one.
struct Partial {
    found: AbstractState,
    open: Vec<PredId>,
    states: Inhabited,
}

impl StartSearch<'_, '_> {
    /// Fixes the locations one by one, then goes on to the predicates.
    fn locations(
        &mut self,
        mut condition: Conjunction,
        mut sides: IntBox,
        k: usize,
    ) -> Result<(), EngineError> {
        if !condition.narrow(&mut sides) {
            return Ok(());
        }
        let Some(&location) = self.predicates.layout().locations().get(k) else {
            let found = self.predicates.layout().blank();
            let open = self.by_variable();
            let states = Inhabited { sides, condition, witness: None };
            return self.predicates(Partial { found, open, states });
        };
        let side = sides[location.index()];
        for value in side.lo..=side.hi {
            let mut part = sides.clone();
            part[location.index()] = IntInterval::point(value);
            self.locations(condition.clone(), part, k + 1)?;
        }
        Ok(())
    }

    /// The predicates in the order in which they are told apart, last first: those about one
    /// variable stand together, and variables that many predicates are about come first, since
    /// their values tell most about the others.
    fn by_variable(&self) -> Vec<PredId> {
        let variable = |p: PredId| {
            let mut first = usize::MAX;
            self.predicates.literal(p, true).for_each_var(&mut |v| first = first.min(v.index()));
            first
        };
        let mut about: BTreeMap<usize, usize> = BTreeMap::new();
        for p in self.predicates.ids() {
            *about.entry(variable(p)).or_default() += 1;
        }
        let mut open: Vec<PredId> = self.predicates.ids().collect();
        open.sort_by_key(|&p| (about[&variable(p)], variable(p)));
        open
    }

    fn predicates(&mut self, mut partial: Partial) -> Result<(), EngineError> {
        self.budget.poll()?;
        if !self.narrow(&mut partial)? {
            return Ok(());
        }
        let Some(p) = partial.open.pop() else {
            let layout = self.predicates.layout();
            for (k, location) in layout.locations().iter().enumerate() {
                layout.set_location(
                    &mut partial.found,
                    k,
                    partial.states.sides[location.index()].lo,
                );
            }
            self.found.intern(&partial.found);
            return Ok(());
        };
        for value in [true, false] {
            let literal = self.predicates.literal(p, value);
            let mut found = partial.found.clone();
            found.set(p, value);
            let (open, states) = (partial.open.clone(), partial.states.with(literal));
            self.predicates(Partial { found, open, states })?;
        }
        Ok(())
    }

    /// Draws the consequences of what is decided; false if no start state is left.
    fn narrow(&mut self, partial: &mut Partial) -> Result<bool, EngineError> {
        if !partial.states.narrow(self.queries, self.budget)? {
            return Ok(false);
        }
        let (found, sides) = (&mut partial.found, &partial.states.sides);
        let predicates = self.predicates;
        partial.open.retain(|&p| match predicates.literal(p, true).truth(sides) {
            Truth::True => {
                found.set(p, true);
                false
            }
            Truth::False => {
                found.set(p, false);
                false
            }
            Truth::Maybe => true,
        });
        Ok(true)
    }
}
