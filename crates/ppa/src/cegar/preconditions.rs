//! Weakest preconditions of the predicates of a tree under one outcome, as far as they were needed.

use std::sync::Arc;

use policert_model::{Condition, Destination};

use super::cell::Literals;
use super::predicate_id::PredicateId;
use super::state_tree::StateTree;

/// By predicate: its literals before the outcome.
#[derive(Debug, Default)]
pub(crate) struct Preconditions(Vec<Option<Literals>>);

impl Preconditions {
    /// The literals of a predicate before the outcome; those that it does not touch are the predicate's
    /// own. `placed` moves the conditions of the others to where the free choices are.
    pub fn of(
        &mut self,
        tree: &StateTree,
        destination: &Destination,
        predicate: PredicateId,
        placed: impl Fn(Condition) -> Condition,
    ) -> Literals {
        if self.0.len() <= predicate.index() {
            self.0.resize(predicate.index() + 1, None);
        }
        let literals = self.0[predicate.index()].get_or_insert_with(|| {
            let literals = tree.literals(predicate);
            if literals[1].variables().iter().all(|&v| destination.update(v).is_none()) {
                return literals;
            }
            Arc::new([0, 1].map(|value| placed(destination.weakest_precondition(&literals[value]))))
        });
        Arc::clone(literals)
    }
}
