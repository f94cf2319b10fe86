//! The outcomes of operators seen through the predicates: which predicates each affects, with their
//! weakest preconditions.

use std::cell::OnceCell;

use policert_model::{Condition, Destination, Model, Operator, Truth, UpdateValue, VarId};

use crate::{PredId, PredicateSet};

/// The effects of all outcomes, each prepared at first use.
#[derive(Debug)]
pub struct Effects(Vec<Vec<OnceCell<PredicateEffect>>>);

/// Says what an outcome does to the predicates.
#[derive(Debug)]
pub struct PredicateEffect {
    /// The conditions that must hold before, and of the choices, that the outcome exists and stays
    /// inside all domains.
    pub validity: Vec<Condition>,
    /// The locations that it sets: position in the layout, new value.
    pub locations: Vec<(usize, i64)>,
    /// The predicates whose variables it updates.
    pub affected: Vec<Affected>,
}

/// A predicate whose variables an outcome updates.
#[derive(Debug)]
pub struct Affected {
    pub predicate: PredId,
    /// Weakest preconditions of its literals: that it is false, that it is true.
    pub literals: [Condition; 2],
}

impl Effects {
    /// None of them is prepared yet.
    #[must_use]
    pub fn new(operators: &[Operator]) -> Self {
        let cells =
            |operator: &Operator| operator.destinations.iter().map(|_| OnceCell::new()).collect();
        Self(operators.iter().map(cells).collect())
    }

    /// The effect of outcome number `d` of operator number `o`, which is `destination`.
    #[must_use]
    pub fn of(
        &self,
        (o, d): (usize, usize),
        destination: &Destination,
        model: &Model,
        predicates: &PredicateSet,
    ) -> &PredicateEffect {
        self.0[o][d].get_or_init(|| PredicateEffect::new(model, predicates, destination))
    }
}

impl PredicateEffect {
    fn new(model: &Model, predicates: &PredicateSet, destination: &Destination) -> Self {
        let mut validity = destination.exists(&model.variables).conjuncts().to_vec();
        if destination.choices.is_empty() {
            validity.retain(|c| c.truth(predicates.domains()) != Truth::True);
        }
        let layout = predicates.layout();
        let locations = layout
            .locations()
            .iter()
            .enumerate()
            .filter_map(|(k, &location)| match destination.update(location)? {
                UpdateValue::Linear(value) if value.terms.is_empty() => Some((k, value.constant)),
                _ => None,
            })
            .collect();
        let updated = |v: VarId| destination.update(v).is_some();
        let affected = predicates
            .ids()
            .filter(|&p| {
                let mut is_affected = false;
                predicates.literal(p, true).for_each_var(&mut |v| is_affected |= updated(v));
                is_affected
            })
            .map(|predicate| Affected {
                predicate,
                literals: [false, true].map(|value| {
                    destination.weakest_precondition(predicates.literal(predicate, value))
                }),
            })
            .collect();
        Self { validity, locations, affected }
    }
}
