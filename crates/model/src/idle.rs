//! Parts of a model that can take no part in any run, whatever the policy does: what makes a verdict
//! *safe* say little.

use std::ops::ControlFlow;

use crate::{Composer, Condition, InstanceId, LabelId, Model, Start, find_point};

/// The question whether some state satisfies a condition, as far as it was decided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Satisfiable {
    /// There is such a state.
    Yes,
    /// There is none.
    No,
    /// It was not decided: the search was stopped, or a variable is unbounded.
    Unknown,
}

impl Model {
    /// The actions of instances whose edges no operator takes: no vector names the action, or each
    /// vector that does joins it with an action that no edge of the other instance has. In the order
    /// of the instances, then of the labels.
    #[must_use]
    pub fn never_synchronised(&self) -> Vec<(InstanceId, LabelId)> {
        let mut never = Vec::new();
        for (i, instance) in self.instances.iter().enumerate() {
            let id = InstanceId::new(i);
            let mut actions: Vec<LabelId> =
                instance.edges.iter().filter_map(|e| e.action).collect();
            actions.sort_unstable();
            actions.dedup();
            actions.retain(|&action| {
                let mut vectors =
                    self.vectors.iter().filter(|v| v.participants.contains(&(id, action)));
                !vectors.any(|vector| self.vector_operators(vector) > 0)
            });
            never.extend(actions.into_iter().map(|action| (id, action)));
        }
        never
    }

    /// The labels that vectors give to joint transitions, and that no operator carries.
    #[must_use]
    pub fn labels_without_operator(&self) -> Vec<LabelId> {
        let carried = self.operator_labels();
        let mut labels: Vec<LabelId> = self.vectors.iter().filter_map(|v| v.result).collect();
        labels.sort_unstable();
        labels.dedup();
        labels.retain(|label| carried.binary_search(label).is_err());
        labels
    }

    /// The labels of which every operator has a guard that no state of the domains satisfies.
    /// `step` is called for each operator and at each step of each search, and may stop all with
    /// `Break`: labels that were not decided until then are left out.
    pub fn labels_never_applicable(
        &self,
        step: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Vec<LabelId> {
        let mut never = self.operator_labels();
        for key in self.operator_keys() {
            if never.is_empty() || step().is_break() {
                return Vec::new();
            }
            let label = key.vector.and_then(|v| self.vectors[v as usize].result);
            let Some(at) = label.and_then(|label| never.binary_search(&label).ok()) else {
                continue;
            };
            let mut composer = Composer::new(self);
            let guard = composer.compose(&key).map(|id| composer.operator(id).guard.clone());
            let possible = guard.map(|guard| self.satisfiable(&guard, step));
            match possible {
                Ok(Satisfiable::No) => {}
                Ok(Satisfiable::Yes | Satisfiable::Unknown) | Err(_) => {
                    never.remove(at);
                }
            }
        }
        never
    }

    /// Returns whether some state of the domains satisfies a condition.
    pub fn satisfiable(
        &self,
        condition: &Condition,
        step: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Satisfiable {
        decided(find_point(condition.into(), &self.domains(), &mut || step()))
    }

    /// Returns whether there is a start state: one of a property's, or of the model's own initial
    /// states where `initial_states` or the property names none.
    pub fn has_start_state(
        &self,
        start: Option<&Start>,
        initial_states: bool,
        step: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Satisfiable {
        let named = match start {
            None => Satisfiable::No,
            Some(Start::States(states)) if states.is_empty() => Satisfiable::No,
            Some(Start::States(_)) => Satisfiable::Yes,
            Some(Start::Condition(condition)) => self.satisfiable(condition, step),
        };
        if named == Satisfiable::Yes || (start.is_some() && !initial_states) {
            return named;
        }
        let (condition, sides) = self.initial_states();
        match decided(find_point((&condition).into(), &sides, &mut || step())) {
            Satisfiable::No => named,
            other => other,
        }
    }
}

fn decided<E>(found: Result<ControlFlow<(), Option<Vec<i64>>>, E>) -> Satisfiable {
    match found {
        Ok(ControlFlow::Continue(Some(_))) => Satisfiable::Yes,
        Ok(ControlFlow::Continue(None)) => Satisfiable::No,
        Ok(ControlFlow::Break(())) | Err(_) => Satisfiable::Unknown,
    }
}
